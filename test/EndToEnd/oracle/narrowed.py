# ===- narrowed.py - A loss whose contractions multiply narrow floats -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The policy of `training.precision = "bf16"` in JAX, for any function.

`narrowed(f, dtype)` computes f with each contraction and convolution of wide
floats replaced by one whose operands are rounded to `dtype`, and whose sums and
result stay wide. Its derivative rounds the cotangent as well, and does not round
what it returns:

    y = sum r(x) r(w)        gx = sum r(g) r(w)        gw = sum r(x) r(g)

With FP8 in place of a dtype, r rounds to e4m3, of cotangents to e5m2, by a scale
of the tensor: the power of two that brings its greatest element near the largest
number.

XLA may leave out a rounding and what undoes it: set
XLA_FLAGS=--xla_allow_excess_precision=false before JAX is imported.
"""

import functools

import jax
import jax.numpy as jnp
from jax.extend import core

PRODUCTS = ("dot_general", "conv_general_dilated", "ragged_dot_general")


FP8 = "fp8"


def scale_of(amax, dtype, margin=0):
    """The power of two at or below largest / 2^margin / amax, at most 2^126."""
    wanted = jnp.float32(float(jnp.finfo(dtype).max) * 2.0**-margin)
    scale = jnp.minimum(wanted / jnp.asarray(amax, jnp.float32), jnp.float32(2.0**126))
    bits = jax.lax.bitcast_convert_type(scale, jnp.int32) & 0x7F800000
    return jax.lax.bitcast_convert_type(bits, jnp.float32)


def quantized(x, dtype, scale):
    """x times the scale in eight bits, and back."""
    largest = float(jnp.finfo(dtype).max)
    return jnp.clip(x * scale, -largest, largest).astype(dtype).astype(x.dtype) / scale


def rounded(x, dtype, isCotangent=False):
    if dtype != FP8:
        return x.astype(dtype).astype(x.dtype)
    small = jnp.float8_e5m2 if isCotangent else jnp.float8_e4m3fn
    return quantized(x, small, scale_of(jnp.max(jnp.abs(x), initial=0), small))


def is_wide(x, dtype):
    bits = 8 if dtype == FP8 else jnp.finfo(dtype).bits
    return jnp.issubdtype(x.dtype, jnp.floating) and jnp.finfo(x.dtype).bits > bits


def multiply(product, dtype, x, y):
    """product(x, y) by the policy."""

    @jax.custom_vjp
    def f(x, y):
        return product(rounded(x, dtype), rounded(y, dtype))

    def forward(x, y):
        return f(x, y), (x, y)

    def backward(kept, g):
        _, derivative = jax.vjp(product, *(rounded(v, dtype) for v in kept))
        return derivative(rounded(g, dtype, isCotangent=True))

    f.defvjp(forward, backward)
    return f(x, y)


def has_products(jaxpr):
    return any(
        e.primitive.name in PRODUCTS or any(has_products(getattr(j, "jaxpr", j)) for j in inner_of(e))
        for e in jaxpr.eqns
    )


def inner_of(eqn):
    found = []
    for value in eqn.params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, (core.Jaxpr, core.ClosedJaxpr)):
                found.append(each)
    return found


def call(closed, dtype):
    """A closed jaxpr as a function of its inputs."""
    jaxpr, consts = (closed.jaxpr, closed.consts) if hasattr(closed, "jaxpr") else (closed, ())
    return lambda *args: evaluate(jaxpr, consts, args, dtype)


def evaluate_loop(eqn, args, dtype):
    p = eqn.params
    if eqn.primitive.name == "scan":
        n, c = p["num_consts"], p["num_consts"] + p["num_carry"]
        body = call(p["jaxpr"], dtype)

        def trip(carry, row):
            results = body(*args[:n], *carry, *row)
            return tuple(results[: c - n]), tuple(results[c - n :])

        carry, rows = jax.lax.scan(trip, tuple(args[n:c]), tuple(args[c:]), p["length"], p["reverse"])
        return [*carry, *rows]
    if eqn.primitive.name == "cond":
        return jax.lax.switch(args[0], [call(b, dtype) for b in p["branches"]], *args[1:])
    raise NotImplementedError(f"expected scan or cond around a product, got {eqn.primitive.name}")


def evaluate_equation(eqn, args, dtype):
    name = eqn.primitive.name
    if name in PRODUCTS and all(is_wide(x, dtype) for x in args[:2]):
        product = functools.partial(eqn.primitive.bind, **eqn.params)
        return [multiply(lambda x, y: product(x, y, *args[2:]), dtype, *args[:2])]
    inner = inner_of(eqn)
    if any(has_products(getattr(j, "jaxpr", j)) for j in inner):
        if name in ("scan", "cond", "while"):
            return evaluate_loop(eqn, args, dtype)
        if name in ("remat2", "checkpoint"):
            return jax.checkpoint(call(inner[0], dtype))(*args)
        return call(inner[0], dtype)(*args)
    results = eqn.primitive.bind(*args, **eqn.primitive.get_bind_params(eqn.params))
    return results if eqn.primitive.multiple_results else [results]


def evaluate(jaxpr, consts, args, dtype):
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]))
    read = lambda v: v.val if isinstance(v, core.Literal) else values[v]
    for eqn in jaxpr.eqns:
        values.update(zip(eqn.outvars, evaluate_equation(eqn, [read(v) for v in eqn.invars], dtype)))
    return [read(v) for v in jaxpr.outvars]


def narrowed(function, dtype=jnp.bfloat16):
    def policy(*args):
        closed, shape = jax.make_jaxpr(function, return_shape=True)(*args)
        results = evaluate(closed.jaxpr, closed.consts, jax.tree.leaves(args), dtype)
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return policy
