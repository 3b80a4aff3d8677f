#!/usr/bin/env python3
# ===- gpus.py - Plans for GPUs on stand-ins of CUDA's libraries ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a model by the backend of GPUs, on libraries that stand in for the driver, cuBLASLt and NCCL.

    python gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib --model M --config C --data D -o out
                   [--cases "data=2 zero=1" ...] [--steps 3] [--target cuda:fibers+cudnn]

For each mesh the plan's kernels run thread by thread on the processor, streams in a random legal order:

    against processors   the losses and norms of a plan for processors on the same mesh, relative: 2e-5
                         (in bf16 and f16: 2e-3; in FP8 5e-2, as attention rounds otherwise and roundings to
                         eight bits carry that on, but 2e-5 where it is products), and the scales of the loss, equal
    eager and captured   parameters after all steps, bit by bit
    several processes    the same losses, bit by bit, where the mesh has two devices or more

With --exact losses, norms and parameters are those of processors, bit by bit.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

CASES = ("", "data=2", "data=3", "tensor=2", "pipe=2", "data=4 zero=1", "data=2,tensor=2", "pipe=2,data=2 microbatches=2",
         "pipe=2,tensor=2 microbatches=2", "pipe=2,data=2,tensor=2 zero=1 microbatches=2")
BAR, BARS = 2e-5, {"bf16": 2e-3, "f16": 2e-3, "fp8": 5e-2}
AXES = ("data", "tensor", "pipe", "expert")


class Failed(Exception):
    pass


def run(command, environment=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode:
        raise Failed(f"{pathlib.Path(str(command[0])).name} ended with {done.returncode}: {done.stderr.strip()[-400:]}")


def settings_of(case):
    """(mesh, keys of [training] with their values)"""
    mesh, *options = case.split() if case.partition(" ")[0].partition("=")[0] in AXES else ("", *case.split())
    return mesh, dict(option.split("=") for option in options)


def distance(ours, theirs):
    """The greatest relative distance of numbers; infinite where one alone is finite."""

    def apart(a, b):
        if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
            return 0.0 if str(a) == str(b) else math.inf
        return abs(a / b - 1)

    return max(apart(a, b) for row, other in zip(ours, theirs) for a, b in zip(row, other))


class Runs:
    def __init__(self, a):
        self.a, self.out = a, a.out
        self.cuda = {"LD_LIBRARY_PATH": str(a.stand_ins)}

    def compile(self, case, target, folder):
        mesh, settings = settings_of(case)
        config = self.a.config.with_name("gpt-zero1.toml") if settings.pop("zero", "") else self.a.config
        command = [self.a.bin / "llmc", "compile", self.a.model, "--config", config, "--target", target, "-o", folder]
        command += ["--threads", 1, *(["--mesh", mesh] if mesh else [])]
        run(command + [f"--set=training.{key}={value}" for key, value in settings.items()])

    def train(self, plan, name, processes=1, environment=None):
        """(loss, norm and scale of the loss of each step, bytes of the exported parameters)"""
        log, saved = plan / f"{name}.jsonl", plan / name
        launch = [self.a.bin / "llmc-launch", "-n", processes, "--"] if processes > 1 else []
        run([*launch, self.a.bin / "llmc-run", plan, "--data", self.a.data, "--steps", self.a.steps, "--log", log,
             "--checkpoint", saved], environment)
        run([self.a.bin / "llmc-export", saved, "--all", "-o", saved.with_suffix(".safetensors")])
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        return [(row["loss"], row["grad_norm"], row.get("loss_scale")) for row in rows], saved.with_suffix(".safetensors").read_bytes()

    def check(self, number, case):
        """A line, and whether all is as it should be."""
        folder = self.out / str(number)
        cuda = {**self.cuda, "LLMC_STANDIN_SEED": str(number + 1)}
        try:
            self.compile(case, "cpu", folder / "cpu")
            self.compile(case, self.a.target, folder / "cuda")
            theirs, reference = self.train(folder / "cpu", "cpu")
            ours, captured = self.train(folder / "cuda", "captured", environment=cuda)
            again, eager = self.train(folder / "cuda", "eager", environment={**cuda, "LLMC_CUDA_GRAPHS": "0"})
            apart = distance(ours, theirs)
            settings = settings_of(case)[1]
            hasExactSums = settings.get("precision") == "fp8" and settings.get("attention") == "products"
            bar = BAR if hasExactSums else BARS.get(settings.get("precision"), BAR)
            scales = [[row[2] for row in rows] for rows in (ours, theirs)]
            good = len(ours) == len(theirs) and apart <= bar and scales[0] == scales[1]
            good = good and captured == eager and ours == again
            if self.a.exact:
                good = good and ours == theirs and captured == reference
            text = f"{apart:.1e} from processors, captured and eager {'equal' if captured == eager else 'DIFFER'}"
            skipped = sum(b < a for a, b in zip(scales[0], scales[0][1:]) if a)
            text += f", {skipped} overflows" if scales[0][0] else ""
            if self.a.processes and case.startswith(("data=2", "tensor=2", "pipe=2", "expert=2")):
                several, states = self.train(folder / "cuda", "several", 2, cuda)
                same = several == ours and states == captured
                good, text = good and same, text + f", two processes {'equal' if same else 'DIFFER'}"
        except Failed as failed:
            good, text = False, str(failed)
        return f"{'passed' if good else 'FAILED'} {case or 'one device'}: {text}", good


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for flag in ("--bin", "--stand-ins", "--model", "--config", "--data"):
        p.add_argument(flag, type=pathlib.Path, required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--target", default="cuda:fibers", help="what plans for GPUs are compiled for")
    p.add_argument("--processes", action="store_true", help="by two processes too")
    p.add_argument("--exact", action="store_true", help="the bits of processors")
    p.add_argument("--cases", nargs="*", default=CASES)
    a = p.parse_args()
    shutil.rmtree(a.out, ignore_errors=True)
    a.out.mkdir(parents=True)
    runs, failed = Runs(a), 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for line, good in pool.map(runs.check, range(len(a.cases)), a.cases):
            print(line, flush=True)
            failed += not good
    print(f"{len(a.cases)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
