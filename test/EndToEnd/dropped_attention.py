# ===- dropped_attention.py - Attention whose weights are dropped -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the loss of one causal attention with dropout, as JAX lowers it, and its configuration:

    python dropped_attention.py -o out
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp

BATCH, HEADS, TIMES, DEPTH = 2, 4, 512, 8
WIDTH = HEADS * DEPTH
CONFIGURATION = """[data.x]
kind = "array"
file = "x.npy"
[optimizer]
name = "sgd"
lr = 0.1
[[init]]
match = "*"
draw = "normal"
"""


def loss(p, carried, x):
    key = jax.random.fold_in(jax.random.key(7), carried["step"])
    q, k, v = ((x @ p[name]).reshape(BATCH, TIMES, HEADS, DEPTH) for name in ("wq", "wk", "wv"))
    s = jnp.einsum("bthd,bshd->bhts", q, k) * DEPTH**-0.5
    s = jnp.where(jnp.tril(jnp.ones((TIMES, TIMES), bool)), s, -jnp.inf)
    w = jax.nn.softmax(s)
    w = jnp.where(jax.random.bernoulli(key, 0.9, w.shape), w / 0.9, 0.0)
    out = jnp.einsum("bhts,bshd->bthd", w, v).reshape(x.shape)
    return jnp.mean(out**2), {"step": carried["step"] + 1}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    jax.config.update("jax_platforms", "cpu")
    params = {name: jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32) for name in ("wq", "wk", "wv")}
    carried = {"step": jax.ShapeDtypeStruct((), jnp.int32)}
    x = jax.ShapeDtypeStruct((BATCH, TIMES, WIDTH), jnp.float32)
    a.output.mkdir(parents=True, exist_ok=True)
    text = jax.jit(loss).lower(params, carried, x).as_text(debug_info=True)
    (a.output / "model.mlir").write_text(text, encoding="utf-8")
    (a.output / "model.toml").write_text(CONFIGURATION, encoding="utf-8")


if __name__ == "__main__":
    main()
