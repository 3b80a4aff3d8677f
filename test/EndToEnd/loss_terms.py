#!/usr/bin/env python3
# ===- loss_terms.py - Random losses of several means ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses that are sums of means, drawn at random: several microbatches train as one batch.

    loss_terms.py --llmc llmc --out FOLDER [--first SEED] [--count N] [--rows N] [--interpret] [--meshes "data=2; pipe=2"]

For each seed one loss is drawn: a linear combination of means with constant
divisors, masked means with counts of the data in the forms that users write
(bounded, shifted, chosen by a comparison, as weights of the samples), terms of
parameters alone, constants. Its text is written for a batch of N x m samples,
and for N samples and m microbatches; both draw the same samples. Losses, norms
and parameters of both after two steps of gradient descent must agree to 1e-12
in f64, on one device and on each mesh, by the executor and by the interpreter.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

TOKENS, WIDTH, TERMS, CLASSES = 6, 4, 5, 16
TOLERANCE = 1e-12


class Text:
    """One loss over `rows` samples; equal seeds give equal losses."""

    def __init__(self, seed, rows):
        self.random = random.Random(seed)
        self.rows, self.lines, self.next = rows, [], 0
        self.shape = f"{rows}x{TOKENS}"
        self.forms = []

    def line(self, text):
        self.next += 1
        self.lines.append(f"    %v{self.next} = {text}")
        return f"%v{self.next}"

    def constant(self, value, shape=""):
        kind = f"{shape}xf32" if shape else "f32"
        return self.line(f"stablehlo.constant dense<{float(value)!r}> : tensor<{kind}>")

    def binary(self, op, x, y, shape=""):
        kind = f"{shape}xf32" if shape else "f32"
        return self.line(f"stablehlo.{op} {x}, {y} : tensor<{kind}>")

    def scale(self, x, factor):
        return self.binary("multiply", x, self.constant(factor))

    def spread(self, x, shape):
        return self.line(f"stablehlo.broadcast_in_dim {x}, dims = [] : (tensor<f32>) -> tensor<{shape}xf32>")

    def reduce(self, x, shape, dims, to="", kind="f32"):
        zero = self.line(f"stablehlo.constant dense<{'0.0' if kind == 'f32' else '0'}> : tensor<{kind}>")
        result = f"{to}x{kind}" if to else kind
        return self.line(f"stablehlo.reduce({x} init: {zero}) applies stablehlo.add across dimensions = {dims} : "
                         f"(tensor<{shape}x{kind}>, tensor<{kind}>) -> tensor<{result}>")

    def sum(self, x):
        if self.random.random() < 0.7:
            return self.reduce(x, self.shape, [0, 1])
        inner = self.reduce(x, self.shape, [1], f"{self.rows}")
        return self.reduce(inner, f"{self.rows}", [0])

    def model(self):
        """One value for each token and term."""
        wide = f"{self.shape}x{WIDTH}"
        index = self.line(f"stablehlo.reshape %x : (tensor<{self.shape}xi32>) -> tensor<{self.shape}x1xi32>")
        h = self.line(f'"stablehlo.gather"(%E, {index}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [2], '
                      "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = "
                      f"array<i64: 1, {WIDTH}>}}> : (tensor<{CLASSES}x{WIDTH}xf32>, tensor<{self.shape}x1xi32>) -> "
                      f"tensor<{wide}xf32>")
        for name in ("A", "B"):
            h = self.line(f"stablehlo.dot_general {h}, %{name}, contracting_dims = [2] x [0] : (tensor<{wide}xf32>, "
                          f"tensor<{WIDTH}x{WIDTH}xf32>) -> tensor<{wide}xf32>")
            h = self.line(f"stablehlo.tanh {h} : tensor<{wide}xf32>")
        out = f"{self.shape}x{TERMS}"
        h = self.line(f"stablehlo.dot_general {h}, %C, contracting_dims = [2] x [0] : (tensor<{wide}xf32>, "
                      f"tensor<{WIDTH}x{TERMS}xf32>) -> tensor<{out}xf32>")
        self.values = []
        for k in range(TERMS):
            part = self.line(f"stablehlo.slice {h} [0:{self.rows}, 0:{TOKENS}, {k}:{k + 1}] : "
                             f"(tensor<{out}xf32>) -> tensor<{self.shape}x1xf32>")
            flat = self.line(f"stablehlo.reshape {part} : (tensor<{self.shape}x1xf32>) -> tensor<{self.shape}xf32>")
            self.values.append(self.line(f"stablehlo.{['tanh', 'sine', 'logistic'][k % 3]} {flat} : "
                                         f"tensor<{self.shape}xf32>"))

    def mask(self):
        """(as a number, as a whole number); sometimes almost nothing is chosen."""
        bound = self.random.choice([1, 5, 9, 12])
        limit = self.line(f"stablehlo.constant dense<{bound}> : tensor<{self.shape}xi32>")
        chosen = self.line(f"stablehlo.compare LT, {self.random.choice(['%x', '%y'])}, {limit}, SIGNED : "
                           f"(tensor<{self.shape}xi32>, tensor<{self.shape}xi32>) -> tensor<{self.shape}xi1>")
        return [self.line(f"stablehlo.convert {chosen} : (tensor<{self.shape}xi1>) -> tensor<{self.shape}x{kind}>")
                for kind in ("f32", "i32")]

    def term(self, form):
        x = self.values[self.random.randrange(TERMS)]
        count = self.rows * TOKENS
        if form == "mean":
            return self.binary("divide", self.sum(x), self.constant(count))
        if form == "mean by reciprocal":
            return self.scale(self.sum(self.binary("multiply", x, x, self.shape)), 1 / count)
        if form == "mean of samples":
            return self.binary("divide", self.sum(x), self.constant(self.rows))
        if form == "mean of means":
            inner = self.reduce(x, self.shape, [1], f"{self.rows}")
            inner = self.binary("divide", inner, self.constant(TOKENS, f"{self.rows}"), f"{self.rows}")
            return self.binary("divide", self.reduce(inner, f"{self.rows}", [0]), self.constant(self.rows))
        if form == "decay":
            square = self.binary("multiply", "%A", "%A", f"{WIDTH}x{WIDTH}")
            return self.scale(self.reduce(square, f"{WIDTH}x{WIDTH}", [0, 1]), 0.01)
        if form == "constant":
            return self.constant(0.25)
        if form == "scaled by a parameter":
            root = self.line("stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>")
            factor = self.line(f"stablehlo.exponential {root} : tensor<f32>")
            return self.binary("multiply", factor, self.term("mean"))
        return self.masked(form, x)

    def masked(self, form, x):
        mask, whole = self.mask()
        one = self.constant(1.0)
        number = self.sum(mask)
        chosen = self.sum(self.binary("multiply", x, mask, self.shape))
        if form == "masked, at least 1":
            number = self.binary("maximum", number, one)
        elif form == "masked, clamped":
            number = self.line(f"stablehlo.clamp {one}, {number}, {self.constant(1e9)} : tensor<f32>")
        elif form == "masked, whole numbers":
            total = self.reduce(whole, self.shape, [0, 1], kind="i32")
            least = self.line("stablehlo.constant dense<1> : tensor<i32>")
            total = self.line(f"stablehlo.maximum {total}, {least} : tensor<i32>")
            number = self.line(f"stablehlo.convert {total} : (tensor<i32>) -> tensor<f32>")
        elif form == "masked, where":
            zero = self.constant(0.0)
            some = self.line(f"stablehlo.compare GT, {number}, {zero}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>")
            safe = self.line(f"stablehlo.select {some}, {number}, {one} : tensor<i1>, tensor<f32>")
            ratio = self.binary("divide", chosen, safe)
            return self.line(f"stablehlo.select {some}, {ratio}, {zero} : tensor<i1>, tensor<f32>")
        elif form == "masked by weights":
            number = self.binary("maximum", number, one)
            weights = self.binary("divide", mask, self.spread(number, self.shape), self.shape)
            return self.sum(self.binary("multiply", weights, x, self.shape))
        elif form == "means of a mask":
            count = self.constant(self.rows * TOKENS)
            eps = self.constant(1e-3)
            number = self.binary("add", self.binary("divide", number, count), eps)
            return self.binary("divide", self.binary("divide", chosen, count), number)
        else:
            number = self.binary("add", number, self.constant(1e-3))
        if form == "masked, with a size":
            # Constants that are sizes too are weights here, above and below.
            return self.binary("divide", self.scale(chosen, 1 / TOKENS), self.scale(number, 1 / WIDTH))
        return self.binary("divide", chosen, number)

    FORMS = ["mean", "mean by reciprocal", "mean of samples", "mean of means", "decay", "constant",
             "scaled by a parameter", "masked, at least 1", "masked, clamped", "masked, whole numbers",
             "masked, where", "masked by weights", "means of a mask", "masked, with a size", "masked and shifted"]

    def loss(self):
        total = None
        for _ in range(self.random.choice([1, 2, 2, 3, 4])):
            form = self.random.choice(self.FORMS)
            self.forms.append(form)
            x = self.term(form)
            if self.random.random() < 0.6:
                x = self.scale(x, self.random.choice([0.3, 1e-2, -0.7, 0.25, 2.0, 1 / 6]))
            op = self.random.choice(["add", "add", "subtract"])
            total = x if total is None else self.binary(op, total, x)
            if self.random.random() < 0.2:
                total = self.scale(total, 0.5)
        return total

    def write(self):
        self.model()
        result = self.loss()
        inputs = ", ".join(f'%{name}: tensor<{self.shape}xi32> loc("{name}")' for name in ("x", "y"))
        shapes = {"E": f"{CLASSES}x{WIDTH}", "A": f"{WIDTH}x{WIDTH}", "B": f"{WIDTH}x{WIDTH}",
                  "C": f"{WIDTH}x{TERMS}", "s": "1"}
        states = ", ".join(f'%{name}: tensor<{shape}xf32> loc("{name}")' for name, shape in shapes.items())
        body = "\n".join(self.lines)
        return (f"module @loss {{\n  func.func public @main({states}, {inputs}) -> tensor<f32> {{\n{body}\n"
                f"    return {result} : tensor<f32>\n  }}\n}}\n").replace("f32", "f64")


