#!/usr/bin/env python3
# ===- run.py - Compile time over the number of layers --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times `llmc compile` on the example's GPT with 4, 12, 24, 48 and 96 layers.

The time may grow at most linearly: (t96 - t48) / 48 <= 1.2 (t24 - t12) / 12, and
the example itself (4 layers) takes less than 5 s. Each figure is the least of
several runs, text parsing and kernels included. --mesh compiles for many devices,
--size is for make_gpt.py, --cpu counts processor time. With --instructions the growth
is counted by valgrind (slow, but the same whatever else the machine does).

    python run.py --llmc ../../build/dev/bin/llmc
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "gpt"


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(command, repeat, clock):
    times = []
    for _ in range(repeat):
        begin = clock()
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        times.append(clock() - begin)
        if process.returncode:
            sys.exit(f"error: expected 'llmc compile' to succeed, got {process.stderr[-1000:]}")
    return min(times)


def giga_instructions(command):
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    process = subprocess.run(tool + list(map(str, command)), capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", process.stderr)
    if process.returncode or not found:
        sys.exit(f"error: expected valgrind to count, got {process.stderr[-1000:]}")
    return int(found.group(1)) / 1e9


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--python", default=sys.executable, help="a Python that imports jax")
    p.add_argument("--layers", default="4,12,24,48,96")
    p.add_argument("--mesh", default="", help="for example pipe=2,data=2,tensor=2")
    p.add_argument("--size", default="", help="flags of make_gpt.py, for example '--d 384 --heads 6'")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--cpu", action="store_true", help="processor time, not elapsed")
    p.add_argument("--instructions", action="store_true", help="count instructions, do not time")
    a = p.parse_args()
    times = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for layers in map(int, a.layers.split(",")):
            text, plan = folder / f"gpt-{layers}.mlir", folder / f"plan-{layers}"
            script = [a.python, EXAMPLE / "make_gpt.py", "--layers", layers, *a.size.split(), "-o", text]
            subprocess.run(list(map(str, script)), check=True)
            command = [a.llmc, "compile", text, "--config", EXAMPLE / "gpt.toml", "-o", plan]
            command += ["--mesh", a.mesh] if a.mesh else []
            if a.instructions:
                times[layers] = giga_instructions(command)
                print(f"{layers:4d} layers  {times[layers]:7.3f} billion instructions", flush=True)
                continue
            times[layers] = seconds(command, a.repeat, processor_time if a.cpu else time.perf_counter)
            print(f"{layers:4d} layers  {times[layers]:7.3f} s", flush=True)
    failed = False
    if 4 in times and not a.instructions:
        failed |= times[4] >= 5.0
        print(f"example: {times[4]:.2f} s, bar 5 s")
    if {12, 24, 48, 96} <= times.keys():
        late, early = (times[96] - times[48]) / 48, (times[24] - times[12]) / 12
        failed |= late > 1.2 * early
        print(f"a layer costs {1e3 * early:.2f} ms at 12-24, {1e3 * late:.2f} ms at 48-96")
        print(f"growth: {late / early:.2f}, bar 1.2")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
