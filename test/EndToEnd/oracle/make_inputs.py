# ===- make_inputs.py - Small models for the end-to-end tests ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes the small models in test/EndToEnd/Inputs, as JAX prints them.

    gpt-tiny.mlir, gpt-tiny-f64.mlir    one layer of the GPT in examples/gpt
    mlp.mlir, mlp-f64.mlir              two layers, tanh, mean squared error
    counter.mlir                        a linear model of tokens with carried states
Usage: python make_inputs.py [folder]
"""

import pathlib
import sys

import jax
import jax.numpy as jnp

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples" / "gpt"))

import make_gpt  # noqa: E402

TINY = dict(layers=1, d=16, heads=2, seq=8, batch=2, vocab=256)


def mlp_loss(params, x, y):
    """Mean squared error of a stack of dense layers with tanh between them."""
    for p in params["layers"][:-1]:
        x = jnp.tanh(x @ p["w"] + p["b"])
    last = params["layers"][-1]
    return jnp.mean(jnp.square(x @ last["w"] + last["b"] - y))


def mlp_text(dtype, batch=4, widths=(6, 8, 3)):
    jax.config.update("jax_enable_x64", dtype == jnp.float64)
    leaf = lambda *shape: jax.ShapeDtypeStruct(shape, dtype)
    layers = [{"w": leaf(n, m), "b": leaf(m)} for n, m in zip(widths, widths[1:])]
    inputs = leaf(batch, widths[0]), leaf(batch, widths[-1])
    return make_gpt.text_of(mlp_loss, {"layers": layers}, *inputs)


def counter_loss(params, carried, tokens, targets):
    """Also counts its calls and sums its losses, in states that it hands on."""
    x = tokens.astype(jnp.float32) / 256
    y = targets.astype(jnp.float32) / 256
    loss = jnp.mean(jnp.square(x @ params["w"] + params["b"] - y))
    return loss, {"count": carried["count"] + 1, "total": carried["total"] + loss}


def counter_text(batch=4, seq=8):
    jax.config.update("jax_enable_x64", False)
    leaf = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    ids = jax.ShapeDtypeStruct((batch, seq), jnp.int32)
    carried = {"count": jax.ShapeDtypeStruct((), jnp.int32), "total": leaf()}
    params = {"w": leaf(seq, seq), "b": leaf(seq)}
    return make_gpt.text_of(counter_loss, params, carried, ids, ids)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "Inputs"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "gpt-tiny.mlir": make_gpt.gpt_text(make_gpt.Config(**TINY)),
        "gpt-tiny-f64.mlir": make_gpt.gpt_text(make_gpt.Config(**TINY, dtype="f64")),
        "mlp.mlir": mlp_text(jnp.float32),
        "mlp-f64.mlir": mlp_text(jnp.float64),
        "counter.mlir": counter_text(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
