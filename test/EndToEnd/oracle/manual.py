# ===- manual.py - Programs by shard_map ------------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with manual regions and their collectives, against jax.grad on 8 devices.

One step of plain descent with rate 1 in f64: the loss, and each parameter's gradient
(what the step takes off), within 1e-10 of JAX; by the interpreter, by kernels on one
device and on the mesh for which the program is written, and by the devices of others.

    python manual.py --llmc llmc -o out
    python manual.py --llmc llmc -o out --only ring,experts
"""

import argparse
import json
import pathlib
import subprocess
import sys

# First: it says how many devices there are, before JAX is read.
from manual_losses import CASES, EXPORTED, ROWS

import jax
import jax.export
import numpy as np

import arrays

BAR = 1e-10
RUNS = [("interpret", ""), ("train", ""), ("train", "data=2,tensor=4")]
RUNS += [("interpret", "data=4,tensor=2"), ("interpret", "tensor=3")]
CONFIGURATION = """[mesh]
axes = ["data", "tensor"]
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[optimizer]
name = "sgd"
lr = 1.0
[training]
precision = "f64"
parameters = ["params*"]
"""


class Case:
    def __init__(self, a, name):
        self.a, self.name = a, name
        self.loss, self.shapes, width = CASES[name]
        self.folder = a.output / name
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(len(name))
        self.parameters = {n: draw.normal(size=s) * 0.5 for n, s in self.shapes.items()}
        self.x = draw.normal(size=(ROWS, width))
        np.save(self.folder / "x.npy", self.x)
        arrays.write_safetensors(self.folder / "weights.safetensors", self.parameters)
        (self.folder / "model.toml").write_text(CONFIGURATION, encoding="utf-8")

        def train(params, x):
            return self.loss(params, x)

        if name in EXPORTED:
            text = jax.export.export(jax.jit(train))(self.parameters, self.x).mlir_module()
        else:
            text = jax.jit(train).lower(self.parameters, self.x).as_text(debug_info=True)
        (self.folder / "model.mlir").write_text(text, encoding="utf-8")

    def expect(self):
        """The loss and the gradients by JAX."""
        return jax.jit(jax.value_and_grad(self.loss))(self.parameters, self.x)

    def run(self, engine, mesh):
        dump, log = self.folder / "dump", self.folder / "log.jsonl"
        command = [self.a.llmc, engine, self.folder / "model.mlir", "--config", self.folder / "model.toml"]
        command += ["--weights", self.folder / "weights.safetensors", "--steps", 1, "--log", log]
        command += ["--fetch", ",".join(self.shapes), "--dump", dump]
        command += ["--mesh", mesh] if mesh else []
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1], None
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        found = {n: self.parameters[n] - np.load(dump / f"{n}.npy") for n in self.shapes}
        return next(row["loss"] for row in rows if "loss" in row), found


def farthest(loss, gradients, expected):
    """The greatest distance, relative to the greatest element."""
    value, wanted = expected
    apart = [abs(loss - float(value)) / abs(float(value))]
    for name, g in wanted.items():
        g = np.asarray(g)
        apart.append(np.abs(gradients[name] - g).max() / np.abs(g).max())
    return max(apart)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", help="these cases alone")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    names = a.only.split(",") if a.only else list(CASES)
    runs = failed = 0
    for name in names:
        case = Case(a, name)
        expected = case.expect()
        for engine, mesh in RUNS:
            loss, gradients = case.run(engine, mesh)
            runs += 1
            apart = farthest(loss, gradients, expected) if gradients else None
            bad = gradients is None or not apart <= BAR
            failed += bad
            shown = loss if gradients is None else f"{apart:.1e}"
            print(f"{'FAILED' if bad else 'passed'} {name} {engine} {mesh or 'one device'}: {shown}", flush=True)
    print(f"{len(names)} losses, {runs} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
