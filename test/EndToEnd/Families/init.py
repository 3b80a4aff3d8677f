# ===- init.py - Configurations to begin with, for families --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""`llmc init` for families of models and for files of PyTorch: all parameters and inputs
of the family are found, and llmc takes the configuration as it stands, for one device, for
four and for two stages. Some are trained with files for their inputs: the same losses on both.

    python init.py --llmc llmc -o out
"""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402

MODELS = HERE.parent / "Torch" / "Models"
COMPILED = ["llama", "moe", "gru", "routed", "batch_norm", "mamba", "scan", "diffusion", "lstm", "encoder_decoder", "widths"]
TRAINED = ["mlp", "vit", MODELS / "gpt_fused.onnx"]
# What is said of repetition.
REPEATED = {"mlp": (4, ""), "llama": (3, ""), "vit": (3, ""), "gru": (2, ""), "cnn": ("none", ""), "scan": ("none", "; loops: 1"),
            "moe": (3, ""), "encoder_decoder": ("2 and 2", ""), "mixed": (2, "")}
TYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32}


def make_widths():
    """Layers under one name whose matrices have other shapes, or are vectors."""
    leaf, sizes = families.leaf, (8, 24, 24, 24, 4)
    layers = [{"weight": leaf(*pair), "gate": leaf(pair[1], 2) if pair[0] == 24 else leaf(1)}
              for pair in zip(sizes, sizes[1:])]

    def loss(params, tokens):
        x = tokens.astype("float32")
        for layer in params["layers"]:
            x = (x @ layer["weight"]) * layer["gate"].sum()
        return (x * x).mean()

    return families.Family("widths", loss, {"layers": layers}, {"tokens": ((4, 8), 0)})


def make_mixed():
    """Four layers, of which every second one has experts: two pairs."""
    leaf = families.leaf

    def loss(params, tokens):
        x, balance = tokens.astype("float32") @ params["in"], 0.0
        for layer in params["layers"]:
            if "router" not in layer:
                x = x + (x @ layer["up"]) @ layer["down"]
                continue
            share = x @ layer["router"]
            x = x + ((x @ layer["up"]) * share.T[..., None]).sum(0) @ layer["down"]
            balance = balance + 1e-2 * (share * share).mean()
        return (x * x).mean() + balance

    def layer(i):
        return {"router": leaf(12, 4), "up": leaf(4, 12, 8), "down": leaf(8, 12)} if i % 2 else {"up": leaf(12, 8), "down": leaf(8, 12)}

    return families.Family("mixed", loss, {"in": leaf(8, 12), "layers": [layer(i) for i in range(4)]}, {"tokens": ((4, 8), 0)})


MADE = {**MAKERS, "widths": make_widths, "mixed": make_mixed}


def run(*command):
    result = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def check_draws(shapes, config):
    """The first table that matches a matrix has the deviation of its own shape, that of a vector no deviation."""
    tables = tomllib.loads(config.read_text(encoding="utf-8"))["init"]
    for name, shape in shapes.items():
        drawn = next(table for table in tables if fnmatch.fnmatchcase(name, table["match"]))
        wanted = round(max(shape[-2], 1) ** -0.5, 4) if len(shape) > 1 else None
        assert drawn.get("std") == wanted, (config.name, name, shape, drawn)


def begin(llmc, folder, name):
    """Model, configuration, what was said of them."""
    made = MADE[name]() if name in MADE else None
    model, config = folder / f"{name}.mlir" if made else name, folder / f"{pathlib.Path(name).stem}.toml"
    if made:
        model.write_text(families.text_of(made), encoding="utf-8")
    said = run(llmc, "init", model, "-o", config)
    if made:
        states = families.make_gpt.state_names(made.parameters)
        assert re.search(rf"in {len(states)} tensors", said), said
        check_draws({state: leaf.shape for state, leaf in states}, config)
        inputs = re.search(r"inputs: (.*)", said)[1]
        assert [part.split()[0] for part in inputs.split(", ")] == list(made.inputs), said
    again = subprocess.run([llmc, "init", model, "-o", config], capture_output=True, text=True, check=False)
    assert again.returncode == 2 and "expected a new file" in again.stderr, again
    return model, config, said


def files_for(folder, config, said):
    """Flags that name a file for each source; windows of tokens come from the corpus."""
    if "[data]" in config.read_text(encoding="utf-8"):
        return [f"--data={families.CORPUS}", "--set", "data.dtype=u8"]
    flags, g = [], np.random.default_rng(0)
    for name, shape, element in re.findall(r"(\w+) tensor<([\dx]+)x(\w+)>", re.search(r"inputs: (.*)", said)[1]):
        rows = (32, *[int(n) for n in shape.split("x")[1:]])
        array = g.integers(0, 2, rows) if element.startswith("i") else g.standard_normal(rows)
        np.save(folder / f"{name}.npy", array.astype(TYPES[element]))
        flags.append(f"--data={name}={folder}/{name}.npy")
    return flags


def losses(text):
    return [float(x) for x in re.findall(r"(?m)^step: \d+  loss: ([\d.]+)", text)]


def train(llmc, folder, name):
    model, config, said = begin(llmc, folder, name)
    flags = [*files_for(folder, config, said), "--steps=2", f"--kernel-cache={folder}/cache"]
    if "gpt" in str(name):  # its vocabulary has 61 tokens
        small = folder / "small.bin"
        small.write_bytes(bytes(b % 61 for b in families.CORPUS.read_bytes()[:4096]))
        flags[0] = f"--data={small}"
    one = losses(run(llmc, "train", model, "--config", config, *flags))
    four = losses(run(llmc, "train", model, "--config", config, "--mesh=data=2,tensor=2", *flags))
    assert len(one) == 2 and np.allclose(one, four, rtol=2e-4), (name, one, four)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    (args.folder / "said").mkdir(parents=True, exist_ok=True)
    for name in COMPILED:
        model, config, _ = begin(args.llmc, args.folder, name)
        meshes = ["", "data=2,tensor=2", "pipe=2"]
        for mesh in meshes:
            run(args.llmc, "compile", model, "--config", config, f"--mesh={mesh}", "--compile-to=local", "-o", args.folder / "x")
    for name in TRAINED:
        train(args.llmc, args.folder, name)
    said = {name: begin(args.llmc, args.folder / "said", name)[2] for name in REPEATED}
    for name, (blocks, loops) in REPEATED.items():
        assert f"repeated blocks: {blocks}{loops}\n" in said[name], (name, said[name])
    print(f"{len(COMPILED) + len(TRAINED)} models begin, {len(TRAINED)} of them trained: 0 refused")


if __name__ == "__main__":
    main()
