#!/usr/bin/env python3
# ===- run.py - llmc against JAX and PyTorch on one GPT step --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The GPT step of `versus.py`: writes RESULTS.md.

    python run.py --llmc ../../build/dev/bin/llmc --torch-python <python with torch>

The model's text is printed by JAX at run time, so jax must be importable by --jax-python.
"""

import array
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import model  # noqa: E402
import sizes  # noqa: E402
import versus  # noqa: E402

CONFIG = """\
[data]
file = "ids.bin"
dtype = "u16"
[data.inputs]
tokens = 0
targets = 1
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
    """The configuration and random token ids in `folder`."""
    g = random.Random(0)
    ids = array.array("H", (g.randrange(s.vocab) for _ in range(64 * s.tokens)))
    (folder / "ids.bin").write_bytes(ids.tobytes())
    (folder / "model.toml").write_text(CONFIG, encoding="utf-8")


BENCHMARK = versus.Benchmark(
    folder=HERE,
    title="GPT train step",
    size=model.Size,
    describe=lambda s: f"{s.layers} layers, d {s.d}, {s.heads} heads, T {s.seq}, B {s.batch}, V {s.vocab}, f32, AdamW",
    work="contractions",
    optimizer="AdamW",
    write_inputs=write_inputs,
    data=["ids.bin"],
    text_command=lambda s: [HERE.parents[1] / "examples" / "gpt" / "make_gpt.py", *sizes.size_flags(s)],
)

if __name__ == "__main__":
    versus.main(BENCHMARK)
