# ===- recurrent.py - Recurrences, unrolled; experts ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""GRU and LSTM, step by step over the bytes, and experts by einsum."""

import jax
import jax.numpy as jnp

from dense import BATCH, WIDTH, cross_entropy, layer_norm
from family import Family, leaf, norm

SEQ = 5
GATES = (
    ("*.x.w", [[], ["tensor"]]),
    ("*.h.w", [[], ["tensor"]]),
    ("*.b", [["tensor"]]),
)


def cell(n, hidden, gates):
    w = lambda rows: {"w": leaf(rows, gates * hidden)}
    return {"x": w(n), "h": w(hidden), "b": leaf(gates * hidden)}


def make_recurrent(name, gates, layers, apply, each=True, **more):
    """Layers of one cell over all bytes; `apply` gives the layer's new state. The
    loss is that of each byte's successor, or of the last one's alone."""

    def recurrent_loss(params, tokens, targets):
        xs = [params["embed"][tokens[:, t]] for t in range(SEQ)]
        for p in params["layers"]:
            state = (jnp.zeros_like(xs[0]),) * 2
            ys = []
            for x in xs:
                state = apply(p, x, state)
                ys.append(state[0])
            xs = ys
        y = jnp.stack(xs, axis=1) if each else xs[-1][:, None]
        return jnp.mean(cross_entropy(y @ params["head"], targets))

    recurrent_loss.__name__ = f"{name}_loss"
    parameters = {
        "embed": leaf(256, WIDTH),
        "layers": [cell(WIDTH, WIDTH, gates) for _ in range(layers)],
        "head": leaf(WIDTH, 256),
    }
    last = ((BATCH, SEQ), 1) if each else ((BATCH, 1), SEQ)
    inputs = {"tokens": ((BATCH, SEQ), 0), "targets": last}
    return Family(name, recurrent_loss, parameters, inputs, GATES, **more)


def make_lstm():
    """Four gates in one weight, sliced. One layer, so that a pipeline cuts it in
    the middle of the steps: all stages use all of its parameters."""

    def apply(p, x, state):
        h, c = state
        gates = x @ p["x"]["w"] + h @ p["h"]["w"] + p["b"]
        i, f, o, u = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    return make_recurrent("lstm", 4, 1, apply, each=False)


def make_gru():
    """Three gates; the reset gate stands in front of the product's last part."""

    def apply(p, x, state):
        h, _ = state
        a, b = x @ p["x"]["w"] + p["b"], h @ p["h"]["w"]
        n = WIDTH
        r = jax.nn.sigmoid(a[:, :n] + b[:, :n])
        z = jax.nn.sigmoid(a[:, n : 2 * n] + b[:, n : 2 * n])
        u = jnp.tanh(a[:, 2 * n :] + r * b[:, 2 * n :])
        return z * h + (1.0 - z) * u, h

    optimizer = 'name = "sgd"\nlr = 0.3\nweight_decay = 0.001\n'
    return make_recurrent("gru", 3, 2, apply, optimizer=optimizer)


def make_moe():
    """Experts by einsum, weighted by a soft gate over the best two; the loss has
    two auxiliary means: of the gates' balance and of their logits (z-loss)."""
    experts, hidden = 4, 12

    def route(p, x):
        logits = x @ p["router"]
        fixed = jax.lax.stop_gradient(logits)
        first = jnp.max(fixed, axis=-1, keepdims=True)
        second = jnp.max(jnp.where(fixed < first, fixed, -1e9), axis=-1, keepdims=True)
        share = jax.nn.softmax(jnp.where(fixed >= second, logits, -1e9), axis=-1)
        return logits, share

    def moe_loss(params, tokens, targets):
        x = params["embed"][tokens]
        auxiliary = 0.0
        for p in params["blocks"]:
            y = layer_norm(p["ln"], x)
            logits, share = route(p, y)
            h = jax.nn.gelu(jnp.einsum("btd,edf->btef", y, p["up"]))
            x = x + jnp.einsum("btef,efd,bte->btd", h, p["down"], share)
            # Each token's shares are far from even, its logits are large.
            balance = jnp.mean(jnp.sum(jnp.square(jax.nn.softmax(logits, axis=-1)), axis=-1))
            z = jnp.mean(jnp.square(jax.nn.logsumexp(logits, axis=-1)))
            auxiliary = auxiliary + 1e-2 * balance + 1e-3 * z
        return jnp.mean(cross_entropy(x @ params["head"], targets)) + auxiliary

    block = lambda: {
        "ln": norm(WIDTH),
        "router": leaf(WIDTH, experts),
        "up": leaf(experts, WIDTH, hidden),
        "down": leaf(experts, hidden, WIDTH),
    }
    parameters = {
        "embed": leaf(256, WIDTH),
        "blocks": [block() for _ in range(3)],
        "head": leaf(WIDTH, 256),
    }
    rows = (("*.up", [["tensor"]]), ("*.down", [["tensor"]]))
    inputs = {"tokens": ((BATCH, SEQ), 0), "targets": ((BATCH, SEQ), 1)}
    return Family("moe", moe_loss, parameters, inputs, rows)
