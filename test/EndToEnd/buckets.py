#!/usr/bin/env python3
# ===- buckets.py - Plans with and without buckets ------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles models with `machine.bucket` 0 and larger, and compares all that a run shows:
losses, norms and states bit by bit, and bytes of each kind of collective. The number of
collectives falls. With buckets the same plan also runs in two processes, and in random
orders of ready work.

    python buckets.py --bin build/dev/bin --inputs test/EndToEnd/Inputs --example examples/gpt -o out
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

ZERO3 = """
[[layout]]
match = "*"
rest = [["data"]]
"""
LINK = """
[[machine.link]]
name = "memory"
latency = 1e-5
bandwidth = 1e10
"""
# Name, model, configuration, mesh, microbatches, bytes of a bucket, more layouts, the most of the
# collectives that may be left.
CASES = (
    ("data", "gpt-four", "gpt", "data=2", 1, 1 << 20, "", 0.2),
    ("micro", "gpt-four", "gpt", "data=4", 2, 4096, "", 0.6),
    ("small", "gpt-four", "gpt", "data=2", 1, 2048, "", 0.8),
    ("tensor", "gpt-four", "gpt", "tensor=2", 2, 1 << 20, "", 1.0),
    ("square", "gpt-four", "gpt", "data=2,tensor=2", 2, 1 << 20, "", 0.7),
    ("cube", "gpt-four", "gpt", "pipe=2,data=2,tensor=2", 4, 1 << 20, "", 0.7),
    ("zero1", "gpt-four", "gpt-zero1", "data=2", 2, 1 << 20, "", 0.3),
    ("zero3", "gpt-four", "gpt", "data=2", 2, 1 << 14, ZERO3, 0.5),
    ("loop", "loop", "loop", "data=2", 2, 1 << 20, "", 1.0),
    # Of each norm two sums in the forward, of which the second needs the first, and one for both of the backward, with which
    # the weight of the layer above goes; the first weight; the loss: 11 of 16, in two steps 22 of 32.
    ("norms", "batch-norms", "batch-norms", "data=2", 1, 1 << 20, "", 22 / 32),
    # Where a message costs something, the forward's two sums are one gather of two buffers: 8 of 16.
    ("rounds", "batch-norms", "batch-norms", "data=2", 1, 1 << 20, LINK, 16 / 32),
)


class Runs:
    def __init__(self, a):
        self.bin, self.inputs, self.example, self.out = a.bin, a.inputs, a.example, a.out

    def compile(self, case, bucket):
        name, model, config, mesh, microbatches, _, layouts, _ = case
        folder = self.out / f"{name}-{bucket}"
        folder.mkdir(parents=True)
        source = (self.example if config.startswith("gpt") else self.inputs) / f"{config}.toml"
        text = source.read_text().replace("corpus.bin", str(self.example / "corpus.bin"))
        (folder / "c.toml").write_text(text.replace("\n[optimizer]", layouts + "\n[optimizer]"))
        command = [self.bin / "llmc", "compile", self.inputs / f"{model}.mlir", "--config", folder / "c.toml"]
        command += ["--mesh", mesh, f"--set=training.microbatches={microbatches}"]
        command += [f"--set=machine.bucket={bucket}", "-o", folder]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return folder

    @staticmethod
    def config(plan):
        return (plan / "c.toml").read_text(encoding="utf-8")

    def run(self, plan, processes=1, *flags):
        """Losses, states, and by collective the number and the bytes."""
        out = plan / "-".join(["run", str(processes), *(flag.strip("-") for flag in flags)])
        command = [self.bin / "llmc-launch", "-n", processes, "--"] if processes > 1 else []
        command += [self.bin / "llmc-run", plan, "--steps", 2, "--count", "--log", f"{out}.jsonl"]
        command += ["--dump", out, "--fetch", "*", *flags]
        command += ["--data", self.example / "corpus.bin" if "corpus.bin" in self.config(plan) else self.out / "x.npy"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        if done.returncode:
            return done.stderr.strip(), None, None
        rows = [json.loads(line) for line in pathlib.Path(f"{out}.jsonl").read_text().splitlines()]
        losses = [(row["loss"], row.get("grad_norm")) for row in rows]
        counts, moved = 0, collections.Counter()
        for line in done.stdout.splitlines():
            if found := re.match(r"counted on stage (\d+): (\d+) (.*), (\d+) B", line):
                counts += int(found[2])
                moved[found[1], found[3]] += int(found[4])
        return (losses, {p.name: p.read_bytes() for p in sorted(out.iterdir())}), moved, counts

    def compare(self, case):
        off, moved, before = self.run(self.compile(case, 0))
        plan = self.compile(case, case[5])
        for flags in ((1,), (1, "--shuffle=1"), (1, "--shuffle=2"), (2,)):
            found, now, counts = self.run(plan, *flags)
            if isinstance(found, str) or isinstance(off, str):
                return f"FAILED: {off if isinstance(off, str) else found}"
            if found != off or len(off[1]) < 5:
                return f"FAILED: other values ({flags})"
            if now != moved:
                return f"FAILED: moves {now}, not {moved}"
            if counts > case[7] * before:
                return f"FAILED: {counts} collectives of {before}"
        return f"equal, {before} -> {counts} collectives"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for flag in ("--bin", "--inputs", "--example"):
        p.add_argument(flag, type=lambda text: pathlib.Path(text).absolute(), required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    p.add_argument("--only", help="the names of cases")
    a = p.parse_args()
    runs, failed = Runs(a), 0
    a.out.mkdir(parents=True, exist_ok=True)
    np.save(a.out / "x.npy", np.random.default_rng(0).standard_normal((32, 4)).astype("f4"))
    cases = [case for case in CASES if not a.only or case[0] in a.only.split(",")]
    for case in cases:
        verdict = runs.compare(case)
        failed += verdict.startswith("FAILED")
        print(f"{case[0]} ({case[3]}): {verdict}", flush=True)
    print(f"{len(cases)} plans, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
