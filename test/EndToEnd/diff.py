# ===- diff.py - Planted faults and numbers that are none ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""`llmc diff` on models without a fault, under seeded faults of the compiler and of the
runtime, and on models that compute what is not finite. Of a fault that phases 2 to 4
make, the first value that differs is an op of the text with its line; of one that is
made later, a named value, and the note says that devices in lockstep agree. Of a NaN the
op that makes it is named, not the ones that pass it on.

    python diff.py --llmc llmc -o out
"""

import argparse
import os
import pathlib
import re
import subprocess

import numpy

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"
KINDS = ("kinds.mlir", "kinds.toml")
STEPS = "--steps=1"

# Fault, model, mesh, how it is found: the op that the fault is about (any of its name is
# right where several are), or "named".
FAULTS = [
    ("", KINDS, "tensor=4", "agree"),
    ("", KINDS, "data=2,tensor=2", "agree"),
    ("", ("gpt-tiny.mlir", "../../../examples/gpt/gpt.toml"), "pipe=2,data=3", "agree"),
    ("maxIsPaddedWithZero", KINDS, "tensor=4", "stablehlo.reduce"),
    ("partOffsetIsItsCoordinate", KINDS, "tensor=2", "op"),
    ("reductionSkipsLastMember", KINDS, "tensor=2", "named"),
]

# Body of a loss of `w` and `x`, and the op to be found with its line in TEXT.
TEXT = """func.func public @main(%w: tensor<4xf32> loc("params['w']"), %x: tensor<2x4xf32> loc("x")) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %y = stablehlo.multiply %b, %x : tensor<2x4xf32>
{}
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}}
"""
CONFIG = '[data.x]\nkind = "array"\nfile = "x.npy"\n[[init]]\ndraw = "constant"\nvalue = -1\n[[layout]]\ninput = "*"\ndims = [["data"]]\n'
NOT_FINITE = {
    "stablehlo.log": (
        "  %s = stablehlo.multiply %y, %y : tensor<2x4xf32>\n  %n = stablehlo.negate %s : tensor<2x4xf32>\n"
        "  %z = stablehlo.log %n : tensor<2x4xf32>",
        7,
    ),
    "stablehlo.exponential": (
        "  %h = stablehlo.constant dense<1000.0> : tensor<2x4xf32>\n  %g = stablehlo.add %y, %h : tensor<2x4xf32>\n"
        "  %e = stablehlo.exponential %g : tensor<2x4xf32>\n  %z = stablehlo.multiply %e, %y : tensor<2x4xf32>",
        7,
    ),
}


def run(llmc, fault, model, config, mesh):
    command = [llmc, "diff", model, "--config", config, f"--mesh={mesh}", STEPS]
    environment = {**os.environ, "LLMC_FAULT": fault} if fault else None
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def check_fault(llmc, fault, model, mesh, how):
    result = run(llmc, fault, INPUTS / model[0], INPUTS / model[1], mesh)
    last = result.stderr.splitlines()[-1] if result.stderr else ""
    if how == "agree":
        assert result.returncode == 0 and not last, (fault, result)
        assert len(re.findall(r"(?m)^step 0, .*: \d+ values agree with plain loops; farthest: ", result.stdout)) == 2
        return
    assert result.returncode == 13 and last.startswith("llmc: error[numeric]: "), (fault, result)
    place = re.search(r"numeric\]: \S*(\.mlir|\.py):\d+(:\d+)?: '([\w.]+)'", last)
    assert place, last
    named = re.search(r"'[\w.]+' of step 0 on [\w=,]+ is \S+ of its largest element from that of plain loops", last)
    assert named, last
    if how == "named":
        assert "in lockstep by plain loops the devices agree in" in last, last
    else:
        assert how in ("op", place[3]) and "." in place[3] and "from the whole program's" in last, last


def check_not_finite(llmc, folder, name):
    body, line = NOT_FINITE[name]
    model, config = folder / "m.mlir", folder / "m.toml"
    model.write_text(TEXT.format(body), encoding="utf-8")
    config.write_text(CONFIG, encoding="utf-8")
    numpy.save(folder / "x.npy", numpy.ones((8, 4), numpy.float32))
    result = run(llmc, "", model, config, "data=2")
    last = result.stderr.splitlines()[-1]
    assert result.returncode == 13, result
    assert re.search(rf"m\.mlir:{line}:\d+: '{name}': \d+ of 8 elements are not finite, element 0 is", last), last


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for case in FAULTS:
        check_fault(args.llmc, *case)
    for name in NOT_FINITE:
        check_not_finite(args.llmc, args.folder, name)
    print(f"{len(FAULTS)} runs with and without faults, {len(NOT_FINITE)} that are not finite: each as expected")


if __name__ == "__main__":
    main()
