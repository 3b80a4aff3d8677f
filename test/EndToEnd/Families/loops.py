# ===- loops.py - Layers in loops -----------------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Stacked layers under lax.scan, and every other loop and branch of known trips."""

import jax
import jax.numpy as jnp

from dense import BATCH, CLASSES, WIDTH, apply_perceptron, cross_entropy, layer_norm, linear
from family import Family, dense, leaf

LAYERS, SEQ = 6, 6


def stacked(*counts):
    """Residual perceptrons behind a layer norm, stacked."""
    one = lambda *shape: leaf(*counts, *shape)
    return {
        "ln": {"scale": one(WIDTH), "bias": one(WIDTH)},
        "in": {"w": one(WIDTH, 24), "b": one(24)},
        "out": {"w": one(24, WIDTH), "b": one(WIDTH)},
    }


def columns(*counts):
    """The rows of the pairs of weights, below the dimensions of the stack."""
    none = [[] for _ in counts]
    return (
        ("*.in.w", [*none, [], ["tensor"]]),
        ("*.in.b", [*none, ["tensor"]]),
        ("*.out.w", [*none, ["tensor"]]),
    )


def block(p, x):
    return x + apply_perceptron(p, layer_norm(p["ln"], x), jax.nn.gelu)


def make_family(name, loss, parameters, rows, **more):
    parameters = {
        "embed": leaf(256, WIDTH),
        **parameters,
        "head": dense(WIDTH, CLASSES),
    }
    loss.__name__ = f"{name}_loss"
    inputs = {"tokens": ((BATCH, SEQ), 0), "targets": ((BATCH, 1), SEQ)}
    return Family(name, loss, parameters, inputs, rows, **more)


def head_loss(params, x, targets):
    return jnp.mean(cross_entropy(linear(params["head"], x), targets[:, 0] % CLASSES))


def make_scan():
    """Six layers in one scan, each computed again in the backward."""

    def loss(params, tokens, targets):
        body = jax.checkpoint(lambda x, p: (block(p, x), None))
        x, _ = jax.lax.scan(body, params["embed"][tokens], params["blocks"])
        return head_loss(params, jnp.mean(x, axis=1), targets)

    return make_family("scan", loss, {"blocks": stacked(LAYERS)}, columns(LAYERS))


def make_loops():
    """Groups of layers, a reversed scan that stacks and reads, a counted loop over the
    bytes, and branches by the number of the trip."""

    def loss(params, tokens, targets):
        x = params["embed"][tokens]
        group = lambda x, p: jax.lax.scan(lambda y, q: (block(q, y), None), x, p)
        x, _ = jax.lax.scan(group, x, params["groups"])

        def back(x, p):
            y = block(p, x)
            return y, jnp.mean(y, axis=1)

        x, states = jax.lax.scan(back, x, params["blocks"], reverse=True)
        x = jax.lax.cond(True, lambda x: x, lambda x: x + 1.0, x)

        def read(i, total):
            branches = [lambda y: y, jnp.tanh, lambda y: 0.5 * y]
            return total + jax.lax.switch(i % 3, branches, x[:, i] @ params["step"]["w"])

        total = jax.lax.fori_loop(0, SEQ, read, jnp.zeros((x.shape[0], WIDTH)))
        return head_loss(params, total / SEQ + states[0] + states[-1], targets)

    parameters = {"groups": stacked(2, 2), "blocks": stacked(3), "step": {"w": leaf(WIDTH, WIDTH)}}
    rows = tuple((f"groups{pattern[1:]}", axes) for pattern, axes in columns(2, 2))
    return make_family("loops", loss, parameters, rows + columns(3), microbatches=3)
