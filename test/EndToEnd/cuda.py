#!/usr/bin/env python3
# ===- cuda.py - Whole trainings through the CUDA backend -----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a model on one processor and, through the CUDA backend on the stand-ins of
test/Runtime/StandIn, on GPUs in meshes: with steps captured as graphs, and enqueued at once.

Loss and gradient norm of each step are within the bar of the processor, and the lines of
graphs are those of eager steps, to the last digit. Checkpoints of all steps are equal,
whether they are written between steps or read beside them. With --processes N the plan also runs in
N processes, which meet by NCCL, and gives the bits of one.

    python cuda.py --bin build/dev/bin --libraries build/dev/test/Runtime/StandIn/lib \\
        --model gpt-tiny.mlir --config gpt.toml -o out "" data=2 pipe=2,data=2,tensor=2
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

VALUES = ("loss", "grad_norm")


class Trainings:
    def __init__(self, a):
        self.a = a
        self.out = pathlib.Path(a.output)
        self.out.mkdir(parents=True, exist_ok=True)
        self.number = 0

    def environment(self, **more):
        paths = [self.a.libraries, os.environ.get("LD_LIBRARY_PATH", "")]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, paths)), "LLMC_STANDIN_SEED": "1", **more}

    def run(self, command, **environment):
        command = list(map(str, command))
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment(**environment))
        if done.returncode != 0:
            last = "\n".join(done.stderr.splitlines()[-3:])
            sys.exit(f"{' '.join(command)}: code {done.returncode}\n{last}")
        return done.stdout

    def log(self):
        self.number += 1
        return self.out / f"{self.number}.jsonl"

    def model(self, mesh):
        words = [self.a.model, "--config", self.a.config, "--set", "training.microbatches=2"]
        return words + (["--mesh", mesh] if mesh else [])

    def train(self, mesh, *flags, **environment):
        log = self.log()
        command = [self.a.bin / "llmc", "train", *self.model(mesh), "--steps", self.a.steps, "--log", log]
        self.run([*command, *flags], **environment)
        return read_steps(log)

    def checkpoints(self, mesh, *flags, **environment):
        """The bytes of a checkpoint after each step."""
        folder = self.out / "checkpoints"
        shutil.rmtree(folder, ignore_errors=True)
        every = ("--checkpoint-every=1", "--checkpoint-keep=0", "--checkpoint", folder)
        self.train(mesh, "--device", self.a.device, *every, *flags, **environment)
        return [path.read_bytes() for path in sorted(folder.glob("*/*.safetensors"))]

    def launch(self, mesh, processes):
        plan = self.out / re.sub(r"\W+", "-", f"plan-{mesh}")
        self.run([self.a.bin / "llmc", "compile", *self.model(mesh), "--target", self.a.device, "-o", plan])
        log = self.log()
        run = [self.a.bin / "llmc-run", plan, "--data", self.a.data, "--steps", self.a.steps, "--log", log]
        self.run([self.a.bin / "llmc-launch", "-n", processes, "--", *run, "--messages", "gloo"])
        return read_steps(log)


def read_steps(log):
    """The values of each step, as they are printed."""
    lines = [json.loads(line, parse_float=str) for line in log.read_text().splitlines()]
    return [[line[name] for name in VALUES] for line in lines if "loss" in line]


def distance(steps, reference):
    """The greatest relative difference of a value."""
    if len(steps) != len(reference):
        sys.exit(f"expected {len(reference)} steps, got {len(steps)}")
    pairs = [(float(x), float(y)) for one, other in zip(steps, reference) for x, y in zip(one, other)]
    return max(abs(x - y) / max(abs(y), 1e-30) if x == x and y == y else float("inf") for x, y in pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--data", default="")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--device", default="cuda:fibers")
    parser.add_argument("--bar", type=float, default=1e-4)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("meshes", nargs="+")
    a = parser.parse_args()

    trainings = Trainings(a)
    reference = trainings.train("")
    failures = 0
    for mesh in a.meshes:
        graphs = trainings.train(mesh, "--device", a.device)
        eager = trainings.train(mesh, "--device", a.device, LLMC_CUDA_GRAPHS="0")
        # Another order of everything that has none, other algorithms of the library.
        other = trainings.train(mesh, "--device", a.device, LLMC_STANDIN_SEED="7")
        far = max(distance(graphs, reference), distance(other, reference))
        words = [f"{mesh or 'one device'}: {far:.1e} of the processor"]
        words.append("graphs and eager steps are the same" if graphs == eager else "graphs and eager steps DIFFER")
        between = trainings.checkpoints(mesh)
        beside = [trainings.checkpoints(mesh, "--checkpoint-background", LLMC_CUDA_GRAPHS=graph) for graph in "10"]
        equal = len(between) == a.steps and beside == [between, between]
        words.append("checkpoints beside steps are the same" if equal else "checkpoints beside steps DIFFER")
        passes = far <= a.bar and graphs == eager and equal
        if a.processes and mesh:
            launched = trainings.launch(mesh, a.processes)
            words.append(f"{a.processes} processes " + ("are the same" if launched == graphs else "DIFFER"))
            passes = passes and launched == graphs
        failures += not passes
        print(("ok   " if passes else "FAIL ") + ", ".join(words), flush=True)
    print(f"{len(a.meshes) - failures} of {len(a.meshes)} meshes agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
