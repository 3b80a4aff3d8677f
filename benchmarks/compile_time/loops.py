#!/usr/bin/env python3
# ===- loops.py - Compile time over the trips of a loop ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles a GPT whose layers are a lax.scan, or a recurrence in each layer of one, with few
and with many layers.

A loop is compiled once, so time and plan of many layers are at most 1.1 times those of few.
Shown too: what a device keeps for each layer, as a loop and unrolled, which is the same but
for what crosses the ends of the loop. Times are the least processor time of several runs;
of loops in each other without the check of the plan, which walks all trips as a step does.

    python loops.py --llmc ../../build/dev/bin/llmc
    python loops.py --llmc ../../build/dev/bin/llmc --derived    # a text that has its derivative
    python loops.py --llmc ../../build/dev/bin/llmc --times 64,512   # recurrences over times in layers
    python loops.py --llmc ../../build/dev/bin/llmc --layers 12,12 --times 64,512 --derived
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BAR = 1.1


def compile_model(a, name, folder, *settings):
    """(seconds of processor time, bytes of the plan, bytes of activations of the step)."""
    model = "scanned_recurrence" if a.times else "scanned_gpt"
    command = [a.llmc, "compile", folder / f"{name}.mlir", "--config", HERE / f"{model}.toml"]
    command += ["--mesh", a.mesh] if a.mesh else []
    command += ["--timing"] if a.times else []
    for setting in settings:
        command += ["--set", setting]
    plan = folder / "plan"
    times = []
    for _ in range(a.repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*map(str, command), "-o", str(plan)], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"error: expected 'llmc compile' to succeed, got {done.stderr[-1000:]}")
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        # The check of the plan walks all trips, as a step does; it is told apart.
        checks = re.findall(r"([\d.]+) s .*\bplan\.llmc$", done.stdout + done.stderr, re.M)
        times[-1] -= sum(map(float, checks)) if a.times else 0
    shown = subprocess.run([a.llmc, "inspect", plan], capture_output=True, text=True, check=True).stdout
    kept = sum(int(n) for n in re.findall(r"^stage 0: .*?\bact (\d+)", shown, re.M))
    return min(times), (plan / "plan.llmc").stat().st_size, kept


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--python", default=sys.executable, help="a Python that imports jax")
    p.add_argument("--layers", default="12,96")
    p.add_argument("--derived", action="store_true", help="the text by jax.value_and_grad")
    p.add_argument("--times", help="of few and of many layers: recurrences over so many, not unrolled")
    p.add_argument("--mesh", default="")
    p.add_argument("--repeat", type=int, default=5)
    a = p.parse_args()
    few, many = map(int, a.layers.split(","))
    times = a.times.split(",") if a.times else ["", ""]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, layers, length in zip("ab", (few, many), times):
            model = "scanned_recurrence" if a.times else "scanned_gpt"
            make = [a.python, HERE / f"{model}.py", "--layers", layers, "-o", folder / f"{name}.mlir"]
            make += ["--times", length] if a.times else []
            make += ["--derived"] if a.derived else []
            subprocess.run([*map(str, make)], check=True)
        rows = [(f"{layers:4}{' x ' + length if length else ''} layers", how,
                 compile_model(a, name, folder, f"training.unroll={how}"))
                for how in (("false",) if a.times else ("false", "true"))
                for name, layers, length in zip("ab", (few, many), times)]
    for shown, how, (seconds, size, kept) in rows:
        print(f"{shown}, {'unrolled' if how == 'true' else 'a loop'}: {seconds:.2f} s of processor time, "
              f"plan {size:,} B, activations {kept:,} B")
    time, size = (rows[1][2][i] / rows[0][2][i] for i in (0, 1))
    less, more = (row[0].strip() for row in rows[:2])
    print(f"as a loop, {more} take {time:.2f} times the time and {size:.2f} times the plan of {less} (bar {BAR})")
    if not a.times:
        of_layer = [(rows[i + 1][2][2] - rows[i][2][2]) / (many - few) for i in (0, 2)]
        print(f"for each layer {of_layer[0]:,.0f} B of activations are kept in the loop, {of_layer[1]:,.0f} B unrolled")
    sys.exit(0 if max(time, size) <= BAR else 1)


if __name__ == "__main__":
    main()
