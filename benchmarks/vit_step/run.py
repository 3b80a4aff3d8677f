#!/usr/bin/env python3
# ===- run.py - llmc against JAX and PyTorch on one ViT-S/16 step ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The ViT-S/16 step of `versus.py`: writes RESULTS.md.

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
match = "*.b"
draw = "zeros"
[[init]]
match = "*"
draw = "normal"
std = 0.02
[optimizer]
name = "adamw"
lr = 3e-4
beta1 = 0.9
beta2 = 0.95
eps = 1e-8
weight_decay = 0.1
"""


def write_inputs(folder, s):
    """The configuration and random pictures in `folder`."""
    pictures.write_pictures(folder, s)
    (folder / "model.toml").write_text(pictures.CONFIG + CONFIG, encoding="utf-8")


BENCHMARK = versus.Benchmark(
    folder=HERE,
    title="ViT-S/16 train step",
    size=model.Size,
    describe=lambda s: f"{s.layers} layers, d {s.d}, {s.heads} heads, pictures of {s.pixels} x {s.pixels} in patches of "
    f"{s.patch} x {s.patch}, batch {s.batch}, f32, AdamW",
    work="products",
    optimizer="AdamW",
    write_inputs=write_inputs,
    data=pictures.DATA,
    text_command=lambda s: [HERE / "network.py", *sizes.size_flags(s)],
)

if __name__ == "__main__":
    versus.main(BENCHMARK)
