#!/usr/bin/env python3
# ===- steps.py - What a step takes while a checkpoint is written ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a GPT with checkpoints in the background, and compares the steps beside which one was written with the others.

    python steps.py --bin build/dev/bin -o out [--layers 6 --d 512] [--every 8] [--steps 49]

One process with one thread of two cores, then two processes with one each. What the run stood still at the edge of a
step is no part of a step and is printed beside; what an update waited for its states to be read is part of its step.
Bar: 1.1 times the median of the other steps.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from sitting import others_during  # noqa: E402


def rows_of(path):
    """Begin and seconds of each step, and begin and end of each checkpoint, in seconds."""
    steps, spans, begin = [], [], None
    for line in path.read_text().splitlines():
        row = json.loads(line)
        time = row["time_us"] * 1e-6
        if row["event"] == "step":
            steps.append((time - row["seconds"], row["seconds"]))
        elif row["event"] == "checkpoint_begin":
            begin = time
        elif row["event"] == "checkpoint_end":
            # Its name comes with the step after the one in which it was written.
            spans.append((begin + row["stall_seconds"], begin + row["seconds"], row["bytes"], row["stall_seconds"],
                          row.get("waited_seconds", 0)))
    return steps[4:], spans


def measure(a, name, launcher, plan):
    folder, events = a.out / "checkpoints", a.out / "events.jsonl"
    shutil.rmtree(folder, ignore_errors=True)
    events.unlink(missing_ok=True)
    command = [*launcher, a.bin / "llmc-run", plan, "--data", ROOT / "examples/gpt/corpus.bin", "--data-type", "u8",
               "--threads", 1, "--steps", a.steps, "--events", events, "--checkpoint", folder, "--checkpoint-background",
               "--checkpoint-every", a.every, "--checkpoint-keep", 1]
    call = lambda: subprocess.run(list(map(str, command)), check=True, capture_output=True)
    _, others = others_during(call)
    steps, spans = rows_of(events)
    beside = [seconds for begin, seconds in steps if any(begin < end and begin + seconds > start for start, end, *_ in spans)]
    alone = [seconds for begin, seconds in steps if all(begin >= end or begin + seconds <= start for start, end, *_ in spans)]
    ratio = statistics.median(beside) / statistics.median(alone)
    print(f"{name}: {spans[0][2] / 2**20:.0f} MiB, {len(spans)} checkpoints; a step {statistics.median(alone):.3f} s alone, "
          f"{statistics.median(beside):.3f} s beside one ({ratio:.2f}), {statistics.median(s[3] for s in spans):.3f} s between "
          f"steps, {statistics.median(s[4] for s in spans):.3f} s an update waited; other programs {others:.0%}", flush=True)
    shutil.rmtree(folder)
    return ratio


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    for flag, value in dict(layers=6, d=512, seq=128, every=8, steps=49).items():
        p.add_argument(f"--{flag}", type=int, default=value)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    model = a.out / "gpt.mlir"
    subprocess.run([sys.executable, ROOT / "examples/gpt/make_gpt.py", "--layers", str(a.layers), "--d", str(a.d), "--heads",
                    "8", "--seq", str(a.seq), "-o", model], check=True)
    ratios = []
    for name, mesh, launcher in (("one process", "data=1", []), ("two processes", "data=2", [a.bin / "llmc-launch", "-n", 2, "--"])):
        plan = a.out / mesh
        subprocess.run([a.bin / "llmc", "compile", model, "--config", ROOT / "examples/gpt/gpt.toml", "--mesh", mesh, "-o", plan],
                       check=True, capture_output=True)
        ratios.append(measure(a, name, launcher, plan))
    print(f"worst {max(ratios):.2f}, bar 1.10")


if __name__ == "__main__":
    main()
