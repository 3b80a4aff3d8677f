# ===- nested_step_cases.py - Whole steps with loops in each other ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Finished steps for train_steps.py that JAX has differentiated, of losses in which a loop
has another one in its trips: forward and backward stay loops on all levels."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from loop_step_cases import count, descend, descend_clipped
from train_step_cases import Example, adam, adam_state, batch_of, rows

TIMES, WIDTH, LAYERS = 5, 6, 4


def normal(rng, **shapes):
    return {n: rng.normal(size=s) * 0.4 for n, s in shapes.items()}


def step_of(loss, shapes, x_shape, optimize, state, layout=""):
    """A case: `loss(p, x)`, and `optimize(p, state, g)` with `state(p)` at first."""

    def make(rng):
        def train_step(params, opt_state, x):
            value, g = jax.value_and_grad(loss)(params, x)
            params, opt_state = optimize(params, opt_state, g)
            return params, opt_state, value

        p = normal(rng, **shapes)
        return Example(train_step, (p, state(p)), {"x": batch_of(rng, x_shape, 2)["x"]}, layout)

    return make


def with_adam(p, s, g):
    return adam(p, s, g, 0.01)


def mean_of_squares(*values):
    return sum(jnp.mean(jnp.square(v)) for v in values)


# ===------------------------------------------------------------------------=== #
# Recurrences over times in a scan over layers
# ===------------------------------------------------------------------------=== #

GRU = {"in": (LAYERS, WIDTH, 3 * WIDTH), "state": (LAYERS, WIDTH, 3 * WIDTH), "bias": (LAYERS, 3 * WIDTH)}


def gru_step(q, h, u):
    z, r, n = jnp.split(u @ q["in"] + q["bias"], 3, -1)
    a, b, c = jnp.split(h @ q["state"], 3, -1)
    z = jax.nn.sigmoid(z + a)
    return (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + b) * c) + z * h


def gru(wrap_layer=lambda f: f, wrap_step=lambda f: f, wrap_all=lambda f: f):
    """The layers, of which a layer, a time of it, or all may be computed again."""

    def loss(p, x):
        def layer(sequence, q):
            step = wrap_step(lambda h, u: (gru_step(q, h, u),) * 2)
            last, states = lax.scan(step, jnp.zeros_like(sequence[0]), sequence)
            return sequence + states, last

        run = wrap_all(lambda p, sequence: lax.scan(wrap_layer(layer), sequence, p))
        sequence, lasts = run(p, x.swapaxes(0, 1))
        return mean_of_squares(sequence[-1], lasts)

    return loss


def masked_gru(p, x):
    """Times that a mask of the data hides keep the state; a weight that all layers share."""
    q = {n: p[n] for n in GRU}
    mask = (x[..., 0] > -0.5).swapaxes(0, 1)

    def layer(sequence, q):
        def step(h, ut):
            u, seen = ut
            new = gru_step(q, h, u) @ p["mix"]
            h = jnp.where(seen[:, None], new, h)
            return h, h

        last, states = lax.scan(step, jnp.zeros_like(sequence[0]), (sequence, mask))
        return sequence + jnp.where(mask[..., None], states, 0.0), last

    sequence, lasts = lax.scan(layer, x.swapaxes(0, 1), q)
    return mean_of_squares(sequence, lasts @ p["mix"])


