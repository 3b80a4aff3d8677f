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

XLA may leave out a rounding and what undoes it: set
XLA_FLAGS=--xla_allow_excess_precision=false before JAX is imported.
"""

import functools

import jax
import jax.numpy as jnp
from jax.extend import core

PRODUCTS = ("dot_general", "conv_general_dilated", "ragged_dot_general")


def rounded(x, dtype):
    return x.astype(dtype).astype(x.dtype)


def is_wide(x, dtype):
    return jnp.issubdtype(x.dtype, jnp.floating) and jnp.finfo(x.dtype).bits > jnp.finfo(dtype).bits


def multiply(product, dtype, x, y):
    """product(x, y) by the policy."""

    @jax.custom_vjp
    def f(x, y):
        return product(rounded(x, dtype), rounded(y, dtype))

    def forward(x, y):
        return f(x, y), (x, y)

    def backward(kept, g):
        _, derivative = jax.vjp(product, *(rounded(v, dtype) for v in kept))
        return derivative(rounded(g, dtype))

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
