#!/usr/bin/env python3
# ===- roll_back.py - Runs that go back to a checkpoint --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains on rows of which some make the loss NaN or a spike, with --roll-back.

A run that goes back ends with the bits of one whose files never had the samples that it left out: on one device,
meshes, by a plan, by two processes, and when it is ended and resumed after it went back.

    python roll_back.py -o out
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"
BATCH, STEPS = 4, 14
CONFIG = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
finite = false
[data.y]
kind = "array"
file = "y.npy"
shuffle = false
finite = false
[[init]]
match = "*"
std = 0.3
[[layout]]
input = "*"
dims = [["data"]]
"""
# What is wrong with which steps of the data, flags, and the steps whose samples are left out.
CASES = {
    "one NaN": ({5: np.nan}, ["--roll-back", 1], [4, 5]),
    "NaN after a checkpoint": ({4: np.nan}, ["--roll-back", 1], [4]),
    # The first step after the return is wrong too, so the checkpoint before it is taken.
    "two of NaN": ({4: np.nan, 5: np.nan}, ["--roll-back", 2], [2, 3, 4, 5]),
    "NaN twice": ({3: np.nan, 9: np.inf}, ["--roll-back", 2], [2, 3, 8, 9]),
    "a spike": ({9: 50}, ["--roll-back", 1, "--spike", 20], [8, 9]),
}


class Runs:
    def __init__(self, output):
        self.output, self.failed = pathlib.Path(output), 0
        self.output.mkdir(parents=True)

    def check(self, what, good, *said):
        self.failed += not good
        print(f"{what}: {'equal' if good else 'FAILED'}", *([] if good else said))

    def data(self, name, faults, without=()):
        """A folder with rows for all steps but those."""
        folder = self.output / name
        folder.mkdir()
        draw = np.random.default_rng(3)
        x, y = draw.normal(size=(40, BATCH, 6)).astype(np.float32), draw.normal(size=(40, BATCH, 3))
        for step, factor in faults.items():
            y[step] *= factor
        kept = [step for step in range(40) if step not in without]
        np.save(folder / "x.npy", x[kept].reshape(-1, 6))
        np.save(folder / "y.npy", y[kept].reshape(-1, 3))
        (folder / "train.toml").write_text(CONFIG)
        return folder


def run(command, code=0):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != code:
        sys.exit(f"expected {code}, got {result.returncode} of {' '.join(map(str, command))}: {result.stderr}")
    return result


def train(folder, mesh=""):
    return ["llmc", "train", INPUTS / "mlp.mlir", "--config", folder / "train.toml", *(["--mesh", mesh] if mesh else [])]


def plan(folder, *launcher):
    if not (folder / "plan").exists():
        run(["llmc", "compile", INPUTS / "mlp.mlir", "--config", folder / "train.toml", "--mesh", "data=2", "-o", folder / "plan"])
    return [*launcher, "llmc-run", folder / "plan", "--data", f"x={folder}/x.npy", "--data", f"y={folder}/y.npy"]


WAYS = {
    "one device": train,
    "data=2": lambda folder: train(folder, "data=2"),
    "pipe=2": lambda folder: train(folder, "pipe=2"),
    "a plan": plan,
    "two processes": lambda folder: plan(folder, "llmc-launch", "-n", 2, "--"),
}


def states(command, folder, name, *flags):
    """What exported parameters are after a run, and what it said."""
    out = folder / f"out-{name.replace(' ', '-')}"
    said = run([*command, "--steps", STEPS, "--checkpoint", out, "--checkpoint-every", 2, "--events", out.with_suffix(".jsonl"), *flags])
    run(["llmc-export", out, "--all", "-o", out.with_suffix(".safetensors")])
    return out.with_suffix(".safetensors").read_bytes(), said.stderr


def compare(runs, case, ways):
    faults, flags, left = CASES[case]
    faulty = runs.data(case.replace(" ", "-"), faults)
    clean = runs.data(case.replace(" ", "-") + "-clean", faults, left)
    for way in ways:
        found, said = states(WAYS[way](faulty), faulty, way, *flags)
        expected, _ = states(WAYS[way](clean), clean, way)
        returns = said.count("back to the checkpoint")
        runs.check(f"{case}, {way}", found == expected and returns == flags[1], returns, said)
    rows = [json.loads(line) for line in (faulty / f"out-{ways[0].replace(' ', '-')}.jsonl").read_text().splitlines()]
    events = [row for row in rows if row["event"] == "roll_back"]
    runs.check(f"{case}, events", sum(row["left_out"] for row in events) == len(left) and len(events) == flags[1], events)


def resume(runs):
    """What was left out stays left out."""
    faulty = runs.data("resumed", {5: np.nan})
    whole, _ = states(train(faulty), faulty, "whole", "--roll-back", 1)
    out = faulty / "out-parts"
    run([*train(faulty), "--steps", 8, "--checkpoint", out, "--checkpoint-every", 2, "--roll-back", 1])
    manifest = json.loads((out / "step-00000008/manifest.json").read_text())
    runs.check("the manifest's position", manifest["data_position"]["step"] == 10, manifest["data_position"])
    parts, _ = states([*train(faulty, "data=2"), "--resume"], faulty, "parts")
    again, _ = states([*train(faulty), "--resume"], faulty, "whole")
    runs.check("resumed at its end", again == whole)
    run([*train(faulty), "--steps", 8, "--checkpoint", faulty / "out-same", "--checkpoint-every", 2, "--roll-back", 1])
    same, _ = states([*train(faulty), "--resume"], faulty, "same")
    runs.check("resumed after it went back", same == whole and len(parts) == len(whole))


def refused(runs):
    faulty = runs.data("refused", {3: np.nan, 6: np.nan})
    words = [
        ("too many", ["--steps", 9, "--checkpoint", faulty / "a", "--checkpoint-every", 2, "--roll-back", 1], 13, "expected a finite loss"),
        ("without", ["--steps", 9, "--checkpoint", faulty / "b", "--checkpoint-every", 2], 13, "expected a finite loss"),
        ("none", ["--steps", 9, "--checkpoint", faulty / "c", "--roll-back", 1], 14, "expected a whole checkpoint of at most 3 steps"),
        ("no folder", ["--steps", 9, "--roll-back", 1], 2, "--roll-back: expected --checkpoint"),
        ("factor", ["--steps", 9, "--spike", 0.5], 2, "--spike: expected a factor above 1"),
    ]
    for what, flags, code, text in words:
        said = run([*train(faulty), *flags], code).stderr
        runs.check(f"refused, {what}", text in said, said)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("-o", dest="output", required=True)
    runs = Runs(p.parse_args().output)
    for case in CASES:
        compare(runs, case, list(WAYS) if case == "one NaN" else ["one device", "data=2"])
    resume(runs)
    refused(runs)
    print(f"{runs.failed} failed")
    sys.exit(1 if runs.failed else 0)


if __name__ == "__main__":
    main()