def lstm(p, x):
    """The layers go over times from either end, in turn: here from the last on."""

    def layer(sequence, q):
        def step(state, u):
            h, c = state
            i, f, g, o = jnp.split(u @ q["in"] + h @ q["state"] + q["bias"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros_like(sequence[0])
        (_, c), states = lax.scan(step, (zero, zero), sequence, reverse=True)
        return states + 0.5 * sequence, c

    sequence, cells = lax.scan(layer, x.swapaxes(0, 1), p)
    return mean_of_squares(sequence[0], cells)


# ===------------------------------------------------------------------------=== #
# Other nests
# ===------------------------------------------------------------------------=== #


def chunked(p, x):
    """Attention blocks whose queries go over chunks of keys, with sums that are scaled again."""

    def block(h, q):
        keys = (h @ q["k"]).reshape(-1, TIMES, 2, WIDTH).swapaxes(0, 1)
        values = (h @ q["v"]).reshape(-1, TIMES, 2, WIDTH).swapaxes(0, 1)
        queries = h @ q["q"] / WIDTH**0.5

        def chunk(state, kv):
            most, weight, total = state
            scores = jnp.einsum("bid,bjd->bij", queries, kv[0])
            new = jnp.maximum(most, lax.stop_gradient(scores.max(-1)))
            weights, scale = jnp.exp(scores - new[..., None]), jnp.exp(most - new)
            total = total * scale[..., None] + jnp.einsum("bij,bjd->bid", weights, kv[1])
            return (new, weight * scale + weights.sum(-1), total), None

        start = jnp.full(h.shape[:2], -30.0, h.dtype)
        (_, weight, total), _ = lax.scan(chunk, (start, jnp.zeros_like(start), jnp.zeros_like(h)), (keys, values))
        h = h + total / weight[..., None]
        return h + jnp.tanh(h @ q["up"]) @ q["down"], None

    return mean_of_squares(lax.scan(block, x, p)[0])


def layers_of(p, x):
    def layer(h, q):
        return h + jnp.tanh(h @ q["up"] + q["bias"]) @ q["down"], None

    return mean_of_squares(lax.scan(layer, x, p)[0])


def accumulated(loss, shapes, x_shape, parts=4):
    """Gradients of parts of the batch are added up by a loop, with those of the loss in it."""

    def make(rng):
        def train_step(params, opt_state, x):
            def part(total, rows):
                value, g = jax.value_and_grad(loss)(params, rows)
                return jax.tree.map(jnp.add, total, (value, g)), None

            start = (jnp.zeros((), x.dtype), jax.tree.map(jnp.zeros_like, params))
            pieces = x.reshape(-1, parts, *x.shape[1:]).swapaxes(0, 1)
            total, _ = lax.scan(part, start, pieces)
            value, g = jax.tree.map(lambda t: t / parts, total)
            params, opt_state = with_adam(params, opt_state, g)
            return params, opt_state, value

        p = normal(rng, **shapes)
        return Example(train_step, (p, adam_state(p)), {"x": batch_of(rng, x_shape, 2)["x"]}, "")

    return make


def orthogonal(p, s, g):
    """Momentum that loops in a loop over layers make orthogonal, in the update."""
    s = jax.tree.map(lambda v, g: 0.9 * v + g, s, g)

    def polar(v):
        def one(_, m):
            step = lambda _, y: 1.5 * y - 0.5 * y @ y.T @ y
            return None, lax.fori_loop(0, 4, step, m / jnp.sqrt(jnp.sum(jnp.square(m))))

        return lax.scan(one, None, v)[1]

    return jax.tree.map(lambda p, v: p - 0.02 * (polar(v) if v.ndim == 3 else v), p, s), s


def zeros(p):
    return jax.tree.map(np.zeros_like, p)


LSTM = {"in": (LAYERS, WIDTH, 4 * WIDTH), "state": (LAYERS, WIDTH, 4 * WIDTH), "bias": (LAYERS, 4 * WIDTH)}
STACK = {"up": (LAYERS, WIDTH, 8), "bias": (LAYERS, 8), "down": (LAYERS, 8, WIDTH)}
HEADS = {**{n: (LAYERS, WIDTH, WIDTH) for n in "qkv"}, "up": (LAYERS, WIDTH, 8), "down": (LAYERS, 8, WIDTH)}
SEQUENCE = (TIMES, WIDTH)
SPLIT = rows("*bias", ["tensor"])
CASES = {
    "gru_adam": step_of(gru(), GRU, SEQUENCE, with_adam, adam_state),
    "gru_remat_layer": step_of(gru(wrap_layer=jax.checkpoint), GRU, SEQUENCE, with_adam, adam_state),
    "gru_remat_step": step_of(gru(wrap_step=jax.checkpoint), GRU, SEQUENCE, descend, count),
    "gru_remat_both": step_of(gru(jax.checkpoint, jax.checkpoint), GRU, SEQUENCE, descend, count),
    "gru_remat_all": step_of(gru(wrap_all=jax.checkpoint), GRU, SEQUENCE, descend, count),
    "gru_masked": step_of(masked_gru, {**GRU, "mix": (WIDTH, WIDTH)}, SEQUENCE, descend_clipped, count, SPLIT),
    "lstm_clipped": step_of(lstm, LSTM, SEQUENCE, descend_clipped, count, SPLIT),
    "lstm_orthogonal": step_of(lstm, LSTM, SEQUENCE, orthogonal, zeros),
    "chunked_sgd": step_of(chunked, HEADS, (2 * TIMES, WIDTH), descend, count),
    "accumulated_layers": accumulated(layers_of, STACK, (WIDTH,)),
    "accumulated_gru": accumulated(gru(), GRU, SEQUENCE),
}
