#!/usr/bin/env python3
# ===- run.py - All-reduce between processes, beside the library's own -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times llmc's all-reduce over Gloo, whose bits are those of one process, beside Gloo's own
ring of the same floats, in turns in one run: medians, and the median of the paired ratios.

Roofline: on one machine each byte is copied into the kernel and out of it by the processors
that also add, so the bound is the memory's; both move 2 (n - 1)/n of the array a process.

    ninja -C build/dev messages-benchmark
    python benchmarks/messages/run.py --bin build/dev/bin [--processes 4] [--turns 15]
"""

import argparse
import json
import pathlib
import statistics
import subprocess

SIZES = (64 << 20, 4 << 20, 256 << 10, 16 << 10, 1 << 10)


def measure(a, size):
    turns = a.turns if size > 1 << 20 else 20 * a.turns
    command = [a.bin / "llmc-launch", "-n", a.processes, "--", a.bin / "messages-benchmark", a.messages, size, turns]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--turns", type=int, default=15)
    p.add_argument("--messages", default="gloo")
    a = p.parse_args()
    print(f"all-reduce of f32, {a.processes} processes, messages by {a.messages}")
    print("| bytes | llmc, ms | Gloo's own, ms | of its bandwidth, median of pairs (least … most) |")
    print("|---|---|---|---|")
    for size in SIZES:
        times = measure(a, size)
        ratios = sorted(theirs / ours for ours, theirs in zip(times["llmc"], times["peer"]))
        own, peer = (1e3 * statistics.median(times[key]) for key in ("llmc", "peer"))
        middle = statistics.median(ratios)
        print(f"| {size:,} | {own:.3f} | {peer:.3f} | {middle:.2f} ({ratios[0]:.2f} … {ratios[-1]:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
