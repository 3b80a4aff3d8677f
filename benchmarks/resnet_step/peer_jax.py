#!/usr/bin/env python3
# ===- peer_jax.py - The ResNet step in JAX -------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in JAX: jit of value_and_grad and momentum, state donated.

The thread count is set by the caller (CPU affinity); prints one JSON line.
"""

import json
import resource
import time

import jax
import jax.numpy as jnp
import numpy as np

import model
import network

LR, MOMENTUM = 0.05, 0.9


def make_step(loss):
    def step(params, velocity, images, labels):
        value, g = jax.value_and_grad(loss)(params, images, labels)
        velocity = jax.tree.map(lambda v, d: MOMENTUM * v + d, velocity, g)
        return jax.tree.map(lambda p, v: p - LR * v, params, velocity), velocity, value

    return jax.jit(step, donate_argnums=(0, 1))


def draw(g, path, x):
    name = path[-1].key
    if name == "scale":
        return jnp.ones(x.shape)
    if name == "bias":
        return jnp.zeros(x.shape)
    return jnp.asarray(0.05 * g.standard_normal(x.shape), x.dtype)


def main():
    a = model.peer_arguments(__doc__.split("\n")[0]).parse_args()
    s = model.size_from(a)
    g = np.random.default_rng(0)
    params = jax.tree_util.tree_map_with_path(lambda path, x: draw(g, path, x), network.parameter_shapes(s))
    velocity = jax.tree.map(jnp.zeros_like, params)
    images = jnp.asarray(g.standard_normal((s.batch, s.pixels, s.pixels, 3)), jnp.float32)
    labels = jnp.asarray(g.integers(0, s.classes, s.batch), jnp.int32)
    step, times = make_step(network.loss_function(s)), []
    for _ in range(a.warmup + a.steps):
        begin = time.perf_counter()
        params, velocity, loss = step(params, velocity, images, labels)
        loss = float(jax.block_until_ready((loss, params))[0])
        times.append(1e3 * (time.perf_counter() - begin))
    result = {
        "name": f"JAX {jax.__version__}",
        "threads": a.threads,
        "ms": times[a.warmup :],
        "loss": loss,
        "max_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
