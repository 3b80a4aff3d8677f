# ===- derived_nests.py - Loops in each other that JAX has differentiated ---=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of loops.py that are printed with their derivative alone: how the loops of a nest and
those of its derivative stand in each other is up to JAX."""

import jax
import jax.numpy as jnp
from jax import lax

from bounded_losses import WIDTH, layer, layers, mean_of_squares
from nested_losses import DEEP, GROUPS, TIMES, sequence


def counters(p, x):
    """Counted loops, of which both numbers pick the weights, the outer one from the end."""

    def one(i, h):
        def step(j, s):
            q = jax.tree.map(lambda w: w[GROUPS - 1 - i, j], p)
            return layer(q, s) * (1.0 + 0.1 * j) + 0.01 * i

        return lax.fori_loop(0, GROUPS + 1, step, h)

    return mean_of_squares(lax.fori_loop(0, GROUPS, one, x))


def picked(p, x):
    """The run chooses a branch in an inner trip, and the number of the trip what is carried."""

    def one(h, q):
        def step(c, iu):
            i, u = iu
            y = lax.cond(q["bias"][0] > 0, lambda c: layer(q, c + u), lambda c: jnp.sin(c @ q["up"]) @ q["down"], c)
            return jnp.where(i % 2 == 0, y, c), y

        c, ys = lax.scan(step, h, (jnp.arange(TIMES), sequence(x)))
        return c, ys.mean(0)

    h, ys = lax.scan(one, x, p)
    return mean_of_squares(h, ys)


@jax.custom_vjp
def chain(q, s, x):
    return lax.scan(lambda c, u: (layer(q, c + u), None), x, s)[0]


def chain_forward(q, s, x):
    y, states = lax.scan(lambda c, u: (layer(q, c + u), c), x, s)
    return y, (q, s, states)


def chain_backward(kept, g):
    q, s, states = kept

    def step(carry, row):
        g, total = carry
        own, dv = jax.vjp(layer, q, row[0] + row[1])[1](g)
        return (dv, jax.tree.map(jnp.add, total, own)), dv

    start = (g, jax.tree.map(jnp.zeros_like, q))
    (g, total), rows = lax.scan(step, start, (states, s), reverse=True)
    return total, rows, g


chain.defvjp(chain_forward, chain_backward)


def ruled(p, x):
    """The inner loop has a derivative that the user has written, with a loop in it."""
    return mean_of_squares(lax.scan(lambda h, q: (chain(q, sequence(x) + h, h), None), x, p)[0])


def penalty(p, x):
    """The gradient by the input is part of the loss: loops are undone twice."""

    def total(x):
        def one(h, q):
            return lax.scan(lambda c, u: (layer(q, c + 0.1 * u), None), h, sequence(h))[0], None

        return jnp.sum(jnp.square(lax.scan(one, x, p)[0]))

    return mean_of_squares(jax.grad(total)(x)) + total(x) / x.size


def descents(p, x):
    """Each layer's state descends a loss for some steps, in each of which a loop is undone."""

    def one(h, q):
        def cost(h):
            return jnp.sum(jnp.square(lax.scan(lambda c, u: (layer(q, c + u), None), h, sequence(x))[0]))

        return lax.scan(lambda h, _: (h - 0.002 * jax.grad(cost)(h), None), h, None, length=4)[0], None

    return mean_of_squares(lax.scan(one, x, p)[0])


def tangents(p, x):
    """Of the inner loop the forward derivative, too."""

    def one(h, q):
        run = lambda h: lax.scan(lambda c, u: (layer(q, c + u), None), h, sequence(x))[0]
        y, t = jax.jvp(run, (h,), (jnp.ones_like(h),))
        return y + 0.1 * t, None

    return mean_of_squares(lax.scan(one, x, p)[0])


def batched(p, x):
    """A loop for each sample, of which JAX makes one."""

    def one(h, q):
        step = lambda c, u: (layer(q, c[None])[0] * u, c)
        y, states = jax.vmap(lambda v: lax.scan(step, v, jnp.arange(1.0, TIMES + 1.0)))(h)
        return y, states.mean(1)

    h, states = lax.scan(one, x, p)
    return mean_of_squares(h, states)


def policy(p, x):
    """Trips of both loops are computed again, but for their products."""
    again = lambda f: jax.checkpoint(f, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)

    def one(h, q):
        c, waves = lax.scan(again(lambda c, u: (layer(q, c + u), jnp.sin(c))), h, sequence(x))
        return c, waves.mean(0)

    h, waves = lax.scan(again(one), x, p)
    return mean_of_squares(h, waves)


def maps(p, x):
    """Nothing is carried by the inner loop, which is computed again."""

    def one(h, q):
        return h + jnp.mean(lax.map(jax.checkpoint(lambda u: layer(q, h + u)), sequence(x)), 0), None

    return mean_of_squares(lax.scan(one, x, p)[0])


def both_ends(p, x):
    """Layers that go over times from either end."""

    def one(s, q):
        step = lambda c, u: (jnp.tanh(layer(q, c + u)),) * 2
        ends = [lax.scan(step, jnp.zeros_like(x), s, reverse=r)[1] for r in (False, True)]
        return ends[0] + ends[1] + s, None

    return mean_of_squares(lax.scan(one, sequence(x), p)[0])


def undone(p, x):
    """A layer that is computed again has two loops, of which the second goes back over the first."""

    def one(h, q):
        a, stack = lax.scan(lambda c, u: (layer(q, c + u), c), h, sequence(x))
        b = lax.fori_loop(0, TIMES, lambda i, c: layer(q, c) + stack[TIMES - 1 - i], a * 0.5)
        return jnp.tanh(a + b), jnp.mean(stack, axis=0)

    h, means = lax.scan(jax.checkpoint(one), x, p)
    return mean_of_squares(h, means)


def norms(p, x):
    """Gradients of parts of the samples are added up by a loop, and are part of the loss."""

    def cost(p, x):
        return mean_of_squares(lax.scan(lambda h, q: (layer(q, h), None), x, p)[0])

    def part(total, rows):
        return jax.tree.map(jnp.add, total, jax.value_and_grad(cost)(p, rows)), None

    parts = jnp.stack([x * jnp.sin(1.0 + t) for t in range(GROUPS)])
    (value, g), _ = lax.scan(part, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, p)), parts)
    return value + 0.01 * sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(g))


MIXED = ["penalty", "descents", "norms"]
PLAIN = [picked, ruled, penalty, descents, tangents, batched, policy, maps, both_ends, undone, norms]
CASES = {
    "counters": (counters, layers(GROUPS, GROUPS + 1), WIDTH),
    **{loss.__name__: (loss, layers(DEEP), WIDTH) for loss in PLAIN},
}
