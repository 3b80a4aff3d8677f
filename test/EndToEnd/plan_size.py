#!/usr/bin/env python3
# ===- plan_size.py - Bytes of plans over devices and microbatches --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles for 2 and 512 devices and for 4 and 64 microbatches, and compares sizes.

    a GPT with 2 samples on each device, data=2 and data=512   equal to the byte
    the GPT with batch 1024 on data=2 and data=512   equal to the byte
    a GPT with 4 (8) and 64 microbatches   grows by 8 B for each cell of its tables

More microbatches than stages reuse slots, which takes waits; so four stages start at
8. The vocabulary is 8192 there: with 256 the place of a reduction depends on how
many microbatches share its cost.

With --time also the processor time of data=512 is within 10 % of that of data=2.

    python plan_size.py --llmc llmc --inputs Inputs --config gpt.toml -o out
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys


def compile_plan(a, text, mesh, microbatches=1):
    """The plan file and the processor seconds, the least of `--repeat` runs."""
    folder = pathlib.Path(a.output) / f"{pathlib.Path(text).stem}-{mesh}-{microbatches}".replace(",", "-")
    command = [a.llmc, "compile", text, "--config", a.config, "--mesh", mesh, "-o", folder, "--threads", 1]
    command += ["--set", f"training.microbatches={microbatches}"]
    seconds = []
    for _ in range(a.repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        if process.returncode:
            sys.exit(f"error: expected 'llmc compile' to succeed, got {process.stderr.strip()}")
    return folder / "plan.llmc", min(seconds)


def count_cells(a, plan):
    command = [a.llmc, "inspect", "--json", plan]
    text = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    return sum(len(entry["table"]) for entry in json.loads(text)["entries"])


def with_batch(a, name, old, new):
    """The text of a model, all of whose tensors that begin with `old` are those of a batch."""
    text = (pathlib.Path(a.inputs) / name).read_text()
    for kind in ("8x", "2x8x"):
        text = text.replace(f"tensor<{old}x{kind}", f"tensor<{new}x{kind}")
    path = pathlib.Path(a.output) / f"{pathlib.Path(name).stem}-{new}.mlir"
    path.write_text(text.replace(f"[0:{old}, 0:8", f"[0:{new}, 0:8"))
    return path


def compare_devices(a, what, few, many):
    sizes, seconds = [], []
    for text, mesh in ((few, "data=2"), (many, "data=512")):
        plan, taken = compile_plan(a, text, mesh)
        sizes.append(plan.stat().st_size)
        seconds.append(taken)
    good = sizes[1] == sizes[0] and (not a.time or seconds[1] <= 1.1 * seconds[0])
    print(f"{'passed' if good else 'FAILED'} {what}: {sizes[0]} and {sizes[1]} B"
          + (f", {seconds[0]:.2f} and {seconds[1]:.2f} s" if a.time else ""), flush=True)
    return good


def compare_microbatches(a, text, mesh, counts):
    plans = [compile_plan(a, text, mesh, m)[0] for m in counts]
    sizes = [plan.stat().st_size for plan in plans]
    cells = [count_cells(a, plan) for plan in plans]
    grown = (sizes[1] - sizes[0]) / (cells[1] - cells[0])
    good = grown == 8
    print(f"{'passed' if good else 'FAILED'} {mesh}: {sizes[0]} and {sizes[1]} B with {counts[0]} and {counts[1]} microbatches, "
          f"{grown:.2f} B for each of {cells[1] - cells[0]} cells", flush=True)
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("llmc", "inputs", "config"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--time", action="store_true")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    pathlib.Path(a.output).mkdir(parents=True, exist_ok=True)
    gpt, four = with_batch(a, "gpt-tiny.mlir", 2, 1024), with_batch(a, "gpt-tiny.mlir", 2, 4)
    results = [
        compare_devices(a, "gpt, 2 samples a device", four, gpt),
        compare_devices(a, "gpt, batch 1024", gpt, gpt),
    ]
    wide = pathlib.Path(a.output) / "wide.mlir"
    wide.write_text((pathlib.Path(a.inputs) / "gpt-four.mlir").read_text().replace("256", "8192"))
    for mesh, first in (("data=2", 4), ("pipe=2,data=2,tensor=2", 4), ("pipe=4", 8)):
        results.append(compare_microbatches(a, wide, mesh, (first, 64)))
    print(f"{len(results)} comparisons, {results.count(False)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
