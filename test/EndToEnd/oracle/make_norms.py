# ===- make_norms.py - A small model with batch norms ----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes test/EndToEnd/Inputs/batch-norms.mlir, as JAX prints it: three layers with batch norms.

Usage: python make_norms.py [file]
"""

import pathlib
import sys

import jax
import jax.numpy as jnp

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples" / "gpt"))

import make_gpt  # noqa: E402


def batch_norm(p, x):
    centred = x - jnp.mean(x, axis=0)
    variance = jnp.mean(jnp.square(centred), axis=0)
    return centred * (jax.lax.rsqrt(variance + 1e-5) * p["scale"]) + p["bias"]


def norms_loss(params, x):
    y = x
    for p in params["layers"]:
        y = jnp.tanh(batch_norm(p, y @ p["w"]))
    return jnp.mean(jnp.square(y - x))


def norms_text(batch=8, width=4):
    leaf = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    layer = {"w": leaf(width, width), "scale": leaf(width), "bias": leaf(width)}
    return make_gpt.text_of(norms_loss, {"layers": [layer] * 3}, leaf(batch, width))


if __name__ == "__main__":
    file = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "Inputs" / "batch-norms.mlir"
    file.write_text(norms_text(), encoding="utf-8")
