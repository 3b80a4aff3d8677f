# ===- loop_step_cases.py - Whole steps with loops that stay loops ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of loops.py as finished steps for train_steps.py: loops forward and backward, each
with an optimizer that is written out."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import loops
from train_step_cases import Example, adam, adam_state, batch_of, clip, rows, sgd

LAYOUT = rows("*up", *[[]] * 2, ["tensor"]) + rows("*down", [], ["tensor"])


def step_of(name, optimize, state, layout=LAYOUT):
    """A case: the loss of loops.py, and `optimize(p, state, g)` with `state(p)` at first."""

    def make(rng):
        loss, shapes, width = loops.CASES[name]

        def train_step(params, opt_state, x):
            value, g = jax.value_and_grad(loss)(params, x)
            params, opt_state = optimize(params, opt_state, g)
            return params, opt_state, value

        p = {n: rng.normal(size=s) * 0.4 for n, s in shapes.items()}
        return Example(train_step, (p, state(p)), {"x": batch_of(rng, (width,), 2)["x"]}, layout)

    return make


def count(p):
    return np.zeros((), np.int32)


def descend(p, s, g):
    """Plain descent, with a rate that falls."""
    return sgd(p, g, 0.02 / (1.0 + s.astype(jax.tree.leaves(g)[0].dtype))), s + 1


def descend_clipped(p, s, g):
    return sgd(p, clip(g, 0.5)[0], 0.1), s + 1


def with_adam(p, s, g):
    return adam(p, s, g, 0.01)


def orthogonal(p, s, g):
    """Momentum, made orthogonal for each layer by a loop in the update."""
    s = jax.tree.map(lambda v, g: 0.9 * v + g, s, g)

    def polar(v):
        def body(_, y):
            return 1.5 * y - 0.5 * jnp.einsum("lij,lkj,lkm->lim", y, y, y)

        start = v / jnp.sqrt(jnp.sum(jnp.square(v), axis=(1, 2), keepdims=True))
        return lax.fori_loop(0, 4, body, start)

    return jax.tree.map(lambda p, v: p - 0.02 * (polar(v) if v.ndim == 3 else v), p, s), s


WHOLE = rows("*up", [], ["tensor"]) + rows("*down", ["tensor"])
CASES = {
    "scan_sgd": step_of("scan", descend, count),
    "reverse_adam": step_of("reverse", with_adam, adam_state),
    "nested_sgd": step_of("nested", descend, count, ""),
    "recurrent_adam": step_of("recurrent", with_adam, adam_state, WHOLE),
    "shared_adam": step_of("shared", with_adam, adam_state),
    "checkpoint_clipped": step_of("checkpoint", descend_clipped, count),
    "layered_sgd": step_of("layered", descend, count),
    "fori_sgd": step_of("fori", descend, count),
    "scan_orthogonal": step_of("scan", orthogonal, lambda p: jax.tree.map(np.zeros_like, p)),
}
