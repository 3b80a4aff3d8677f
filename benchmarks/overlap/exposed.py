#!/usr/bin/env python3
# ===- exposed.py - Exposed communication on 8 x H100 ----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What a step takes on the machine of `h100.toml`, by the compiler's own clock of the plan,
with buckets of collectives and without, and writes EXPOSED.md. Nothing is run.

    python exposed.py --bin ../../build/dev/bin --jax-python ../../.venv/bin/python
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples/gpt"
sys.path[:0] = [str(HERE.parent)]

import sitting  # noqa: E402

ZERO3 = '[[layout]]\nmatch = "*"\nrest = [["data"]]\n'
# Name, configuration, mesh, microbatches, layouts before all others. Weights of attention are split by heads, of which
# the example has four.
STRATEGIES = (
    ("data", "gpt.toml", "data=8", 1, ""),
    ("data, 4 microbatches", "gpt.toml", "data=8", 4, ""),
    ("ZeRO-1", "gpt-zero1.toml", "data=8", 1, ""),
    ("ZeRO-3", "gpt.toml", "data={heads}", 1, ZERO3),
    ("tensor", "gpt.toml", "data=2,tensor=4", 1, ""),
    ("data and tensor", "gpt.toml", "data=4,tensor=2", 2, ""),
    ("pipeline, data and tensor", "gpt.toml", "pipe=2,data=2,tensor=2", 4, ""),
)
# Name, devices that share its heads, and the flags of make_gpt.py; none: the example as it is.
MODELS = (
    ("the example: 4 layers, d 128, 8 x 128 tokens", 4, []),
    ("12 layers, d 768, 8 x 512 tokens", 8, "--layers 12 --d 768 --heads 16 --seq 512 --batch 8 --vocab 16384".split()),
)
TIME = re.compile(r"time by the machine: ([\d.]+) ms a step, ([\d.]+) ms of it exposed communication, of ([\d.]+) ms")
COUNT = re.compile(r"  train: (\d+) x ")


def measure(a, model, strategy, folder, flags):
    """Milliseconds of a step, exposed and of all communication; the number of collectives."""
    _, config, mesh, microbatches, layouts = strategy
    text = (EXAMPLE / config).read_text(encoding="utf-8").replace("corpus.bin", str(EXAMPLE / "corpus.bin"))
    file = folder / "c.toml"
    file.write_text(text.replace("[[layout]]", layouts + "[[layout]]", 1), encoding="utf-8")
    command = [a.bin / "llmc", "compile", model, "--config", file, "--machine", HERE / "h100.toml"]
    command += ["--mesh", mesh, f"--set=training.microbatches={microbatches}", *flags, "-o", folder / "plan"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    show = [a.bin / "llmc-run", folder / "plan", "--inspect"]
    plan = subprocess.run(list(map(str, show)), capture_output=True, text=True, check=True).stdout
    return [float(x) for x in TIME.search(done.stdout).groups()], sum(map(int, COUNT.findall(plan)))


def row(a, model, strategy, folder):
    (off, moves, all_off), before = measure(a, model, strategy, folder, ["--set=machine.bucket=0"])
    (on, hidden, all_on), after = measure(a, model, strategy, folder, [])
    cells = [strategy[0], strategy[2], f"{before} -> {after}", f"{all_off:.3f} -> {all_on:.3f}"]
    cells += [f"{moves:.3f} -> {hidden:.3f}", f"{off:.3f} -> {on:.3f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=lambda text: pathlib.Path(text).absolute(), default=HERE.parents[1] / "build/dev/bin")
    p.add_argument("--jax-python", type=sitting.program, default="python3")
    p.add_argument("-o", dest="out", type=pathlib.Path, default=HERE / "EXPOSED.md")
    a = p.parse_args()
    text = """# Exposed communication on 8 x H100

Written by `exposed.py`: what `llmc compile` prints with the machine of `h100.toml`, without buckets of collectives
and with those that its links ask for. Times are milliseconds of a step, by the clock of the plan and not of a device:
a step is as short as the sheet's numbers allow, so communication weighs more than it would.
"""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, heads, flags in MODELS:
            model = EXAMPLE / "gpt.mlir"
            if flags:
                model = folder / "model.mlir"
                command = [a.jax_python, EXAMPLE / "make_gpt.py", *flags, "-o", model]
                subprocess.run(list(map(str, command)), check=True, capture_output=True)
            text += f"\n## GPT, {name}\n| strategy | mesh | collectives | communication | exposed | step |\n"
            text += "|---|---|---|---|---|---|\n"
            for label, config, mesh, microbatches, layouts in STRATEGIES:
                strategy = (label, config, mesh.format(heads=heads), microbatches, layouts)
                text += row(a, model, strategy, folder) + "\n"
                print(text.splitlines()[-1], flush=True)
    a.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
