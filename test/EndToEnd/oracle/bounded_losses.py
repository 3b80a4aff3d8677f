# ===- bounded_losses.py - Loops that the run ends ------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses of loops.py with a `lax.while_loop` that the run ends before its bound, and
the layers of all its losses."""

import jax
import jax.numpy as jnp
from jax import lax

import printed_ops

WIDTH, LAYERS = 6, 6


def layer(p, x):
    return x + jnp.tanh(x @ p["up"] + p["bias"]) @ p["down"]


def layers(*counts):
    """Shapes of stacked layers."""
    return {"up": (*counts, WIDTH, 8), "bias": (*counts, 8), "down": (*counts, 8, WIDTH)}


def mean_of_squares(*values):
    return sum(jnp.mean(jnp.square(v)) for v in values)


def until(goes_on, body, start, bound):
    """A while that the run ends, at last after `bound` trips. JAX has no reverse derivative of
    it: there each trip is a branch; the text for llmc has the while."""
    if not printed_ops.executed:
        return lax.while_loop(goes_on, body, start)
    return lax.scan(lambda s, _: (lax.cond(goes_on(s), body, lambda s: s, s), None), start, length=bound)[0]


def newton(p, x):
    """Square roots, until the worst of the batch is good enough."""
    a = 1.0 + jnp.square(x @ p["up"] + p["bias"])

    def body(state):
        i, y, _ = state
        y = (y + a / y) / 2
        return i + 1, y, jnp.max(jnp.abs(y * y - a))

    goes_on = lambda s: (s[0] < 20) & (s[2] > 1e-4)
    return mean_of_squares(until(goes_on, body, (0, a, jnp.inf), 20)[1] @ p["down"])


def fixed(p, x):
    """A layer's fixed point, to the last bit of many: the distance has no derivative there.
    What is not read decides the end."""

    def body(state):
        z, _, i = state
        y = jnp.tanh(0.1 * z @ p["up"] + p["bias"]) @ p["down"] * 0.3 + x
        return y, jnp.sqrt(jnp.sum(jnp.square(y - z))), i + 1

    goes_on = lambda s: (s[1] > 0.0) & (s[2] < 60)
    return mean_of_squares(until(goes_on, body, (x, jnp.inf, 0), 60)[0])


def ended(p, x):
    """The number of layers until the rows are large is read after the loop, as are layers by it,
    and whole stacks of them. The condition fails, and would hold again in the next trip."""

    def body(state):
        i, y = state
        return i + 1, layer(jax.tree.map(lambda w: w[i], p), y) * 1.3

    goes_on = lambda s: jnp.logical_and(jnp.mean(jnp.square(s[1])) < 4.0 + 40.0 * (s[0] % 2), s[0] < LAYERS)
    i, y = until(goes_on, body, (0, x), LAYERS)
    return mean_of_squares(y, p["up"][i - 1], p["bias"], p["down"]) * (1.0 + 0.1 * i)


def at_once(p, x):
    """The loop ends before the first trip, by what the run computes."""
    body = lambda s: (s[0] + 2, layer(p, s[1]))
    i, y = until(lambda s: (s[0] < 12) & (jnp.max(s[1]) < -9.0), body, (0, x), 6)
    return mean_of_squares(layer(p, y)) + i


def never(p, x):
    """The run would end a loop that comes to its bound."""
    body = lambda s: (s[0] - 1, layer(jax.tree.map(lambda w: w[s[0]], p), s[1]))
    i, y = until(lambda s: (s[0] >= 0) & (jnp.max(s[1]) < 1e9), body, (LAYERS - 1, x), LAYERS)
    return mean_of_squares(y) + i


def emptied(p, x):
    """A vessel runs empty, where its root has an infinite derivative."""

    def body(state):
        h, flow, i = state
        root = jnp.sqrt(h)
        return (h - 0.4 * root) * (h > 0.4 * root), flow + root, i + 1

    goes_on = lambda s: (s[0] > 0.0) & (s[2] < 12)
    return until(goes_on, body, (mean_of_squares(layer(p, x)), 0.0, 0), 12)[1]


def inside(p, x):
    """Each layer of a scan is repeated until it has grown, at most as often as a constant says."""

    def one(c, q):
        def body(state):
            i, y, grown = state
            y = layer(q, y)
            return i + 1, y, jnp.sum(jnp.square(y)) > 2.0 * jnp.sum(jnp.square(c))

        return until(lambda s: ~s[2] & (s[0] < 4), body, (0, c, False), 4)[1], None

    return mean_of_squares(lax.scan(one, x, p)[0])


def recorded(p, x):
    """What each trip makes is written into rows, of which those after the end stay; two values
    change places; both of two bounds count."""

    def body(state):
        i, j, a, b, rows = state
        y = layer(jax.tree.map(lambda w: w[i], p), a)
        rows = lax.dynamic_update_index_in_dim(rows, jnp.sin(y), i, 0)
        return i + 1, j - 2, b, y, rows

    goes_on = lambda s: ((s[0] < 9) & (jnp.mean(jnp.square(s[3])) < 6.0)) & (s[1] > 0)
    rows = jnp.broadcast_to(x, (8, *x.shape))
    _, j, a, b, rows = until(goes_on, body, (0, 15, x, 0.5 * x, rows), 8)
    return mean_of_squares(a, b, rows) * j


# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "newton": (newton, layers(), WIDTH),
    "fixed": (fixed, layers(), WIDTH),
    "ended": (ended, layers(LAYERS), WIDTH),
    "at_once": (at_once, layers(), WIDTH),
    "never": (never, layers(LAYERS), WIDTH),
    "emptied": (emptied, layers(), WIDTH),
    "inside": (inside, layers(4), WIDTH),
    "recorded": (recorded, layers(8), WIDTH),
}
