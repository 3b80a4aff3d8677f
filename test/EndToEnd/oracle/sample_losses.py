# ===- sample_losses.py - Loops that each sample ends for itself ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses of loops.py with `jax.vmap` of a `lax.while_loop` that ends before its bound: one
loop for all samples, in which each of them has its own counter."""

import jax
import jax.numpy as jnp
from jax import lax

from bounded_losses import LAYERS, WIDTH, layer, layers, mean_of_squares, until


def apart(p, x):
    """Each sample until it is small; the number of its trips is read."""

    def one(x):
        def body(state):
            i, y = state
            return i + 1, y * 0.7 + 0.1 * jnp.tanh(y @ p["up"] + p["bias"]) @ p["down"]

        i, y = until(lambda s: (s[0] < 8) & (jnp.max(jnp.abs(s[1])) > 0.6), body, (0, x), 8)
        return y * (1.0 + 0.1 * i)

    return mean_of_squares(jax.vmap(one)(x))


def own_layers(p, x):
    """As many layers as a sample needs, whose states it keeps; the last one is read by its number."""

    def one(x):
        def body(state):
            i, y, kept = state
            y = layer(jax.tree.map(lambda w: w[i], p), y) * 1.1
            return i + 1, y, lax.dynamic_update_index_in_dim(kept, jnp.sin(y), i, 0)

        start = 0, x, jnp.zeros((LAYERS, WIDTH))
        i, y, kept = until(lambda s: (s[0] < LAYERS) & (jnp.mean(jnp.square(s[1])) < 2.0), body, start, LAYERS)
        return y, kept, kept[i - 1]

    return mean_of_squares(*jax.vmap(one)(x))


def roots(p, x):
    """Square roots to the last bit: the distance has no derivative there. The counter goes down."""

    def one(x):
        a = 1.0 + jnp.square(x @ p["up"] + p["bias"])

        def body(state):
            i, y, _ = state
            z = (y + a / y) / 2
            return i - 2, z, jnp.sqrt(jnp.sum(jnp.square(z - y)))

        i, y, _ = until(lambda s: (s[2] > 0) & (s[0] >= 1), body, (40, a, jnp.inf), 20)
        return y @ p["down"] * (1.0 + 0.01 * i)

    return mean_of_squares(jax.vmap(one)(x))


def grown(p, x):
    """In each layer of a scan; samples of two dims."""

    def one(c, q):
        def each(c):
            goes_on = lambda s: (s[0] < 4) & (jnp.sum(jnp.square(s[1])) < 2.0 * jnp.sum(jnp.square(c)))
            return until(goes_on, lambda s: (s[0] + 1, layer(q, s[1])), (0, c), 4)[1]

        return jax.vmap(jax.vmap(each))(c), None

    return mean_of_squares(lax.scan(one, x.reshape(-1, 2, WIDTH), p)[0])


# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "apart": (apart, layers(), WIDTH),
    "own_layers": (own_layers, layers(LAYERS), WIDTH),
    "roots": (roots, layers(), WIDTH),
    "grown": (grown, layers(4), 2 * WIDTH),
}
