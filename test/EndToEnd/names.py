# ===- names.py - Models whose names are ours ----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains one model under random names for its parameters, inputs and metrics.

The names are drawn from a pool that holds the symbols, slots and metrics of the
compiler and what it derives from names. Under any of them the model must be the
one with plain names: the same losses, norms and metrics to the last bit, each
value fetched by the user's name, and the interpreter's the same up to rounding.

    python names.py --llmc llmc --corpus corpus.bin --seeds 1 2 3 -o out
"""

import argparse
import ast
import json
import pathlib
import random
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WORDS = (HERE.parents[1] / "lib" / "Runtime" / "Base" / "Names.cpp").read_text(encoding="utf-8")
OURS = re.findall(r'"(\w+)"', WORDS[WORDS.index("words = {") : WORDS.index("};")])
DERIVED = ["w.m", "w.v", "w.0", "w.local", "grad.w", "metric.loss", "input.x", "C", "K", "c0", "t0", "tmp", "input0", "act0"]
DERIVED += ["loss_sum", "metric_sum.w", "train.microbatch", "train.c0.F", "evaluate.function", "optimizer.adamw", "main", "state.w"]
ODD = ["t$", "loss$$", "a/../b", "two words", "é", "100", "x.y"]

# Parameters a (8x6), b (6), s (scalar), inputs x and y; the loss, and two scalars beside it.
MODEL = """
module @names {
  func.func public @main(%a: tensor<8x6xf32> loc("p['@a']"), %b: tensor<6xf32> loc("p['@b']"), %s: tensor<f32> loc("p['@s']"), %x: tensor<8x8xi32> loc("@x"), %y: tensor<8x6xi32> loc("@y"))
      -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]['@m']"}, tensor<i32> {jax.result_info = "result[1]['@n']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %count = stablehlo.constant dense<8.0> : tensor<f32>
    %size = stablehlo.constant dense<256.0> : tensor<8x8xf32>
    %size2 = stablehlo.constant dense<256.0> : tensor<8x6xf32>
    %0 = stablehlo.convert %x : (tensor<8x8xi32>) -> tensor<8x8xf32>
    %1 = stablehlo.divide %0, %size : tensor<8x8xf32>
    %2 = stablehlo.convert %y : (tensor<8x6xi32>) -> tensor<8x6xf32>
    %3 = stablehlo.divide %2, %size2 : tensor<8x6xf32>
    %4 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %5 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x6xf32>
    %7 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<8x6xf32>
    %9 = stablehlo.subtract %8, %3 : tensor<8x6xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<8x6xf32>
    %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
    %12 = stablehlo.divide %11, %count : tensor<f32>
    %13 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
    %14 = stablehlo.reduce(%y init: %none) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x6xi32>, tensor<i32>) -> tensor<i32>
    return %12, %13, %14 : tensor<f32>, tensor<f32>, tensor<i32>
  }
}
"""
# A row for all that have two dimensions, and one for the rest: of rank 1 and 0.
STRATEGY = """
[mesh]
axes = ["data", "tensor"]
[data]
file = {corpus}
dtype = "u8"
[data.inputs]
{x} = 0
{y} = 1
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
rest = [["data"], ["tensor"]]
use = [[], ["tensor"]]
[[layout]]
match = "*"
rest = [["tensor"]]
[optimizer]
lr = 1e-2
[training]
microbatches = 2
max_norm = 1.0
"""
PLAIN = {"a": "w", "b": "bias", "s": "scale", "x": "in", "y": "out", "m": "sum", "n": "most"}


def draw(seed):
    """Names for all places. Parameters are told apart, inputs and metrics too; one kind may repeat another's."""
    dice = random.Random(seed)
    pool = OURS * 2 + DERIVED + ODD
    names = {}
    for kind in ("abs", "xy", "mn"):
        # `w` itself is there, so that what is derived from it meets a name of the user's.
        chosen = dice.sample(sorted(set(pool)), len(kind) + 2)
        chosen = [n for n in chosen if kind == "abs" or not set(n) & set("./")][: len(kind)] or ["t", "loss"]
        if kind == "abs" and dice.random() < 0.5:
            chosen[0], chosen[1] = "w", dice.choice([n for n in DERIVED if n.startswith("w.") and n != chosen[2]])
            # The moments of grad.w are named as the gradients of w.m and w.v.
            chosen[2] = "scale" if chosen[2] in ("w", "grad.w") else chosen[2]
        if kind == "xy" and dice.random() < 0.5 and not set(names["b"]) & set("./"):
            chosen = [names["b"], "targets"]
        chosen += ["spare" + k for k in kind[len(chosen) :]]
        # A result of a state's name and type replaces it, and is no metric.
        if kind == "mn" and chosen[0] == names["s"]:
            chosen[0] = "sparem"
        names.update(zip(kind, chosen))
    return names


