#!/usr/bin/env python3
# ===- run.py - llmc against JAX and PyTorch on one ResNet-18 step --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The ResNet-18 step of `versus.py`: writes RESULTS.md.

    python run.py --llmc ../../build/dev/bin/llmc --torch-python <python with torch>

The model's text is printed by JAX at run time, so jax must be importable by --jax-python.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import model  # noqa: E402
import pictures  # noqa: E402
import sizes  # noqa: E402
import versus  # noqa: E402

CONFIG = """\
[[init]]
match = "*.scale"
draw = "ones"
[[init]]
match = "*.bias"
draw = "zeros"
[[init]]
match = "*"
draw = "normal"
std = 0.05
[optimizer]
name = "momentum"
lr = 0.05
momentum = 0.9
[training]
loss = "mean of microbatches"
"""


def write_inputs(folder, s):
    """The configuration and random pictures in `folder`."""
    pictures.write_pictures(folder, s)
    (folder / "model.toml").write_text(pictures.CONFIG + CONFIG, encoding="utf-8")


BENCHMARK = versus.Benchmark(
    folder=HERE,
    title="ResNet-18 train step",
    size=model.Size,
    describe=lambda s: f"ResNet-18 for {s.pixels} x {s.pixels} pictures, batch {s.batch}, f32, batch norm, "
    "SGD with momentum",
    work="convolutions",
    optimizer="momentum",
    write_inputs=write_inputs,
    data=pictures.DATA,
    text_command=lambda s: [HERE / "network.py", *sizes.size_flags(s)],
    torch_flags=((), ("--features-inside",), ("--compile",)),
)

if __name__ == "__main__":
    versus.main(BENCHMARK)
