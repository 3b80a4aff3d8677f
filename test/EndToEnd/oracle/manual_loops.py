# ===- manual_loops.py - Losses by shard_map with loops ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses of manual.py with loops in manual regions and around them: (params, x) -> loss on
8 devices. Loops have so many trips, and do so much in each, that they stay loops."""

import functools

# First: it says how many devices there are, before JAX is read.
from manual_losses import MLP, MLP_SPECS, ROWS, TENSOR, WIDTH, mean_of_squares, region

from bounded_losses import until

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

LAYERS = 6
STACKS = {name: (LAYERS, *shape) for name, shape in MLP.items()}
STACK_SPECS = {name: P(None, *spec) for name, spec in MLP_SPECS.items()}
GATHERED_SPECS = {"up": P(None, "data", "tensor"), "bias": P(None, "tensor"), "down": P(None, ("tensor", "data"))}
TURN = [(i, (i + 1) % TENSOR) for i in range(TENSOR)]


def block(p, x):
    return x + lax.psum(jnp.tanh(x @ p["up"] + p["bias"]) @ p["down"], "tensor")


def layers(p, x):
    """A scan over layers in a region, with a collective in each trip."""

    @region((STACK_SPECS, P("data")), P("data"), check_vma=True)
    def run(p, x):
        return lax.scan(lambda y, q: (block(q, y), None), x, p)[0]

    return mean_of_squares(run(p, x))


def around(p, x):
    """A region in each trip of a loop that is outside of it, and one after the loop."""

    @region((MLP_SPECS, P("data")), P("data"))
    def layer(p, x):
        return block(p, x)

    y, kept = lax.scan(lambda y, q: (layer(q, y), jnp.mean(y)), x, p)
    last = jax.tree.map(lambda stack: stack[0], p)
    return mean_of_squares(layer(last, y)) + jnp.sum(jnp.sin(kept))


def recomputed_layers(p, x):
    """From the last layer on, each recomputed; every trip leaves a row."""

    @region((STACK_SPECS, P("data")), (P("data"), P(None, "data")))
    def run(p, x):
        step = jax.checkpoint(lambda y, q: (block(q, y), jnp.sin(y)))
        return lax.scan(step, x, p, reverse=True)

    return mean_of_squares(*run(p, x))


def gathered_layers(p, x):
    """Each device has a part of a layer's weights, and gathers them in its trip."""

    @region((GATHERED_SPECS, P("data")), P())
    def run(p, x):
        def step(y, q):
            up = lax.all_gather(q["up"], "data", tiled=True)
            down = lax.all_gather(q["down"], "data", tiled=True)
            return block({"up": up, "bias": q["bias"], "down": down}, y), None

        y, _ = lax.scan(step, x, p)
        return lax.pmean(jnp.mean(jnp.square(x - y)), "data")

    return run(p, x)


def turns(p, x):
    """Parts of a weight go round twice; what is added up begins as zeros, equal on all devices."""

    @region((P("tensor"), P("data")), P("data", "tensor"))
    def run(w, x):
        me = lax.axis_index("tensor")

        def step(i, state):
            w, total = state
            owner = (me - i) % TENSOR
            part = lax.dynamic_slice_in_dim(x, owner * w.shape[0], w.shape[0], axis=1)
            return lax.ppermute(w, "tensor", TURN), total + jnp.tanh(part @ w) * (i + 1.0)

        return lax.fori_loop(0, 2 * TENSOR, step, (w, jnp.zeros((x.shape[0], WIDTH))))[1]

    return mean_of_squares(run(p["w"], x))


def relayed(p, x):
    """Three values of which one trip after the other makes the next one vary, each along other axes."""

    @region((P(None, "tensor"), P("data")), (P("data", "tensor"), P("tensor")))
    def run(w, x):
        def step(state, _):
            a, b, c = state
            return (jnp.tanh((x * c[0, 0]) @ w + b) * c, jnp.cos(b * jnp.mean(w, 0)) + c, 0.5 * c + jnp.mean(w)), jnp.sum(a + b)

        start = jnp.zeros((x.shape[0], 2)), jnp.ones((1, 2)), jnp.ones((1, 2))
        (a, b, c), sums = lax.scan(step, start, None, length=5)
        return a * b, (b * c).sum() + lax.pmean(sums, "data")

    return mean_of_squares(*run(p["up"], x))


def times(p, x):
    """A recurrence over times: samples over one axis, units over the other, whose states are gathered."""
    spec = {"in": P(None, "tensor"), "own": P(None, "tensor"), "out": P("tensor")}

    @region((spec, P("data")), (P("data"), P("data", None, "tensor")))
    def run(p, x):
        def step(h, now):
            whole = lax.all_gather(h, "tensor", axis=1, tiled=True)
            h = jnp.tanh(now @ p["in"] + whole @ p["own"])
            return h, h

        h, all_of = lax.scan(step, jnp.zeros((x.shape[0], 2)), x.swapaxes(0, 1))
        return lax.psum(h @ p["out"], "tensor"), all_of.swapaxes(0, 1)

    return mean_of_squares(*run(p, x.reshape(ROWS, 8, 2)))


def routed(p, x):
    """Rows go to other devices and back in each trip, and rows are changed in place."""

    @region((P(None, None, "tensor"), P(("data", "tensor"))), P(("data", "tensor")))
    def run(w, x):
        def step(i, state):
            x, kept = state
            sent = lax.all_to_all(x.reshape(TENSOR, 2, -1), "tensor", 0, 0)
            done = jnp.tanh(sent @ w[i])
            back = lax.all_to_all(done, "tensor", 0, 0).reshape(8, -1)
            return x + back, lax.dynamic_update_index_in_dim(kept, back[0] * 0.5, i, 0)

        y, kept = lax.fori_loop(0, 5, step, (x, jnp.zeros((7, 2))))
        return y + kept.sum(0)

    return mean_of_squares(run(p["w"], x.reshape(8 * ROWS, 2)))


