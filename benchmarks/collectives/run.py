#!/usr/bin/env python3
# ===- run.py - Collectives of a GPT step, llmc and XLA --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles one annotated GPT by llmc and by XLA and writes a table of what a
device communicates in a step: docs/collectives.md.

Both get the text and shardings of examples/gpt/make_gpt_sharded.py. llmc's step
has AdamW and clipping, XLA's plain SGD; scalars (loss, norm) are left out. Bytes
are those of the results on a device.

    python run.py --llmc ../../build/dev/bin/llmc --python ../../.venv/bin/python
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLE = ROOT / "examples" / "gpt"
MODEL = {"layers": 6, "d": 384, "heads": 6, "seq": 256, "batch": 8, "vocab": 8192}
MESHES = ("data=8,tensor=1", "data=1,tensor=2", "data=4,tensor=2", "data=2,tensor=4")


def run(command):
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"error: expected '{command[0]}' to succeed, got {process.stderr[-1000:]}")
    return process.stdout


def model_flags():
    return [word for key, value in MODEL.items() for word in (f"--{key}", value)]


def of_llmc(a, mesh, folder, microbatches):
    text, plan = folder / "gpt.mlir", folder / "plan"
    run([a.python, EXAMPLE / "make_gpt_sharded.py", "--mesh", mesh, "-o", text] + model_flags())
    command = [a.llmc, "compile", text, "--config", EXAMPLE / "gpt-sharded.toml", "--mesh", mesh, "-o", plan]
    run(command + ["--set", f"training.microbatches={microbatches}"])
    rows = {}
    row = re.compile(r"  train: (\d+) x (\w+) ([\w ]+), (\d+) -> (\d+) bytes a step")
    for line in run([a.llmc, "inspect", "plan", plan / "plan.llmc"]).splitlines():
        if found := row.match(line):
            count, kind, axes, _, out = found.groups()
            rows[kind.replace("_", "-"), axes.replace(" ", "+")] = (int(count), int(out))
    return rows


def of_xla(a, mesh):
    result = json.loads(run([a.python, HERE / "xla_collectives.py", "--mesh", mesh] + model_flags()))
    rows = {(r["kind"], r["axes"]): (r["count"], r["bytes"]) for r in result["collectives"]}
    return result["jax"], rows


def show(entry):
    return f"{entry[0]} × {entry[1] / entry[0] / 1e6:.2f} MB = {entry[1] / 1e6:.2f} MB" if entry else "–"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--python", default=sys.executable, help="a Python that imports jax")
    p.add_argument("-o", "--output", default=ROOT / "docs" / "collectives.md")
    a = p.parse_args()
    lines, version = [], ""
    with tempfile.TemporaryDirectory() as name:
        for mesh in MESHES:
            ours = of_llmc(a, mesh, pathlib.Path(name), 1)
            four = of_llmc(a, mesh, pathlib.Path(name), 4)
            version, theirs = of_xla(a, mesh)
            total = [sum(b for _, b in rows.values()) for rows in (ours, four, theirs)]
            for kind, axes in sorted(ours.keys() | four.keys() | theirs.keys()):
                cells = [show(rows.get((kind, axes))) for rows in (ours, four, theirs)]
                lines.append(f"| {mesh} | {kind} | {axes} | {cells[0]} | {cells[1]} | {cells[2]} |")
            sums = [f"**{t / 1e6:.2f} MB**" for t in total]
            lines.append(f"| | | **all** | {sums[0]} | {sums[1]} | {sums[2]} |")
            print(mesh, total, flush=True)
    model = ", ".join(f"{key} {value}" for key, value in MODEL.items())
    pathlib.Path(a.output).write_text(
        "# What a step communicates\n\n"
        "Written by `benchmarks/collectives/run.py`; do not edit. One GPT "
        f"({model}, f32), the same annotations of JAX for both: batch over `data`; columns of QKV and of the first "
        "MLP weight and rows of both projections over `tensor`. For each device and step; bytes are those of the "
        f"results. XLA: jax {version} with Shardy on CPU devices, one batch. llmc: one and four microbatches of that "
        "batch. Scalars (loss, count, norm) are left out.\n\n"
        "| mesh | collective | over | llmc, 1 microbatch | llmc, 4 microbatches | XLA, 1 batch |\n"
        "|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n\n"
        "Why they differ: a slice of a contraction is a contraction with a slice, so the fused QKV of llmc needs no "
        "exchange between devices, where XLA's contiguous shards of its columns do; the two contributions to the "
        "tied embedding are added before they are reduced, so each parameter crosses `data` once in a step, whatever "
        "the number of microbatches; heads that do not divide (6 over 4) are padded, not gathered.\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