CONFIG = """[mesh]
axes = ["pipe", "data"]
pipeline = "pipe"
[data]
file = "corpus.bin"
dtype = "u8"
inputs.x = 0
inputs.y = 1
[[init]]
match = "*"
draw = "normal"
std = 0.7
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "C"
optimizer = [["data"]]
rest = [["data"]]
[optimizer]
name = "momentum"
lr = 0.3
[training]
parameters = ["E", "A", "B", "C", "s"]
precision = "f64"
max_norm = 0.5
"""


class Check:
    def __init__(self, arguments):
        self.llmc, self.folder, self.rows = arguments.llmc, arguments.out, arguments.rows
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "corpus.bin").write_bytes(bytes(random.Random(0).randrange(CLASSES) for _ in range(4000)))
        (self.folder / "loss.toml").write_text(CONFIG)

    def run(self, command, seed, rows, microbatches, mesh="", extra=()):
        text = self.folder / f"{seed}-{rows}.mlir"
        text.write_text(Text(seed, rows).write())
        log = self.folder / f"{seed}.jsonl"
        line = [self.llmc, command, str(text), "--config", str(self.folder / "loss.toml"), "--steps", "2",
                "--set", f"training.microbatches={microbatches}", "--log", str(log), "--fetch", "E,A,B,C,s",
                "--dump", str(self.folder / "dump"), *extra]
        if mesh:
            line += ["--mesh", mesh]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode)
        values = {}
        for step, row in enumerate(map(json.loads, log.read_text().splitlines())):
            for name in ("loss", "grad_norm"):
                values[f"{name} of step {step}"] = [row[name]]
        for name in "EABCs":
            raw = (self.folder / "dump" / f"{name}.npy").read_bytes()
            values[name] = list(memoryview(raw[10 + int.from_bytes(raw[8:10], "little"):]).cast("d"))
        return values, ""

    def compare(self, what, expected, found, error):
        if found is None:
            return f"{what}: {error}"
        for name, values in expected.items():
            size = max(1.0, max(map(abs, values)))
            for a, b in zip(values, found[name], strict=True):
                if not abs(a - b) <= TOLERANCE * size:
                    return f"{what}: {name}: expected {a!r}, got {b!r}"
        return ""

    def check(self, seed, meshes, interpret, extra):
        microbatches = (2, 4, 3)[seed % 3]
        expected, error = self.run("train", seed, self.rows * microbatches, 1)
        if expected is None:
            return f"whole batch: {error}"
        runs = [("train", "")] + [("train", mesh) for mesh in meshes]
        if interpret:
            runs += [("interpret", "")] + [("interpret", mesh) for mesh in meshes[:1]]
        for command, mesh in runs:
            found, error = self.run(command, seed, self.rows, microbatches, mesh, extra if command == "train" else ())
            error = self.compare(f"{command} {mesh or 'on one device'}", expected, found, error)
            if error:
                return error
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", default="llmc")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--meshes", default="")
    parser.add_argument("--interpret", action="store_true")
    parser.add_argument("--extra", default="")
    arguments = parser.parse_args()
    check = Check(arguments)
    meshes = [mesh.strip() for mesh in arguments.meshes.split(";") if mesh.strip()]
    met, failed = set(), 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        text = Text(seed, arguments.rows)
        text.write()
        met.update(text.forms)
        # What no datum reaches is one block, which has no stages.
        fitting = [mesh for mesh in meshes if set(text.forms) - {"constant", "decay"} or "pipe" not in mesh]
        error = check.check(seed, fitting, arguments.interpret, arguments.extra.split())
        if error:
            failed += 1
            print(f"FAILED {seed} ({', '.join(text.forms)}): {error}")
    print(f"{arguments.count} losses of {len(met)} forms, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
