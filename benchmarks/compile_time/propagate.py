#!/usr/bin/env python3
# ===- propagate.py - Time to propagate layouts beside time to parse ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times `llmc-propagate-layouts` on a training step of about 10,000 ops.

The model is the example's GPT with as many blocks as it takes, on a mesh of eight;
the bar is 3 times what parsing the same text takes, each the least of several runs.

    python propagate.py --bin ../../build/dev/bin
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "gpt"
PASSES = ["assign-chunks", "clone-cones", "group-sums", "propagate-layouts"]


def run(*command):
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"error: expected '{command[0]}' to succeed, got {process.stderr[-1000:]}")
    return process.stderr


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", required=True, type=pathlib.Path)
    p.add_argument("--python", default=sys.executable, help="a Python that imports jax")
    p.add_argument("--layers", type=int, default=11)
    p.add_argument("--mesh", default="pipe=2,data=2,tensor=2")
    p.add_argument("--repeat", type=int, default=5)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as name:
        text, step, placed = (pathlib.Path(name) / file for file in ("gpt.mlir", "step.mlir", "placed.mlir"))
        run(a.python, EXAMPLE / "make_gpt.py", "--layers", a.layers, "-o", text)
        run(a.bin / "llmc", "compile", text, "--config", EXAMPLE / "gpt.toml", "--mesh", a.mesh,
            "--compile-to=training", "-o", step)
        run(a.bin / "llmc-opt", step, *(f"--llmc-{each}" for each in PASSES[:-1]), "-o", placed)
        ops = sum(1 for line in placed.read_text().splitlines() if re.match(r"\s+(%|return)", line))
        times = {"Parser": [], "Propagate": []}
        for _ in range(a.repeat):
            report = run(a.bin / "llmc-opt", placed, f"--llmc-{PASSES[-1]}", "--mlir-disable-threading",
                         "--mlir-timing", "--mlir-timing-display=list", "-o", "/dev/null")
            for what in times:
                times[what].append(float(re.search(rf"([\d.]+) *\([^)]*\) +{what}", report).group(1)))
    parse, propagate = min(times["Parser"]), min(times["Propagate"])
    print(f"{ops} ops: parsed in {parse:.3f} s, propagated in {propagate:.3f} s: {propagate / parse:.2f}, bar 3")
    sys.exit(0 if propagate <= 3 * parse else 1)


if __name__ == "__main__":
    main()
