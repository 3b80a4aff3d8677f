# ===- manual_losses.py - Losses by shard_map -------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses of manual.py: (params, x) -> loss on 8 devices, with the shapes of the parameters."""

import functools

import quick_xla

quick_xla.ask("--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
from jax import lax, shard_map
from jax.sharding import PartitionSpec as P

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

DATA, TENSOR = 2, 4
MESH = jax.make_mesh((DATA, TENSOR), ("data", "tensor"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
ROWS, WIDTH = 8, 8


def region(in_specs, out_specs, **options):
    """The function on the parts that a device has."""
    options.setdefault("check_vma", False)
    return functools.partial(shard_map, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)


def mean_of_squares(*values):
    return sum(jnp.mean(jnp.square(v)) for v in values)


# Columns of the first weight and rows of the second over "tensor", the batch over "data".
MLP = {"up": (WIDTH, 16), "bias": (16,), "down": (16, WIDTH)}
MLP_SPECS = {"up": P(None, "tensor"), "bias": P("tensor"), "down": P("tensor", None)}


def megatron(p, x):
    """A partial sum of each device, added up."""

    @region((MLP_SPECS, P("data")), P("data"), check_vma=True)
    def run(p, x):
        return x + lax.psum(jnp.tanh(x @ p["up"] + p["bias"]) @ p["down"], "tensor")

    return mean_of_squares(run(p, x))


def mean_loss(p, x):
    """The loss itself is computed on each device; a helper of jit holds a collective."""

    @jax.jit
    def average(value):
        return lax.pmean(value, "data")

    @region((MLP_SPECS, P("data")), P())
    def run(p, x):
        y = lax.psum(jnp.tanh(x @ p["up"] + p["bias"]) @ p["down"], "tensor")
        return average(jnp.mean(jnp.square(y)))

    return run(p, x)


def extremes(p, x):
    """Logarithms of sums that are shifted by a maximum or minimum, whose derivative cancels."""

    @region((P(None, "tensor"), P("data")), (P("data"), P(), P(None, "tensor")))
    def run(up, x):
        h = x @ up
        top = lax.pmax(lax.stop_gradient(h), "tensor")
        total = lax.psum(jnp.exp(h - top), "tensor")
        least = lax.pmin(lax.stop_gradient(h), ("data", "tensor"))
        mean = lax.pmean(jnp.exp(least - h), ("tensor", "data"))
        return jnp.log(total) + top, jnp.log(mean) - least, lax.pmean(h, "data")

    a, b, c = run(p["up"], x)
    return mean_of_squares(a, b, c)


def gathers(p, x):
    """Gathers along old and new dims, over one axis and over both in either order."""

    @region((P("tensor"), P(("data", "tensor"))), (P(), P(None, "tensor"), P("data")))
    def run(down, x):
        w = lax.all_gather(down, "tensor", tiled=True)
        rows = lax.all_gather(x, ("tensor", "data"), tiled=True)
        stacked = lax.all_gather(x @ w.T, "data", axis=1)
        return rows[::2] @ w.T, stacked.reshape(1, -1).repeat(2, 0), lax.all_gather(x, "tensor", tiled=True) @ w.T

    a, b, c = run(p["down"], x)
    return mean_of_squares(a, b) + jnp.mean(c * jnp.arange(1.0, 17.0))


def scatters(p, x):
    """Sums whose parts go to devices, along a dim and instead of one; of a value that all have too."""

    @region((P(None, "tensor"), P("data"), P()), (P("data", "tensor"), P(("tensor", "data")), P("tensor")))
    def run(up, x, bias):
        h = jnp.sin(x @ up)
        cut = lax.psum_scatter(h, "tensor", scatter_dimension=1, tiled=True)
        both = lax.psum_scatter(h.reshape(-1), ("tensor", "data"), tiled=True)
        equal = lax.psum_scatter(jnp.cos(bias).reshape(4, 4), "tensor", scatter_dimension=0)
        return cut, both, equal

    a, b, c = run(p["up"], x, p["bias"])
    return mean_of_squares(a, c) + jnp.mean(b * jnp.arange(1.0, 1.0 + b.size))


def exchanges(p, x):
    """Rows for columns and back, over one axis and over both."""

    @region((P(None, "tensor"), P("data")), (P("data", "tensor"), P(None, ("tensor", "data"))))
    def run(up, x):
        h = x @ up
        rows = lax.all_to_all(h, "tensor", 0, 1, tiled=True)
        back = lax.all_to_all(jnp.tanh(rows) * lax.axis_index("tensor"), "tensor", 1, 0, tiled=True)
        same = lax.all_to_all(h.reshape(-1), ("tensor", "data"), 0, 0, tiled=True)
        stacked = lax.all_to_all(h, "tensor", 0, 0)
        return back, same.reshape(1, -1) + (stacked * jnp.arange(1.0, 5.0)).sum()

    a, b = run(p["up"], x)
    return mean_of_squares(a) + jnp.mean(jnp.sin(b) * jnp.arange(1.0, 1.0 + b.size))


def shifts(p, x):
    """Rotations, a shift that wraps nowhere, an exchange of two, over both axes too."""

    @region((P(None, "tensor"), P("data")), (P("data", "tensor"), P("data", "tensor")))
    def run(up, x):
        h = x @ up
        around = lax.ppermute(h, "tensor", [(i, (i + 1) % TENSOR) for i in range(TENSOR)])
        ahead = lax.ppermute(h, "tensor", [(i, i + 1) for i in range(TENSOR - 1)])
        pair = lax.ppermute(h, "tensor", [(0, 2), (2, 0)])
        both = lax.ppermute(h, ("data", "tensor"), [(i, (3 * i + 1) % 8) for i in range(8)])
        return around * h, jnp.tanh(ahead) + 2 * pair + both * h

    a, b = run(p["up"], x)
    return mean_of_squares(a, b)


def numbers(p, x):
    """What devices do differs by their number: boxes, masks, choices, updates, rows of a table."""

    @region((P(), P("data")), P("data", "tensor"))
    def run(p, x):
        i, j = lax.axis_index("tensor"), lax.axis_index("data")
        up = lax.dynamic_slice_in_dim(p["up"], i * 4, 4, axis=1)
        h = jnp.where((i + j) % 2 == 0, x @ up, jnp.sin(x @ up))
        h = lax.dynamic_update_slice_in_dim(h, h[:, :1] * 3.0, (i + 1) % 4, axis=1)
        h = h + p["bias"][(3 * i + j) % 5] * (jnp.arange(4) > i)
        return h * jnp.float64(i + 1) + lax.dynamic_index_in_dim(p["down"], 2 * i, 0)[:, 2:6]

    return mean_of_squares(run(p, x))


def nested(p, x):
    """A region in a region, whose collectives cross both axes."""

    @region((P(), P("data")), P("data"), axis_names={"data"})
    def outer(up, x):
        @functools.partial(
            shard_map, in_specs=(P(None, "tensor"), P()), out_specs=P(), axis_names={"tensor"}, check_vma=False
        )
        def inner(up, x):
            h = jnp.tanh(x @ up)
            norm = lax.psum(jnp.sum(h * h), ("data", "tensor"))
            return lax.psum(h.sum(1, keepdims=True) * x / norm, "tensor") + lax.axis_index("data")

        return inner(up, x) + lax.pmean(x, "data")

    return mean_of_squares(outer(p["up"], x))


def partial(p, x):
    """One axis is manual, and layouts say what the other does."""

    @region((P(), P("data")), P("data"), axis_names={"data"})
    def run(p, x):
        h = jnp.tanh(x @ p["up"] + p["bias"])
        h = lax.with_sharding_constraint(h, P(None, "tensor"))
        return h @ p["down"] - lax.pmean(x, "data") * lax.axis_index("data")

    return mean_of_squares(run(p, x))


def recomputed(p, x):
    """Layers of a scan, each a region that is recomputed."""

    @region((MLP_SPECS, P("data")), P("data"))
    def layer(p, x):
        @jax.checkpoint
        def block(p, x):
            return x + lax.psum(jnp.tanh(x @ p["up"] + p["bias"]) @ p["down"], "tensor")

        return block(p, x)

    y, _ = lax.scan(lambda c, _: (layer(p, c), None), x, None, length=3)
    return mean_of_squares(y)


def gathered_weights(p, x):
    """Each device keeps a part of the weights, and gathers them for its samples."""

    @region(({"up": P("data", "tensor"), "bias": P("tensor"), "down": P(("tensor", "data"), None)}, P("data")), P())
    def run(p, x):
        up = lax.all_gather(p["up"], "data", tiled=True)
        down = lax.all_gather(p["down"], "data", tiled=True)
        y = lax.psum(jnp.tanh(x @ up + p["bias"]) @ down, "tensor")
        return lax.pmean(jnp.mean(jnp.square(x - y)), "data")

    return run(p, x)


def ring(p, x):
    """Causal attention over a sequence of which each device has a piece: keys and values go round."""

    @region((P(), P(None, "tensor")), P(None, "tensor"))
    def attend(w, x):
        q, k, v = (x @ w[i] for i in range(3))
        me, piece = lax.axis_index("tensor"), x.shape[1]
        place = jnp.arange(piece)

        def step(i, state):
            k, v, top, total, out = state
            owner = (me - i) % TENSOR
            seen = (me * piece + place)[:, None] >= (owner * piece + place)[None, :]
            scores = jnp.where(seen, jnp.einsum("bqd,bkd->bqk", q, k), -1e30)
            high = jnp.maximum(top, scores.max(-1, keepdims=True))
            e, scale = jnp.exp(scores - high), jnp.exp(top - high)
            out = out * scale + jnp.einsum("bqk,bkd->bqd", e, v)
            turn = [(j, (j + 1) % TENSOR) for j in range(TENSOR)]
            k, v = (lax.ppermute(t, "tensor", turn) for t in (k, v))
            return k, v, high, total * scale + e.sum(-1, keepdims=True), out

        start = jnp.full((*q.shape[:-1], 1), -1e30)
        _, _, _, total, out = lax.fori_loop(0, TENSOR, step, (k, v, start, jnp.zeros_like(start), jnp.zeros_like(q)))
        return out / total

    return mean_of_squares(attend(p["qkv"], x.reshape(2, 16, 4)))


def experts(p, x):
    """Tokens go to the device of their expert, and back: one expert for each token, of two on a device."""
    count, capacity = 2 * TENSOR, 3

    @region((P("tensor"), P("tensor"), P(), P(("data", "tensor"))), P(("data", "tensor")))
    def run(up, down, router, x):
        probability = jax.nn.softmax(x @ router)
        expert = jnp.argmax(probability, -1)
        picked = jax.nn.one_hot(expert, count)
        slot = ((jnp.cumsum(picked, 0) - 1) * picked).sum(-1).astype(jnp.int32)
        places = picked[:, :, None] * jax.nn.one_hot(slot, capacity)[:, None, :]
        sent = jnp.einsum("nec,nd->ecd", places, x).reshape(TENSOR, 2, capacity, -1)
        got = lax.all_to_all(sent, "tensor", 0, 0).swapaxes(0, 1).reshape(2, TENSOR * capacity, -1)
        done = jnp.tanh(got @ up) @ down
        done = done.reshape(2, TENSOR, capacity, -1).swapaxes(0, 1)
        back = lax.all_to_all(done, "tensor", 0, 0).reshape(count, capacity, -1)
        weight = (probability * picked).sum(-1, keepdims=True)
        return x + weight * jnp.einsum("nec,ecd->nd", places, back)

    return mean_of_squares(run(p["up"], p["down"], p["router"], x.reshape(4 * ROWS, 2)))


def stages(p, x):
    """A pipeline by hand: four layers on four devices, microbatches move ahead by one in each turn."""
    count = 3

    @region((P("tensor"), P()), P())
    def run(w, x):
        me = lax.axis_index("tensor")
        parts = x.reshape(2, ROWS // 2, WIDTH)
        state, out = jnp.zeros_like(parts[0]), jnp.zeros_like(parts)
        for turn in range(2 + TENSOR - 1):
            here = jnp.where(me == 0, parts[min(turn, 1)], state)
            done = jnp.tanh(here @ w[0])
            if turn >= TENSOR - 1:
                out = out.at[turn - (TENSOR - 1)].set(jnp.where(me == TENSOR - 1, done, 0.0))
            state = lax.ppermute(done, "tensor", [(i, i + 1) for i in range(count)])
        return lax.psum(out, "tensor")

    return mean_of_squares(run(p["w"], x))


def lookups(p, x):
    """Rows of a table by number, on each device others; additions at places that differ."""

    @region((P("tensor"), P("data")), P("data"))
    def run(table, x):
        number = jnp.argsort(x, axis=-1)[:, 0]
        low = lax.axis_index("tensor") * 2
        here = (number >= low) & (number < low + 2)
        rows = jnp.where(here[:, None], table[jnp.clip(number - low, 0, 1)], 0.0)
        counts = jnp.zeros((8, 1)).at[number].add(rows[:, :1])
        return lax.psum(rows, "tensor") + lax.psum(counts, ("data", "tensor")).T

    return mean_of_squares(run(p["table"], x))


def complex_numbers(p, x):
    """Complex numbers into a region and out of it, and all that devices do with each other's; a constraint on them."""

    @region((P(None, "tensor"), P("data")), P("data"))
    def run(w, z):
        h = z @ w
        h = lax.all_gather(h, "tensor", axis=1, tiled=True) + lax.psum(h.sum(1, keepdims=True), "tensor")
        h = lax.ppermute(h, "tensor", [(i, (i + 1) % TENSOR) for i in range(TENSOR)])
        h = lax.all_to_all(h, "tensor", 1, 0, tiled=True)
        h = lax.psum_scatter(h, "tensor", scatter_dimension=0, tiled=True)
        return lax.all_gather(h, "tensor", axis=1, tiled=True)

    z = lax.with_sharding_constraint(lax.complex(x, x * x), jax.sharding.NamedSharding(MESH, P(None, "tensor")))
    z = run(lax.complex(p["up"], jnp.roll(p["up"], 1, 0)), z)
    return mean_of_squares(z.real, z.imag)


# Name -> loss, shapes of its parameters, width of a sample.
CASES = {
    "megatron": (megatron, MLP, WIDTH),
    "mean_loss": (mean_loss, MLP, WIDTH),
    "extremes": (extremes, {"up": MLP["up"]}, WIDTH),
    "gathers": (gathers, {"down": MLP["down"]}, WIDTH),
    "scatters": (scatters, {"up": MLP["up"], "bias": (16,)}, WIDTH),
    "exchanges": (exchanges, {"up": MLP["up"]}, WIDTH),
    "shifts": (shifts, {"up": MLP["up"]}, WIDTH),
    "numbers": (numbers, MLP, WIDTH),
    "nested": (nested, {"up": MLP["up"]}, WIDTH),
    "partial": (partial, MLP, WIDTH),
    "recomputed": (recomputed, MLP, WIDTH),
    "gathered_weights": (gathered_weights, MLP, WIDTH),
    "ring": (ring, {"qkv": (3, 4, 4)}, 16),
    "experts": (experts, {"up": (8, 2, 6), "down": (8, 6, 2), "router": (2, 8)}, WIDTH),
    "stages": (stages, {"w": (4, WIDTH, WIDTH)}, WIDTH),
    "lookups": (lookups, {"table": (8, WIDTH)}, WIDTH),
    "complex_numbers": (complex_numbers, {"up": MLP["up"]}, WIDTH),
}

# As jax.export prints them: properties that have their default values are gone.
EXPORTED = ["shifts", "gathered_weights", "experts"]
