# ===- nested_losses.py - Losses with loops in each other -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses in which a loop that is kept has another one in its trips; see loops.py."""

import jax
import jax.numpy as jnp
from jax import lax

from bounded_losses import WIDTH, layer, layers, mean_of_squares

TIMES, GROUPS, DEEP = 5, 4, 6


def sequence(x):
    """Times of a sample."""
    return jnp.stack([x * jnp.cos(1.0 * t) for t in range(TIMES)])


def gated(p, x):
    """Layers of recurrences: two states, of which one leaves each time and both the layer, and
    the layer goes on with all times of it."""

    def one(state, q):
        def step(state, u):
            h, c = state
            f = jax.nn.sigmoid(u @ q["up"] + q["bias"])
            c = c * 0.5 + jnp.tanh(f @ q["down"] + h)
            h = jnp.sin(c) * u
            return (h, c), h

        start = (jnp.zeros_like(x), state[1] + x)
        (h, c), hs = lax.scan(step, start, state[0])
        return (hs + state[0], c), jnp.mean(h * c)

    (hs, c), sums = lax.scan(one, (sequence(x), x), p)
    return mean_of_squares(hs, c) + jnp.mean(sums * jnp.arange(1.0, len(sums) + 1.0))


def backwards(p, x):
    """Both loops from the last trip on, recomputed; what the outer one carries enters the inner
    one as it is, and both stack."""

    def one(h, q):
        def step(s, u):
            s = layer(q, s) + u * h
            return s, jnp.sin(s)

        s, waves = lax.scan(step, jnp.cos(h), sequence(x), reverse=True)
        return s, waves

    h, waves = lax.scan(jax.checkpoint(one), x, p, reverse=True)
    return mean_of_squares(h, waves[1:]) + jnp.mean(waves[0] * waves[-1])


def grid(p, x):
    """Weights of each pair of trips, numbers of both, and a weight that all trips share."""
    stacks = {n: p[n] for n in ("up", "bias", "down")}

    def group(state, r):
        h, total = state
        n, rows = r

        def one(c, q):
            i, w = q
            y = layer(w, c * (1.0 + 0.1 * i)) @ p["mix"] + 0.01 * n * h
            return y, jnp.mean(jnp.square(y)) * w["bias"][0]

        c, sums = lax.scan(one, jnp.tanh(h @ p["mix"]), (jnp.arange(GROUPS + 1) * 1.0, rows))
        return (c + h, total + jnp.sum(sums)), c

    (h, total), cs = lax.scan(group, (x, 0.0), (jnp.arange(GROUPS) * 1.0, stacks))
    return mean_of_squares(h, cs[1:3]) + total


def parts(p, x):
    """A loop over parts of the samples around one over layers, whose weights all parts share."""

    def one(total, part):
        y, states = lax.scan(lambda c, q: (layer(q, c), c), part, p)
        return total + jnp.sum(jnp.square(y)), jnp.mean(states[1:], axis=0)

    rows = jnp.stack([x * jnp.sin(1.0 + t) for t in range(GROUPS)])
    total, states = lax.scan(one, 0.0, rows)
    return total / x.size + mean_of_squares(states)


def two(p, x):
    """Two loops in one trip: the second reads what the first has stacked, from its end on."""

    def one(h, q):
        a, stack = lax.scan(lambda c, u: (layer(q, c + u), c), h, sequence(x))
        b = lax.fori_loop(0, TIMES, lambda i, c: layer(q, c) + stack[TIMES - 1 - i], a * 0.5)
        return jnp.tanh(a + b), jnp.mean(stack, axis=0)

    h, means = lax.scan(one, x, p)
    return mean_of_squares(h, means)


def deep(p, x, wrap=lambda f: f):
    """Three loops in each other."""

    def group(h, r):
        def one(c, q):
            def step(s, u):
                s = 0.5 * layer(q, s) + 0.1 * u * h
                return s, jnp.sin(s)

            s, waves = lax.scan(step, c, sequence(x))
            return s + 0.5 * c, jnp.mean(waves, axis=0)

        c, waves = lax.scan(wrap(one), jnp.cos(h), r)
        return jnp.tanh(c), waves

    h, waves = lax.scan(wrap(group), x, p)
    return mean_of_squares(h, waves)


def again(p, x):
    """Three loops in each other, of which the trips of two are computed again."""
    return deep(p, x, jax.checkpoint)


def seen(p, x):
    """Trips of the inner loop read rows of a weight, and all of it."""
    stacks = {n: p[n] for n in ("up", "bias", "down")}

    def one(h, q):
        def step(c, b):
            return jnp.tanh(layer(q, c) + b + jnp.mean(p["mix"], axis=0)), None

        return lax.scan(step, h, p["mix"])[0] + 0.5 * h, None

    return mean_of_squares(lax.scan(one, x, stacks)[0])


def attended(p, x):
    """Attention in layers, by parts of queries, which go over parts of keys: the sums of a row
    so far are scaled again where its maximum grows."""

    def one(h, q):
        keys = jnp.sin(h) @ q["up"] + q["bias"]
        parts = lambda v: v.reshape(GROUPS, 2, *v.shape[1:])

        def row(queries):
            def step(state, kv):
                most, weight, total = state
                scores = jnp.einsum("ibd,jbd->bij", queries, kv[0])
                new = jnp.maximum(most, scores.max(-1))
                weights, scale = jnp.exp(scores - new[..., None]), jnp.exp(most - new)
                total = total * scale[..., None] + jnp.einsum("bij,jbw->biw", weights, kv[1])
                return (new, weight * scale + weights.sum(-1), total), None

            start = jnp.full((x.shape[0], 2), -30.0)
            state = (start, jnp.zeros_like(start), jnp.zeros((*start.shape, WIDTH)))
            _, weight, total = lax.scan(step, state, (parts(keys), parts(keys @ q["down"])))[0]
            return (total / weight[..., None]).swapaxes(0, 1)

        return h + lax.map(row, parts(h @ q["up"])).reshape(h.shape), None

    tokens = jnp.stack([x * jnp.cos(1.0 * t) for t in range(2 * GROUPS)])
    return mean_of_squares(lax.scan(one, tokens, p)[0])


CASES = {
    "gated": (gated, layers(DEEP), WIDTH),
    "backwards": (backwards, layers(DEEP), WIDTH),
    "grid": (grid, {"mix": (WIDTH, WIDTH), **layers(GROUPS, GROUPS + 1)}, WIDTH),
    "parts": (parts, layers(DEEP), WIDTH),
    "two": (two, layers(DEEP), WIDTH),
    "seen": (seen, {"mix": (WIDTH, WIDTH), **layers(DEEP)}, WIDTH),
    "attended": (attended, layers(DEEP), WIDTH),
    "deep": (deep, layers(GROUPS, GROUPS + 1), WIDTH),
    "again": (again, layers(GROUPS, GROUPS + 1), WIDTH),
}
