#!/usr/bin/env python3
# ===- length.py - Time and memory over the length of a model --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles chains of residual MLP blocks and prints processor time and peak memory.

From 2,000 to 4,000 blocks (16,000 parameters) both may grow at most as linearly as from
1,000 to 2,000: t4000 - t2000 <= 1.2 * 2 * (t2000 - t1000), memory alike; 4,000 blocks
take less than 60 s and 1.5 GB. Each figure is the least of --repeat runs. --phases
prints what each phase takes of the last run.

    python length.py --llmc ../../build/dev/bin/llmc
    python length.py --llmc ../../build/dev/bin/llmc --blocks 11000 --mesh data=2,tensor=2
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import residual_mlp

CONFIG = pathlib.Path(__file__).resolve().parent / "residual_mlp.toml"


def run(command):
    """Processor time in s, peak memory in MB and the report of --timing."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        report = errors.read()
    if process.returncode:
        sys.exit(f"error: expected 'llmc compile' to succeed, got {report[-1000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, report


def phases(report):
    """Seconds of each phase, in order."""
    seconds = {}
    for time, what in re.findall(r"^ *([\d.]+) s +\d+ MB +(.*)$", report, re.MULTILINE):
        phase = what.split()[0]
        seconds[phase] = seconds.get(phase, 0) + float(time)
    return seconds


def measure(llmc, folder, blocks, mesh, repeat):
    text = folder / f"mlp-{blocks}.mlir"
    if not text.exists():
        text.write_text(residual_mlp.text_of(blocks))
    command = [llmc, "compile", text, "--config", CONFIG, "--timing", "-o", folder / "plan"]
    runs = [run(command + (["--mesh", mesh] if mesh else [])) for _ in range(repeat)]
    return min(r[0] for r in runs), min(r[1] for r in runs), phases(runs[-1][2])


def growth(figures):
    """Cost of a block from 2,000 to 4,000 over that from 1,000 to 2,000."""
    return (figures[4000] - figures[2000]) / (2 * (figures[2000] - figures[1000]))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--blocks", default="250,500,1000,2000,4000")
    p.add_argument("--mesh", action="append", help="may be given again; default: one device, and data=2,tensor=2")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--phases", action="store_true")
    a = p.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for mesh in a.mesh if a.mesh is not None else ["", "data=2,tensor=2"]:
            print(f"mesh {mesh or 'of one device'}")
            times, memory = {}, {}
            for blocks in map(int, a.blocks.split(",")):
                times[blocks], memory[blocks], parts = measure(a.llmc, pathlib.Path(name), blocks, mesh, a.repeat)
                print(f"{blocks:6d} blocks {times[blocks]:8.2f} s {memory[blocks]:7.0f} MB", flush=True)
                if a.phases:
                    print("       " + ", ".join(f"{phase} {time:.2f}" for phase, time in parts.items()))
            if {1000, 2000, 4000} <= times.keys():
                late = growth(times), growth(memory)
                print(f"growth: time {late[0]:.2f}, memory {late[1]:.2f}, bar 1.2")
                failed |= max(late) > 1.2 or times[4000] >= 60 or memory[4000] >= 1536
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