def write_weights(path, names):
    dice = random.Random(7)
    header, data = {}, b""
    for place, shape in (("a", [8, 6]), ("b", [6]), ("s", [])):
        count = 1
        for size in shape:
            count *= size
        values = struct.pack(f"<{count}f", *(dice.gauss(0, 0.5) for _ in range(count)))
        header[names[place]] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_npy(path):
    data = path.read_bytes()
    end = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:end].decode().strip())
    return header["shape"], header["descr"], data[end:]


class Runner:
    def __init__(self, arguments):
        self.llmc, self.corpus, self.out = arguments.llmc, arguments.corpus, arguments.out

    def write(self, folder, names):
        folder.mkdir(parents=True, exist_ok=True)
        text = MODEL
        for place, name in names.items():
            text = text.replace(f"'@{place}'", f"'{name}'").replace(f'"@{place}"', f'"{name}"')
        (folder / "model.mlir").write_text(text, encoding="utf-8")
        keys = {place: json.dumps(names[place], ensure_ascii=False) for place in "xy"}
        strategy = STRATEGY.format(corpus=json.dumps(str(self.corpus)), **keys)
        (folder / "strategy.toml").write_text(strategy, encoding="utf-8")
        write_weights(folder / "weights.safetensors", names)

    def run(self, folder, command, names, *flags):
        """Losses, norms and metrics of each step by place, and what was fetched."""
        fetch = [names["a"], names["b"], names["s"], names["a"] + ".m", "grad." + names["b"]]
        dump = folder / command
        words = [self.llmc, command, folder / "model.mlir", "--config", folder / "strategy.toml"]
        words += ["--weights", folder / "weights.safetensors", "--steps", "3", "--log", folder / "log.jsonl"]
        words += ["--fetch", ",".join(fetch), "--dump", dump, *flags]
        subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
        steps = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        metrics = [[s["loss"], s["grad_norm"], s["lr"], s["metrics"][names["m"]], s["metrics"][names["n"]]] for s in steps]
        return metrics, [read_npy(dump / (name.replace("/", "_") + ".npy")) for name in fetch]


def are_near(found, wanted):
    return all(abs(a - b) <= 1e-4 * max(1, abs(b)) for x, y in zip(found, wanted) for a, b in zip(x, y))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--corpus", type=pathlib.Path, required=True)
    p.add_argument("--seeds", type=int, nargs="+", required=True)
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    a = p.parse_args()
    runner, meshes, failed = Runner(a), [[], ["--mesh", "data=2,tensor=2"]], 0
    runner.write(a.out / "plain", PLAIN)
    wanted = [runner.run(a.out / "plain", "train", PLAIN, *mesh) for mesh in meshes]
    for seed in a.seeds:
        names, folder = draw(seed), a.out / str(seed)
        runner.write(folder, names)
        mesh = seed % 2
        try:
            found = runner.run(folder, "train", names, *meshes[mesh])
            # A moment of a name that the user has too gives way: its name is another.
            faults = [] if found[0] == wanted[mesh][0] else [f"expected {wanted[mesh][0]}, got {found[0]}"]
            taken = names["a"] + ".m" in names.values()
            for i, (x, y) in enumerate(zip(found[1], wanted[mesh][1])):
                if x != y and not (taken and i == 3):
                    faults.append(f"fetched value {i} differs")
            if seed % 3 == 0:
                steps = runner.run(folder, "interpret", names)[0]
                faults += [] if are_near(steps, found[0]) else [f"interpreted: {steps}, run: {found[0]}"]
        except (subprocess.CalledProcessError, KeyError, FileNotFoundError) as error:
            faults = [repr(error)]
        failed += bool(faults)
        print(f"{'FAILED' if faults else 'ok'}  {seed}: {names} {' '.join(faults)[:400]}", flush=True)
    print(f"{len(a.seeds)} models, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
