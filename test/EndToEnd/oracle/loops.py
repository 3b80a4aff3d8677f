# ===- loops.py - Loops and branches of JAX programs -----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with loops of known or bounded trips, and with branches, against jax.grad.

One step of plain descent with rate 1 in f64, in two microbatches: the loss, and each
parameter's gradient (what the step takes off), within 1e-10 of JAX on the whole batch;
by the interpreter, and by kernels on one device and on meshes.

    python loops.py --llmc llmc -o out
    python loops.py --llmc llmc -o out --only scan,nested
    python loops.py --llmc llmc -o out --only '*.derived'
"""

import contextlib
import json

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax

import bounded_losses
import derived_nests
import nested_losses
import one_step
import open_losses
import printed_ops
import sample_losses
from bounded_losses import LAYERS, WIDTH, layer, layers, mean_of_squares

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, TIMES = 4, 4
RUNS = [("interpret", ""), ("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2")]
# Of each case by the nightly script: kept as loops, recomputed, and every loop unrolled.
MORE_RUNS = [
    *RUNS,
    ("interpret", "data=2,tensor=2"),
    ("train", "data=3"),
    ("train", "pipe=2,data=2,tensor=2"),
    ("train", "pipe=3"),
    ("train", "", "training.recompute='all'"),
    ("train", "pipe=2,tensor=2", "training.recompute='all'"),
    ("train", "tensor=2", "training.unroll=true"),
]


def scan(p, x):
    y, _ = lax.scan(lambda c, q: (layer(q, c), None), x, p)
    return mean_of_squares(y)


def checkpoint(p, x):
    body = jax.checkpoint(lambda c, q: (layer(q, c), None))
    y, _ = lax.scan(body, x, p)
    return mean_of_squares(y)


def reverse(p, x):
    """From the last layer to the first; the states between are stacked, and read."""

    def body(c, q):
        y = layer(q, c)
        return y, jnp.sin(y)

    y, states = lax.scan(body, x, p, reverse=True)
    total, _ = lax.scan(lambda c, s: (c * 0.5 + s, None), jnp.zeros_like(x), states)
    return mean_of_squares(y, states[2], total) + jnp.mean(states[1:4] * states[3:])


def nested(p, x):
    """Layers in groups; what each group returns is stacked twice."""

    def group(c, q):
        return lax.scan(lambda d, r: (layer(r, d), jnp.cos(d)), c, q)

    y, states = lax.scan(group, x, p)
    return mean_of_squares(y) + jnp.mean(states * jnp.arange(1.0, 7.0).reshape(3, 2, 1, 1))


def fori(p, x):
    """The counter picks the layer, and where its state is kept; one row stays."""

    def body(i, state):
        y, kept = state
        y = layer(jax.tree.map(lambda w: w[i], p), y)
        return y, lax.dynamic_update_index_in_dim(kept, y * (i + 1), i, 0)

    kept = jnp.broadcast_to(x, (LAYERS, *x.shape))
    y, kept = lax.fori_loop(1, LAYERS, body, (x, kept))
    return mean_of_squares(y, kept)


def part(p, x):
    """Some layers of the stack, by a counter that does not begin at 0; one reads whole weights too."""
    y = lax.fori_loop(2, 10, lambda i, y: layer(jax.tree.map(lambda w: w[i], p), y) * (1.0 + 0.1 * i), x)
    return mean_of_squares(y, p["down"][3])


def down(p, x):
    """The counter goes down by twos; the states are kept at its places, others stay as they were."""

    def body(state):
        i, y, kept = state
        y = layer(jax.tree.map(lambda w: w[i], p), y)
        return i - 2, y, lax.dynamic_update_index_in_dim(kept, jnp.sin(y), i, 1)

    kept = jnp.broadcast_to(x[:, None], (x.shape[0], 10, x.shape[1]))
    return jax_while(lambda s: s[0] >= 1, body, (9, x, kept), 5)


def jax_while(goes_on, body, start, trips):
    """A while whose body is differentiated in reverse: JAX unrolls it, the text for llmc has the while."""
    if printed_ops.executed:
        for _ in range(trips):
            start = body(start)
    else:
        start = lax.while_loop(goes_on, body, start)
    return mean_of_squares(*start[1:])


def places(p, x):
    """Rows of a state that are changed in place, from the last one on, and a state of which
    each trip reads what the one before wrote."""

    def body(i, state):
        kept, chain = state
        n = LAYERS + 1 - i
        q = jax.tree.map(lambda w: w[n], p)
        kept = kept.at[n].set(layer(q, kept[n]))
        return kept, chain.at[i].set(layer(q, chain[i - 1]))

    start = jnp.broadcast_to(x, (LAYERS + 2, *x.shape)) * jnp.arange(1.0, LAYERS + 3.0)[:, None, None]
    kept, chain = lax.fori_loop(1, LAYERS + 1, body, (start, start))
    return mean_of_squares(kept, chain)


def patches(p, x):
    """Boxes of a weight that fill no dimension, one of them moved to fit; each is read."""

    def body(i, w):
        box = jnp.tanh(w[1:3, 2:5] + p["down"][:2, :3]) * (i + 1)
        return lax.dynamic_update_slice(w, box, (i + 1, 2 * (i % 3)))

    return mean_of_squares(x @ lax.fori_loop(0, 5, body, p["up"]) + p["bias"])


def branches(p, x):
    """Every second layer is another one; one branch is a matter of a constant."""

    def body(c, q):
        i, w = q
        y = lax.cond(i % 2 == 0, layer, lambda w, c: c - jnp.sin(c @ w["up"]) @ w["down"], w, c)
        return lax.switch(i, [lambda y: y, lambda y: 2.0 * y, jnp.tanh], y), None

    y, _ = lax.scan(body, x, (jnp.arange(LAYERS), p))
    return mean_of_squares(lax.cond(True, lambda y: y + x, lambda y: y - x, y))


def chosen(p, x):
    """The run chooses, by weights: one of two layers, and one of three ends."""

    def body(c, q):
        return lax.cond(q["bias"][0] > 0, layer, lambda w, c: c - jnp.sin(c @ w["up"]) @ w["down"], q, c), None

    y, _ = lax.scan(body, x, p)
    ends = [lambda y: y + x, lambda y: y * jnp.sqrt(jnp.abs(p["bias"][0, 1])), jnp.tanh]
    return mean_of_squares(lax.switch(jnp.int32(jnp.sign(p["bias"][1, 0])) + 1, ends, y))


def experts(p, x):
    """Rows in the order of their experts, of which each multiplies its own; and a maximum over
    windows, differentiated in the loss itself."""
    x = jnp.asarray(x)
    owner = jnp.argmax(x[:, :LAYERS], axis=1)
    order, sizes = jnp.argsort(owner), jnp.sum(owner[:, None] == jnp.arange(LAYERS), axis=0)
    multiply = printed_ops.ragged_dot((1,), (1,), 0, group=(0,))
    y = jnp.tanh(multiply(x[order], p["up"], sizes)) + p["bias"][owner[order]]
    pooled, pull = jax.vjp(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 3), (1, 2), "SAME"), y)
    return mean_of_squares(multiply(y, p["down"], sizes), pull(pooled)[0])


def recurrent(p, x):
    """One layer for all times; two states change places."""

    def step(state, u):
        h, c = state
        return (jnp.tanh(u @ p["up"][:, :WIDTH] + c @ p["down"][:WIDTH]), h), h

    times = x.reshape(x.shape[0], TIMES, WIDTH).swapaxes(0, 1)
    start = jnp.zeros_like(times[0])
    (h, c), states = lax.scan(step, (start, start + p["bias"][:WIDTH]), times)
    return mean_of_squares(h, c, states[1:])


def layered(p, x):
    """Recurrences of many times in each of a few layers: those over times stay loops."""
    times = jnp.stack([x * jnp.cos(1.0 * t) for t in range(9)])

    def one(sequence, q):
        def step(h, u):
            g = jax.nn.sigmoid(u @ q["up"] + q["bias"])
            h = jnp.tanh(h + g @ q["down"])
            return h, h

        return lax.scan(step, jnp.zeros_like(x), sequence)[1], None

    sequence, _ = lax.scan(one, times, p)
    return mean_of_squares(sequence)


def shared(p, x):
    """All layers read one weight, which has gradients of all trips. Each gives a number that
    is added up, and rows of which some are read after the loop."""
    stacks = {n: p[n] for n in ("up", "bias", "down")}

    def body(state, q):
        y, total = state
        z = layer(q, y) @ p["mix"]
        return (z, total + jnp.mean(jnp.square(z)) * q["bias"][0]), (jnp.sin(z), z[:, 0])

    (y, total), (waves, firsts) = lax.scan(body, (x, 0.0), stacks)
    return mean_of_squares(y, waves[1:4], firsts) + total


def unread(p, x):
    """What the loop carries is not read after it; what it reads is made before it."""
    inner = jnp.tanh(x @ p["mix"])

    def body(c, q):
        z = layer(q, c + inner)
        return z, jnp.sum(jnp.square(z), axis=1)

    _, sums = lax.scan(body, jnp.zeros_like(x), {n: p[n] for n in ("up", "bias", "down")})
    return jnp.mean(sums * jnp.arange(1.0, LAYERS + 1.0)[:, None])


def twice(p, x):
    """One stack is read by two loops, of which the second reads what the first has stacked;
    the number of the layer is data."""
    stacks = {n: p[n] for n in ("up", "bias", "down")}
    y, states = lax.scan(lambda c, q: (layer(q, c), layer(q, c * 0.5)), x, stacks)

    def body(c, q):
        i, w, s = q
        return layer(w, c) + s * i, None

    z, _ = lax.scan(body, y, (jnp.arange(LAYERS) * 1.0, stacks, states))
    return mean_of_squares(y, z)


def whole(p, x):
    """Each trip reads a row of a weight, and all of it; so do both ends of the loss."""
    q = {n: p[n] for n in ("up", "bias", "down")}
    y, _ = lax.scan(lambda c, row: (jnp.tanh(c @ p["mix"]) + row * layer(q, c), None), x @ p["mix"], p["mix"])
    return mean_of_squares(y @ p["mix"].T) + jnp.sqrt(jnp.sum(jnp.square(p["mix"])))


def mapped(p, x):
    """Nothing is carried: each layer sees the same rows."""
    stacks = {n: p[n] for n in ("up", "bias", "down")}
    ys = lax.map(lambda q: layer(q, x), stacks)
    return mean_of_squares(ys) + jnp.mean(ys[0] * ys[-1])


def exported(p, x):
    """As jax.export prints it: erf is a composite."""
    y, _ = lax.scan(lambda c, q: (c + lax.erf(c @ q["up"] + q["bias"]) @ q["down"], None), x, p)
    return mean_of_squares(y)


# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "scan": (scan, layers(LAYERS), WIDTH),
    "checkpoint": (checkpoint, layers(LAYERS), WIDTH),
    "reverse": (reverse, layers(LAYERS), WIDTH),
    "nested": (nested, layers(3, 2), WIDTH),
    "fori": (fori, layers(LAYERS), WIDTH),
    "part": (part, layers(10), WIDTH),
    "down": (down, layers(10), WIDTH),
    "places": (places, layers(LAYERS + 2), WIDTH),
    "patches": (patches, layers(), WIDTH),
    "branches": (branches, layers(LAYERS), WIDTH),
    "chosen": (chosen, layers(LAYERS), WIDTH),
    "experts": (experts, layers(LAYERS), WIDTH),
    "recurrent": (recurrent, layers(), TIMES * WIDTH),
    "layered": (layered, layers(4), WIDTH),
    "exported": (exported, layers(LAYERS), WIDTH),
    "shared": (shared, {"mix": (WIDTH, WIDTH), **layers(LAYERS)}, WIDTH),
    "unread": (unread, {"mix": (WIDTH, WIDTH), **layers(LAYERS)}, WIDTH),
    "twice": (twice, layers(LAYERS), WIDTH),
    "whole": (whole, {"mix": (WIDTH, WIDTH), **layers()}, WIDTH),
    "mapped": (mapped, layers(LAYERS), WIDTH),
    **nested_losses.CASES,
    **bounded_losses.CASES,
    **open_losses.CASES,
    **sample_losses.CASES,
}


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
# Losses that compare samples with each other.
MIXED = ["experts", *bounded_losses.CASES, *open_losses.CASES, *derived_nests.MIXED]


def rows_of(shapes):
    """Columns of the first weight, and rows of the second, over the tensor axis."""
    text = ""
    for name, split in (("up", -1), ("down", -2)):
        rest = [[] for _ in shapes[name]]
        rest[split] = ["tensor"]
        text += f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(rest)}\n'
    return text


class Case(one_step.Case):
    def __init__(self, a, name):
        plain = self.loss_name = name.removesuffix(DERIVED)
        self.loss, shapes, width = {**CASES, **derived_nests.CASES}[plain]
        self.is_derived = name != plain or name in open_losses.DERIVED
        means = 'loss = "mean of microbatches"\n' if plain in MIXED else ""
        super().__init__(a, name, shapes, (2 * ROWS, width), one_step.CONFIGURATION + means + rows_of(shapes))
        shapes = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in self.shapes.items()}
        sample = jax.ShapeDtypeStruct((ROWS, width), np.float64)

        def train(params, x):
            return self.loss(params, x)

        train = jax.jit(jax.value_and_grad(train) if self.is_derived else train)
        # What JAX cannot derive it executes in another form, which it can.
        with printed_ops.executing() if name != plain else contextlib.nullcontext():
            if plain == "exported":
                text = jax.export.export(train)(shapes, sample).mlir_module()
            else:
                text = train.lower(shapes, sample).as_text(debug_info=True)
        self.write_text(text)

    def takes(self, *settings):
        """What is recomputed is part of a text that has the derivative."""
        return not self.is_derived or not any("recompute" in s for s in settings)

    def expect(self):
        """The loss and the gradients by JAX, on all samples."""
        with printed_ops.executing():
            return one_step.by_jax(self.loss, self.parameters, self.x, 2)


if __name__ == "__main__":
    names = [name for name in CASES if name not in open_losses.CASES]
    derived = [name + DERIVED for name in [*names, *derived_nests.CASES]]
    one_step.main(__doc__, CASES, Case, MORE_RUNS, usual=len(RUNS), more=derived)
