# ===- scanned_gpt.py - A GPT whose layers are a lax.scan -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the loss of a GPT with stacked layers as StableHLO, or with its gradients.

    python scanned_gpt.py --layers 12 -o model.mlir
    python scanned_gpt.py --layers 12 --derived -o model.mlir
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp

VOCABULARY, HEADS = 256, 4


def normalize(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["g"] + p["b"]


def attend(p, x):
    batch, length, width = x.shape
    heads = lambda t: t.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)
    q, k, v = map(heads, jnp.split(x @ p["qkv"], 3, -1))
    scores = q @ k.transpose(0, 1, 3, 2) * (width // HEADS) ** -0.5
    seen = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["o"]


def layer(x, p):
    x = x + attend(p, normalize(p["ln1"], x))
    return x + jax.nn.gelu(normalize(p["ln2"], x) @ p["up"]) @ p["down"], None


def loss(params, tokens, targets):
    x = params["wte"][tokens] + params["wpe"]
    x, _ = jax.lax.scan(layer, x, params["blocks"])
    scores = jax.nn.log_softmax(normalize(params["lnf"], x) @ params["wte"].T)
    return -jnp.mean(jnp.take_along_axis(scores, targets[..., None], -1))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--layers", type=int, default=12)
    p.add_argument("--d", type=int, default=256)
    p.add_argument("--seq", type=int, default=128)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--derived", action="store_true", help="by jax.value_and_grad")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, "float32")
    norm = lambda *counts: {"g": f32(*counts, a.d), "b": f32(*counts, a.d)}
    params = {
        "wte": f32(VOCABULARY, a.d),
        "wpe": f32(a.seq, a.d),
        "lnf": norm(),
        "blocks": {
            "ln1": norm(a.layers),
            "ln2": norm(a.layers),
            "qkv": f32(a.layers, a.d, 3 * a.d),
            "o": f32(a.layers, a.d, a.d),
            "up": f32(a.layers, a.d, 4 * a.d),
            "down": f32(a.layers, 4 * a.d, a.d),
        },
    }
    tokens = jax.ShapeDtypeStruct((a.batch, a.seq), "int32")
    function = jax.value_and_grad(loss) if a.derived else loss
    a.output.write_text(jax.jit(function).lower(params, tokens, tokens).as_text(debug_info=True), encoding="utf-8")


if __name__ == "__main__":
    main()
