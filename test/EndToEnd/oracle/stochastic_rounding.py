# ===- stochastic_rounding.py - Parameters of bf16 that move in small steps - === #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Adds 1/8 of a last bit to each of 2 x 4,096 parameters of bf16 that are 1, for 40 steps.

Rounded to nearest they stay 1. With `training.rounding = "stochastic"`:
    the mean grows as it would in f32, within 4 deviations of what so many draws have, and each
    step raises an eighth of the parameters, within 5
    parameters that are named otherwise, steps and seeds draw other bits: as many agree as by chance
    other layouts draw the same bits

So it is with parameters of f16 that are 1, and with some that are 0, where a last bit is f16's least
number; a 512th of that raises a 512th of them. What is too large for f16 is an infinity, and a number
between its largest one and half a bit more is the largest.

    python stochastic_rounding.py --llmc llmc -o out
"""

import argparse
import dataclasses
import math
import pathlib
import subprocess
import sys

import arrays
import numpy as np

SIZE, STEPS = 64, 40


@dataclasses.dataclass
class Case:
    """Parameters of a type that begin as they are drawn, a last bit, and the share of it that is added."""

    type: str
    draw: str
    bit: float
    chance: float = 1 / 8


CASES = {
    "bf16": Case("bf16", "ones", 2.0**-7),
    "f16": Case("f16", "ones", 2.0**-10),
    "small": Case("f16", "zeros", 2.0**-24),
    "tiny": Case("f16", "zeros", 2.0**-24, 1 / 512),
}
LAYOUTS = {
    "one": ("", ""),
    "zero1": ('match = "*"\nrest = [["data"]]\nuse = []', "data=2"),
    "zero3": ('match = "*"\nrest = [["data"]]\nuse = []\ngradient = [["data"]]', "data=3"),
    "tensor": ('match = "*"\nrest = [[], ["tensor"]]', "data=2,tensor=2"),
}
MODEL = """module @m {
  func.func public @main(%v: tensor<64x64xbf16> loc("p['v']"), %w: tensor<64x64xbf16> loc("p['w']"), %x: tensor<12x64xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<12.0> : tensor<f32>
    %0 = stablehlo.convert %v : (tensor<64x64xbf16>) -> tensor<64x64xf32>
    %1 = stablehlo.convert %w : (tensor<64x64xbf16>) -> tensor<64x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
    %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<12x64xf32>, tensor<64x64xf32>) -> tensor<12x64xf32>
    %4 = stablehlo.negate %3 : tensor<12x64xf32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x64xf32>, tensor<f32>) -> tensor<f32>
    %6 = stablehlo.divide %5, %count : tensor<f32>
    return %6 : tensor<f32>
  }
}
"""
CONFIG = """[mesh]
axes = ["data", "tensor"]
[data]
kind = "array"
[data.inputs]
x = 0
[[init]]
match = "*"
draw = "%s"
[[layout]]
input = "*"
dims = [["data"]]
[optimizer]
name = "sgd"
lr = %s
"""


def train(a, layout, rounding, seed=1, steps=STEPS, case="bf16", rate=None):
    """Both parameters after each step."""
    (table, mesh), of = LAYOUTS[layout], CASES[case]
    out = a.output / f"{case}-{layout}-{rounding}-{seed}-{rate}"
    out.mkdir(parents=True, exist_ok=True)
    config = CONFIG % (of.draw, rate or of.bit * of.chance)
    (out / "config.toml").write_text(config + (f"[[layout]]\n{table}\n" if table else ""))
    (out / "model.mlir").write_text(MODEL.replace("bf16", of.type))
    command = [a.llmc, "train", out / "model.mlir", "--config", out / "config.toml", "--steps", steps]
    command += ["--set", f"training.rounding={rounding}", "--set", f"training.seed={seed}"]
    command += ["--data", a.output / "data.safetensors", "--fetch", "v,w", "--fetch-each-step", "--dump", out]
    command += ["--mesh", mesh] if mesh else []
    process = subprocess.run(list(map(str, command)), text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"error: expected a run, got exit code {process.returncode}: {process.stderr[-2000:]}")
    load = lambda name: np.load(out / name).astype(np.float64)
    return {name: np.stack([load(f"step-{s}.{name}.npy") for s in range(steps)]) for name in "vw"}


def deviations(found, chance, draws):
    """How far the share of `draws` draws is from the chance."""
    return abs(found - chance) / math.sqrt(chance * (1 - chance) / draws)


def check_chance(values, case="bf16"):
    chance, bit = CASES[case].chance, CASES[case].bit
    begin = np.full((1, SIZE, SIZE), float(CASES[case].draw == "ones"))
    for name, steps in values.items():
        raised = np.diff(np.concatenate([begin, steps]), axis=0) / bit
        if not np.isin(raised, (0, 1)).all():
            yield f"expected {name} to stay or to go up by a bit, got {np.unique(raised)}"
        if not deviations(raised.mean(), chance, raised.size) < 4:
            yield f"{name} is {deviations(raised.mean(), chance, raised.size):.1f} deviations off in all steps"
        worst = max(deviations(step.mean(), chance, step.size) for step in raised)
        if not worst < 5:
            yield f"{name} is {worst:.1f} deviations off in a step"


def check_apart(one, other, what):
    """Independent draws both raise, or both keep, with the chance of two."""
    chance = CASES["bf16"].chance
    same = chance**2 + (1 - chance) ** 2
    if not deviations(np.mean(one == other), same, one.size) < 5:
        yield f"expected other bits of {what}, {np.mean(one == other):.3f} agree and not {same:.3f}"


def check_half(a):
    """Parameters of f16."""
    for case in ("f16", "small", "tiny"):
        values = train(a, "one", "stochastic", case=case)
        yield from (f"{case}: {fault}" for fault in check_chance(values, case))
        if case == "tiny":
            continue
        other = train(a, "zero3", "stochastic", steps=4, case=case)
        if any((other[name] != values[name][:4]).any() for name in values):
            yield f"expected the bits of one device of {case} in zero3"
    for rate, want in {65510.0: 65504.0, 65530.0: math.inf}.items():
        found = train(a, "one", "stochastic", steps=1, case="small", rate=rate)["v"]
        if not (found == want).all():
            yield f"expected {want} of what is {rate}, got {np.unique(found)}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    arrays.write_safetensors(a.output / "data.safetensors", {"data": np.ones((48, SIZE), np.float32)})
    faults = []
    if not all((value == 1).all() for value in train(a, "one", "nearest", steps=3).values()):
        faults.append("expected parameters that are rounded to nearest to stay")
    values = train(a, "one", "stochastic")
    faults += check_chance(values)
    first, second = ({name: v[step] - (v[step - 1] if step else 1) for name, v in values.items()} for step in (0, 1))
    seeded = train(a, "one", "stochastic", seed=2, steps=1)
    faults += check_apart(first["v"], first["w"], "another parameter")
    faults += check_apart(first["w"], second["w"], "another step")
    faults += check_apart(first["w"], seeded["w"][0] - 1, "another seed")
    for layout in list(LAYOUTS)[1:]:
        other = train(a, layout, "stochastic", steps=4)
        if any((other[name] != values[name][:4]).any() for name in values):
            faults.append(f"expected the bits of one device in {layout}")
    faults += check_half(a)
    mean, of = values["w"][-1].mean(), CASES["bf16"]
    print(f"mean {mean:.5f}, expected {1 + STEPS * of.bit * of.chance:.5f}; {len(LAYOUTS)} layouts", *faults, sep="; ")
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
