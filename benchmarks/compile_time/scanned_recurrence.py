# ===- scanned_recurrence.py - Layers of recurrences, both a lax.scan -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the loss of stacked gated recurrences, a lax.scan over layers with one over times in
each, as StableHLO; or the loss and its gradients by JAX.

    python scanned_recurrence.py --layers 12 --times 64 -o model.mlir
    python scanned_recurrence.py --layers 12 --times 64 --derived -o model.mlir
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp


def layer(sequence, p):
    def step(h, u):
        z, r, n = jnp.split(u @ p["in"] + p["bias"], 3, -1)
        a, b, c = jnp.split(h @ p["state"], 3, -1)
        z = jax.nn.sigmoid(z + a)
        h = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + b) * c) + z * h
        return h, h

    last, states = jax.lax.scan(step, jnp.zeros_like(sequence[0]), sequence)
    return sequence + states, last


def loss(params, x, y):
    sequence, lasts = jax.lax.scan(layer, x.swapaxes(0, 1), params["layers"])
    return jnp.mean(jnp.square(sequence[-1] @ params["out"] - y)) + 1e-4 * jnp.mean(jnp.square(lasts))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--layers", type=int, default=12)
    p.add_argument("--times", type=int, default=64)
    p.add_argument("--d", type=int, default=64)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--derived", action="store_true", help="with the gradients, by jax.value_and_grad")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, "float32")
    weights = {"in": f32(a.layers, a.d, 3 * a.d), "state": f32(a.layers, a.d, 3 * a.d), "bias": f32(a.layers, 3 * a.d)}
    params = {"layers": weights, "out": f32(a.d, a.d)}
    lowered = jax.jit(jax.value_and_grad(loss) if a.derived else loss).lower(params, f32(a.batch, a.times, a.d), f32(a.batch, a.d))
    a.output.write_text(lowered.as_text(debug_info=True), encoding="utf-8")


if __name__ == "__main__":
    main()
