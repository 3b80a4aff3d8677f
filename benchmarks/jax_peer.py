# ===- jax_peer.py - Train steps in JAX -----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Momentum and AdamW around a loss, jitted with the state donated, and timed.

The thread count is set by the caller (CPU affinity).
"""

import jax
import jax.numpy as jnp
import numpy as np

import peer


def momentum(lr=0.05, factor=0.9):
    """One velocity for each parameter."""

    def update(p, g, states, t):
        (v,) = states
        v = factor * v + g
        return p - lr * v, (v,)

    return 1, update


def adamw(lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, decay=0.1):
    """Two moments for each parameter."""

    def update(p, g, states, t):
        m, v = states
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        return p - lr * (m_hat / (jnp.sqrt(v_hat) + eps) + decay * p), (m, v)

    return 2, update


def make_step(loss, update):
    def step(params, states, t, *inputs):
        value, g = jax.value_and_grad(loss)(params, *inputs)
        leaves, tree = jax.tree.flatten(params)
        columns = zip(leaves, jax.tree.leaves(g), states)
        updated = [update(p, d, s, t) for p, d, s in columns]
        return jax.tree.unflatten(tree, [p for p, _ in updated]), [s for _, s in updated], value

    return jax.jit(step, donate_argnums=(0, 1))


def run_peer(a, loss, params, inputs, optimizer):
    num_states, update = optimizer
    states = [tuple(jnp.zeros_like(p) for _ in range(num_states)) for p in jax.tree.leaves(params)]
    compiled, state = make_step(loss, update), (params, states)

    def step(number):
        nonlocal state
        *state, value = compiled(*state, jnp.float32(number), *inputs)
        return float(jax.block_until_ready((value, state))[0])

    peer.run_steps(f"JAX {jax.__version__}", a, step)


def draw_parameters(shapes, std, seed=0):
    """Ones for scales, zeros for biases, the rest normal."""
    g = np.random.default_rng(seed)

    def draw(path, x):
        name = getattr(path[-1], "key", None)
        if name == "scale":
            return jnp.ones(x.shape, x.dtype)
        if name in ("bias", "b"):
            return jnp.zeros(x.shape, x.dtype)
        return jnp.asarray(std * g.standard_normal(x.shape), x.dtype)

    return jax.tree_util.tree_map_with_path(draw, shapes)


def draw_pictures(s, seed=1):
    g = np.random.default_rng(seed)
    images = jnp.asarray(g.standard_normal((s.batch, s.pixels, s.pixels, 3)), jnp.float32)
    return images, jnp.asarray(g.integers(0, s.classes, s.batch), jnp.int32)
