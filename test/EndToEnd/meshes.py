#!/usr/bin/env python3
# ===- meshes.py - One model on many meshes against one device ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a model on one device and on meshes, and compares each step.

A case is `mesh [key=value ...]`, for example `pipe=2,data=2 microbatches=4 zero=1`:

    microbatches   of a step (default 1); the reference has as many
    recompute      none, all or K
    schedule       1f1b, gpipe or interleaved
    chunks         of the model on each stage
    zero           1: optimizer states split over "data"

A case passes when loss and gradient norm of each step are within the bar of one
device, and (with --twice) the same command gives the same bits. Cases after a
`=` sign, as in `= pipe=2 schedule=gpipe`, must equal the case before to the bit.
With --gradients BAR also ||g - g'|| / ||g'|| of each parameter's gradient in the
last step is within BAR.

With --cross, each mesh of the file is run with 1 and 4 microbatches, with and
without ZeRO-1, and there with all schedules and recomputations, bit-equal.

    python meshes.py --llmc llmc --model gpt.mlir --config gpt.toml -o out cases.txt
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

KEYS = {"microbatches": "training.microbatches", "recompute": "training.recompute", "schedule": "pipeline.schedule",
        "chunks": "pipeline.chunks"}


def read_cases(path):
    """The words of each case."""
    lines = [line.split("#")[0].split() for line in pathlib.Path(path).read_text().splitlines()]
    return [words for words in lines if words]


def split_case(words):
    """The mesh and the options of a case."""
    mesh, *rest = words[1:] if words[0] == "=" else words
    return mesh, dict(word.split("=", 1) for word in rest)


def flags(mesh, options):
    """What a case adds to a command of llmc."""
    found = ["--mesh", mesh] if mesh else []
    for key, value in options.items():
        if key in KEYS:
            number = value if value.isdigit() and key in ("microbatches", "chunks") else f'"{value}"'
            found += ["--set", f"{KEYS[key]}={number}"]
    return found


class Runner:
    def __init__(self, a):
        self.a = a
        self.out = pathlib.Path(a.output)
        self.out.mkdir(parents=True, exist_ok=True)
        self.number = 0
        self.references = {}

    def train(self, mesh, options):
        self.number += 1
        log = self.out / f"{self.number}.jsonl"
        config = self.a.zero_config if options.get("zero") == "1" else self.a.config
        command = [self.a.llmc, "train", self.a.model, "--config", config, "--steps", self.a.steps]
        command += ["--threads", 1, "--log", log]
        if self.a.gradients:
            shutil.rmtree(log.with_suffix(""), ignore_errors=True)
            command += ["--fetch", "grad.*", "--dump", log.with_suffix("")]
        command += flags(mesh, options)
        for each in self.a.set:
            command += ["--set", each]
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if process.returncode:
            return None, process.stderr.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        # What is not finite is logged as null.
        numbers = [(r["loss"], r["grad_norm"]) for r in rows if "loss" in r]
        return [tuple(math.nan if x is None else x for x in row) for row in numbers], None

    def reference(self, options):
        """Rows of one device with as many microbatches, and its gradients."""
        key = options.get("microbatches", "1")
        if key not in self.references:
            rows, error = self.train("", {"microbatches": key})
            if error:
                sys.exit(f"error: expected the reference on one device to run, got {error[0]}")
            self.references[key] = rows, self.gradients()
        return self.references[key]

    def gradients(self):
        """Of the run before: name -> array."""
        if not self.a.gradients:
            return {}
        import numpy

        folder = self.out / str(self.number)
        return {path.stem: numpy.load(path).astype("float64") for path in sorted(folder.glob("grad.*.npy"))}


def distance(rows, reference):
    """The greatest relative distance over steps and figures."""
    if len(rows) != len(reference):
        return float("inf")
    pairs = [(x, y) for row, other in zip(rows, reference) for x, y in zip(row, other)]
    return max(abs(x - y) / max(abs(y), 1e-30) if x == x else float("inf") for x, y in pairs)


def cross(lines):
    """All cases of the meshes that stand alone on a line."""
    cases = []
    for mesh in [words[0] for words in lines if len(words) == 1]:
        for microbatches in ("1", "4"):
            for zero in ("0", "1"):
                base = [mesh, f"microbatches={microbatches}", f"zero={zero}"]
                cases.append(base)
                for recompute in ("none", "all", "2"):
                    for schedule in ("1f1b", "gpipe"):
                        more = [f"recompute={recompute}", f"schedule={schedule}"]
                        if more != ["recompute=none", "schedule=1f1b"]:
                            cases.append(["="] + base + more)
    return cases


def farthest(gradients, reference):
    """The gradient at the greatest relative distance, and this distance."""
    if sorted(gradients) != sorted(reference) or not reference:
        return "names", float("inf")
    worst = "none", 0.0
    for name, other in reference.items():
        difference = float(((gradients[name] - other) ** 2).sum() ** 0.5)
        size = float((other**2).sum() ** 0.5)
        found = difference / size if size else difference
        if not found <= worst[1]:
            worst = name, found
    return worst


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("llmc", "model", "config"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--zero-config", help="the configuration of cases with zero=1")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--bar", type=float, default=2e-5)
    p.add_argument("--gradients", type=float, help="the bar of each parameter's gradient")
    p.add_argument("--twice", action="store_true")
    p.add_argument("--cross", action="store_true", help="all options on each mesh")
    p.add_argument("--set", action="append", default=[], help="key=value for all runs")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("cases")
    a = p.parse_args()
    runner = Runner(a)
    failed, before = 0, None
    lines = read_cases(a.cases)
    for words in cross(lines) if a.cross else lines:
        equal = words[0] == "="
        mesh, options = split_case(words)
        rows, error = runner.train(mesh, options)
        if error:
            failed += 1
            print(f"FAILED  {' '.join(words)}: {error[0]}", flush=True)
            continue
        gradients = runner.gradients()
        expected = runner.reference(options)
        worst, note = distance(rows, expected[0]), ""
        faults = [] if worst <= a.bar else [f"distance {worst:.2e}, bar {a.bar:.0e}"]
        if a.gradients:
            name, error = farthest(gradients, expected[1])
            note = f"; {len(expected[1])} gradients, worst {error:.1e} ({name})"
            faults += [] if error <= a.gradients else [f"above {a.gradients:.0e}"]
        if equal and rows != before:
            faults.append("differs from the case before")
        if a.twice and runner.train(mesh, options)[0] != rows:
            faults.append("differs when run again")
        before = rows
        failed += bool(faults)
        verdict = "FAILED  " if faults else "passed  "
        print(verdict + f"{' '.join(words)}: {worst:.1e}{note}" + "".join("; " + f for f in faults), flush=True)
    print(f"{len(cross(lines) if a.cross else lines)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
