#!/usr/bin/env python3
# ===- peer_jax.py - The GPT step in JAX ---------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in JAX: jit of value_and_grad and AdamW, state donated.

The thread count is set by the caller (CPU affinity); prints one JSON line.
"""

import json
import pathlib
import resource
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "gpt")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import make_gpt  # noqa: E402
import model  # noqa: E402

LR, BETA1, BETA2, EPS, DECAY = 3e-4, 0.9, 0.95, 1e-8, 0.1


def adamw(p, g, m, v, t):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    m_hat, v_hat = m / (1 - BETA1**t), v / (1 - BETA2**t)
    return p - LR * (m_hat / (jnp.sqrt(v_hat) + EPS) + DECAY * p), m, v


def make_step(loss):
    def step(params, m, v, t, tokens, targets):
        value, g = jax.value_and_grad(loss)(params, tokens, targets)
        leaves, tree = jax.tree.flatten(params)
        columns = zip(leaves, *(jax.tree.leaves(x) for x in (g, m, v)))
        p, m, v = zip(*(adamw(*column, t) for column in columns))
        return *(jax.tree.unflatten(tree, x) for x in (p, m, v)), value

    return jax.jit(step, donate_argnums=(0, 1, 2))


def main():
    a = model.peer_arguments(__doc__.split("\n")[0]).parse_args()
    s = model.size_from(a)
    c = make_gpt.Config(s.layers, s.d, s.heads, s.seq, s.batch, s.vocab)
    g = np.random.default_rng(0)
    draw = lambda leaf: jnp.asarray(0.02 * g.standard_normal(leaf.shape), leaf.dtype)
    params = jax.tree.map(draw, make_gpt.parameter_shapes(c))
    m, v = (jax.tree.map(jnp.zeros_like, params) for _ in range(2))
    ids = [jnp.asarray(g.integers(0, s.vocab, (s.batch, s.seq)), jnp.int32) for _ in range(2)]
    step, times = make_step(make_gpt.loss_function(c)), []
    for t in range(1, a.warmup + a.steps + 1):
        begin = time.perf_counter()
        params, m, v, loss = step(params, m, v, jnp.float32(t), *ids)
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