def nested_loops(p, x):
    """A loop in each trip of a loop, the inner one over a ring."""

    @region((P(None, None, "tensor"), P("data")), P("data", "tensor"))
    def run(w, x):
        def layer(y, q):
            def turn(i, state):
                q, total = state
                return lax.ppermute(q, "tensor", TURN), total + jnp.sin(y @ q) / (i + 2.0)

            return y + lax.psum(lax.fori_loop(0, TENSOR, turn, (q, jnp.zeros((4, 2))))[1] @ q.T, "tensor") / 9.0, None

        y, _ = lax.scan(layer, x, w)
        return y @ w[0]

    return mean_of_squares(run(p["w"], x))


def bounded(p, x):
    """Each device ends its loop when its own samples say so, at the latest after eight trips."""

    @region((P(), P("data")), P("data"))
    def run(p, x):
        def step(state):
            i, y = state
            return i + 1, y * 0.7 + 0.1 * jnp.tanh(y @ p["up"] + p["bias"]) @ p["down"]

        i, y = until(lambda s: (s[0] < 8) & (jnp.max(jnp.abs(s[1])) > 0.6), step, (0, x), 8)
        return y * (1.0 + 0.1 * i)

    return mean_of_squares(run(p, x))


def agreed(p, x):
    """A fixed point of a layer that all devices look for together; one more application has the derivative."""

    @region((MLP_SPECS, P("data")), P("data"))
    def run(p, x):
        def apply(p, y, x):
            return x + 0.3 * lax.psum(jnp.tanh(0.3 * y @ p["up"] + p["bias"]) @ p["down"], "tensor")

        q, a = jax.tree.map(lax.stop_gradient, p), lax.stop_gradient(x)

        def step(state):
            y, _ = state
            z = apply(q, y, a)
            return z, lax.pmax(jnp.max(jnp.abs(z - y)), ("data", "tensor"))

        y, _ = lax.while_loop(lambda s: s[1] > 1e-12, step, (jnp.zeros_like(a), jnp.inf))
        return apply(p, y, x)

    return mean_of_squares(run(p, x))


def disagreed(p, x):
    """Each device halves its own part of the weights until it is small, and counts."""

    @region((P("data", "tensor"), P("data")), (P("data"), P(("data", "tensor"))))
    def run(w, x):
        def step(state):
            v, count = state
            return v * 0.5 + 0.01 * lax.axis_index("data"), count + 1.0

        goes_on = lambda s: jnp.max(jnp.abs(s[0])) > 0.05 + 0.1 * lax.axis_index("tensor")
        v, count = lax.while_loop(goes_on, step, (lax.stop_gradient(w), jnp.zeros((1,))))
        return x * (1.0 + lax.psum(v.sum() * w.sum(), "tensor")), count

    y, counts = run(p["up"], x)
    return mean_of_squares(y) + jnp.mean(counts * jnp.arange(1.0, 9.0))


@jax.custom_vjp
def mixing(y, q):
    """Its derivative is a rule of its own, which has a product."""
    return jnp.tanh(y * q)


def mixing_backward(kept, g):
    y, q = kept
    return g * (1.0 - jnp.square(jnp.tanh(y * q))) * q + 0.1 * g @ jnp.cos(y.T @ y), jnp.sum(g * y, axis=0)


mixing.defvjp(lambda y, q: (mixing(y, q), (y, q)), mixing_backward)


def one_sided(p, x):
    """The loop of the forward is unrolled, and that of the backward, which has products, stays one."""

    @region((P(), P("data")), P("data"))
    def run(w, x):
        return lax.scan(lambda y, q: (mixing(y, q) + x, None), x, w)[0]

    return mean_of_squares(run(p["w"], x))


def inside_loss(p, x):
    """The derivative is taken in the region."""
    return lax.pmean(mean_of_squares(lax.scan(lambda y, q: (block(q, y), None), x, p)[0]), "data")


def inside(p, x):
    return region((STACK_SPECS, P("data")), P(), check_vma=True)(inside_loss)(p, x)


inside.derived = region((STACK_SPECS, P("data")), (P(), STACK_SPECS), check_vma=True)(jax.value_and_grad(inside_loss))

# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "layers": (layers, STACKS, WIDTH),
    "around": (around, STACKS, WIDTH),
    "recomputed_layers": (recomputed_layers, STACKS, WIDTH),
    "gathered_layers": (gathered_layers, STACKS, WIDTH),
    "turns": (turns, {"w": (WIDTH, WIDTH)}, WIDTH),
    "relayed": (relayed, {"up": (WIDTH, WIDTH)}, WIDTH),
    "times": (times, {"in": (2, 8), "own": (8, 8), "out": (8, 3)}, 16),
    "routed": (routed, {"w": (5, 2, 8)}, 16),
    "nested_loops": (nested_loops, {"w": (5, WIDTH, 8)}, WIDTH),
    "bounded": (bounded, MLP, WIDTH),
    "agreed": (agreed, MLP, WIDTH),
    "disagreed": (disagreed, {"up": MLP["up"]}, WIDTH),
    "one_sided": (one_sided, {"w": (LAYERS, WIDTH)}, WIDTH),
    "inside": (inside, STACKS, WIDTH),
}

# Of these the text has the derivative: it tells what `stop_gradient` stops, and rules of its own.
DERIVED = ["agreed", "disagreed", "one_sided", "inside"]
