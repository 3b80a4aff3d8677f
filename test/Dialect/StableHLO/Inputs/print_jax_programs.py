"""Lowers small programs with JAX and writes their text, one file each.

Usage: print_jax_programs.py folder. Between them they hold every op of this
dialect that JAX prints, shardings, rematerialisation and donated state.
"""
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
split = NamedSharding(mesh, P("data", "model"))
x = jnp.zeros((4, 8))
index = jnp.zeros((3,), jnp.int32)


def functions(x):
    return [f(x) for f in (jnp.abs, jnp.sign, jnp.floor, jnp.ceil, jnp.cbrt, jnp.sin, jnp.cos,
                           jnp.log1p, jnp.expm1, jnp.isfinite, jnp.sqrt, jax.lax.rsqrt,
                           jax.lax.square, jax.lax.erf, jax.nn.softplus, jax.nn.silu,
                           lambda x: jax.nn.gelu(x, approximate=False), jax.nn.gelu,
                           lambda x: jax.lax.rem(x, x + 1), lambda x: x**1.5)]


def reductions(x):
    return (jnp.argmax(x, -1), jnp.any(x > 0), jnp.all(x > 0), jnp.prod(x), jnp.var(x), jnp.min(x, 0),
            jax.nn.log_softmax(x), jnp.einsum("ab,cb->ac", x.astype(jnp.bfloat16), x.astype(jnp.bfloat16)),
            jax.lax.dot_general(x, x, (((1,), (1,)), ((0,), (0,)))), x[:, ::2], x[::-1], jnp.pad(x, 1),
            jax.lax.clamp(0.0, x, 1.0), jnp.eye(4), jnp.triu(x), ~(index > 1) ^ (index < 0) | (index == 2))


def indexing(x, i):
    row = jax.lax.dynamic_slice(x, (i[0], 0), (1, 8))
    return (jnp.take(x, i, axis=0), x[i], x.at[i].add(1.0), x.at[i].set(2.0), x.at[i].max(0.0),
            jnp.take_along_axis(x, i[None, :], 1), jnp.roll(x, 1, 0),
            jax.lax.dynamic_update_slice(x, row, (i[1], 0)))


def train(w, m, t):
    @jax.checkpoint
    def layer(w, x):
        return jnp.tanh(x @ w)

    loss, g = jax.value_and_grad(lambda w: jnp.sum(layer(w, layer(w, x)) ** 2))(w)
    rate = 1e-3 * 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip(t / 100.0, 0, 1)))
    m = 0.9 * m + 0.1 * g
    return jnp.where(jnp.isfinite(loss), w - rate * m / (1 - 0.9**t), w), m, loss


def constrained(x):
    return jax.lax.with_sharding_constraint(x @ x.T, split)


def masks(x):
    odd = np.arange(8 * 32).reshape(8, 32) % 3 == 0
    return jnp.where(odd, jnp.tile(x, (2, 4)), 0.0), jnp.where(odd[:1, :8], x, 1.0)


def windows(x, w):
    wide = {"preferred_element_type": jnp.float32, "dimension_numbers": ("NCHW", "OIHW", "NHWC")}
    half = x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)
    pooled = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME")
    return (jax.lax.conv(x, w, (1, 2), "VALID"), pooled, jnp.cumsum(x, 3), jax.lax.cummax(x, 2, reverse=True),
            jax.lax.conv_general_dilated(*half, (1, 1), ((1, -1), (0, 2)), (2, 1), (1, 2), **wide),
            jax.lax.conv_general_dilated(x, w[:, :1], (1, 1), "SAME", feature_group_count=4),
            jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2))



def loops(x, w, n):
    """A scan that stacks, a loop of unknown trips in one of known trips, branches."""
    y, rows = jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c), x[0], x, reverse=True)
    down = lambda c: jax.lax.while_loop(lambda d: d[0] > 0, lambda d: (d[0] - 1, d[1] @ w), (n, c))[1]
    y = jax.lax.fori_loop(0, 3, lambda i, c: down(c) * i, y)
    return jax.lax.switch(n, [lambda: y, lambda: -y, lambda: y + rows[0]]), jax.lax.cond(n > 2, jnp.sin, jnp.cos, y)


w = jnp.zeros((8, 8))
programs = {
    "functions": jax.jit(functions).lower(x),
    "reductions": jax.jit(reductions).lower(x),
    "indexing": jax.jit(indexing).lower(x, index),
    "loops": jax.jit(loops).lower(x, w, jnp.int32(1)),
    "train": jax.jit(train, donate_argnums=(0, 1)).lower(w, w, jnp.float32(1)),
    "masks": jax.jit(masks).lower(x),
    "constrained": jax.jit(constrained, in_shardings=split).lower(x),
    "windows": jax.jit(windows).lower(jnp.zeros((2, 4, 8, 9)), jnp.zeros((8, 4, 3, 2))),
}
os.makedirs(sys.argv[1], exist_ok=True)
for name, lowered in programs.items():
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w") as file:
        file.write(lowered.as_text(debug_info=True))
