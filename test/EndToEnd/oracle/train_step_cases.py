# ===- train_step_cases.py - Steps that JAX has differentiated itself -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The steps of train_steps.py: models, optimizers and what is fed, as users write them."""

import dataclasses
import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

STEPS = 10


# ===------------------------------------------------------------------------=== #
# Optimizers, as their users write them
# ===------------------------------------------------------------------------=== #


def sgd(p, g, rate):
    return jax.tree.map(lambda p, g: p - rate * g, p, g)


def global_norm(g):
    return jnp.sqrt(sum(jnp.sum(jnp.square(x)) for x in jax.tree.leaves(g)))


def clip(g, bound):
    norm = global_norm(g)
    return jax.tree.map(lambda x: x * jnp.minimum(1.0, bound / norm), g), norm


def adam_state(p):
    zeros = jax.tree.map(jnp.zeros_like, p)
    return {"count": jnp.zeros((), jnp.int32), "mu": zeros, "nu": zeros}


def adam(p, s, g, rate, b1=0.9, b2=0.99, eps=1e-6, decay=0.0):
    """Bias correction and a warm-up by the counter in the state."""
    count = s["count"] + 1
    t = count.astype(jax.tree.leaves(p)[0].dtype)
    rate = rate * jnp.minimum(1.0, t / 4)
    mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, s["mu"], g)
    nu = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * jnp.square(g), s["nu"], g)

    def update(p, m, v):
        return p - rate * (m / (1 - b1**t) / (jnp.sqrt(v / (1 - b2**t)) + eps) + decay * p)

    return jax.tree.map(update, p, mu, nu), {"count": count, "mu": mu, "nu": nu}


def cross_entropy(z, y):
    return jnp.mean(jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[..., None], -1)[..., 0])


# ===------------------------------------------------------------------------=== #
# Cases: states, a batch and a step
# ===------------------------------------------------------------------------=== #


@dataclasses.dataclass
class Example:
    """`states` are the first arguments of `step`, the rest are inputs by name. What comes
    first of the results are the new states, unless they are `gradients` of states[0]."""

    step: object
    states: tuple
    inputs: dict
    layout: str = ""
    gradients: bool = False
    extra: str = ""
    donate: bool = True
    refusal: str = ""  # with several microbatches
    order: object = None  # of the results: (states', loss) from what `step` returns


def draw(*shape, seed=0, scale=0.4):
    return np.random.default_rng(seed + sum(shape)).normal(size=shape) * scale


def rows(match, *lists):
    return f'[[layout]]\nmatch = "{match}"\nrest = {json.dumps(lists)}\n'


def batch_of(rng, x_shape, classes=None, y_shape=None, size=8):
    """Rows for all steps."""
    x = rng.normal(size=(STEPS * size, *x_shape))
    y = rng.integers(0, classes, (STEPS * size, *(y_shape or ())), np.int32)
    return {"x": x, "y": y}


def mlp_of(rng, widths=(12, 16, 10)):
    return {"layers": [{"w": rng.normal(size=s) * 0.4, "b": rng.normal(size=s[1:]) * 0.1}
                       for s in zip(widths, widths[1:])]}


def mlp(p, x):
    for layer in p["layers"][:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ p["layers"][-1]["w"] + p["layers"][-1]["b"]


def mlp_momentum(rng):
    """The velocity has the tree of the parameters: only the order of results tells them apart."""

    def train_step(params, velocity, x, y):
        loss, g = jax.value_and_grad(lambda p: cross_entropy(mlp(p, x), y))(params)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, g)
        return sgd(params, velocity, 0.05), velocity, loss

    p = mlp_of(rng)
    layout = rows("*layers.0.w", [], ["tensor"]) + rows("*layers.1.w", ["tensor"])
    return Example(train_step, (p, jax.tree.map(np.zeros_like, p)), batch_of(rng, (12,), 10), layout)


def leaves(rng):
    """Arrays alone, without any names but those of the arguments, and a frozen one."""

    def train_step(w, velocity, scale, x):
        def loss(w):
            return jnp.mean(jnp.square(jnp.tanh(x @ w) * scale - x))

        value, g = jax.value_and_grad(loss)(w)
        velocity = 0.5 * velocity + g
        return w - 0.1 * velocity, velocity, scale, value

    states = (draw(6, 6), np.zeros((6, 6)), np.ones(6) * 1.5)
    return Example(train_step, states, {"x": batch_of(rng, (6,), 2)["x"]}, rows("w", ["tensor"]))


@partial(jax.tree_util.register_dataclass, data_fields=["step", "params", "opt"], meta_fields=[])
@dataclasses.dataclass
class State:
    step: object
    params: object
    opt: object


def tree_state(rng):
    """One dataclass with everything in it, a dictionary of metrics, loss first."""

    def train_step(state, x, y):
        def loss(p):
            z = mlp(p, x)
            return cross_entropy(z, y), jnp.mean((jnp.argmax(z, -1) == y).astype(z.dtype))

        (value, accuracy), g = jax.value_and_grad(loss, has_aux=True)(state.params)
        g, norm = clip(g, 0.5)
        params, opt = adam(state.params, state.opt, g, 0.02, decay=0.01)
        metrics = {"accuracy": accuracy, "grad_norm": norm, "loss": value}
        return metrics, State(state.step + 1, params, opt)

    p = mlp_of(rng)
    layout = rows("params.layers.0.w", [], ["tensor"]) + rows("params.layers.1.w", ["tensor"])
    return Example(train_step, (State(np.int32(0), p, adam_state(p)),), batch_of(rng, (12,), 10), layout,
                   order=lambda out: ((out[1],), out[0]["loss"]))


def gpt(rng):
    vocabulary, width, heads, length, layers = 32, 16, 4, 8, 2

    def norm(p, x):
        x = x - jnp.mean(x, -1, keepdims=True)
        return x * lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]

    def attention(p, x):
        b, t, _ = x.shape
        q, k, v = (jnp.reshape(x @ p[n], (b, t, heads, -1)) for n in "qkv")
        s = jnp.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(width // heads)
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        return jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(s, -1), v).reshape(b, t, -1) @ p["o"]

    def loss(p, x, y):
        h = p["wte"][x] + p["wpe"]
        for block in p["blocks"]:
            h = h + attention(block["attention"], norm(block["ln1"], h))
            h = h + jax.nn.gelu(norm(block["ln2"], h) @ block["up"]) @ block["down"]
        return cross_entropy(norm(p["ln"], h) @ p["wte"].T, y)

    def train_step(params, opt_state, x, y):
        value, g = jax.value_and_grad(loss)(params, x, y)
        g, size = clip(g, 1.0)
        params, opt_state = adam(params, opt_state, g, 0.01, decay=0.1)
        return params, opt_state, {"loss": value, "grad_norm": size}

    def ln():
        return {"scale": np.ones(width), "shift": np.zeros(width)}

    def block(i):
        return {"ln1": ln(), "ln2": ln(), "up": draw(width, 4 * width, seed=i), "down": draw(4 * width, width, seed=i),
                "attention": {n: draw(width, width, seed=10 * i + j) for j, n in enumerate("qkvo")}}

    p = {"wte": draw(vocabulary, width), "wpe": draw(length, width), "ln": ln(),
         "blocks": [block(i) for i in range(layers)]}
    text = rng.integers(0, vocabulary, (STEPS * 4, length + 1), np.int32)
    layout = "".join(rows(f"blocks.*.{n}", *spec) for n, spec in
                     {"attention.o": (["tensor"],), "attention.?": ([], ["tensor"]), "up": ([], ["tensor"]),
                      "down": (["tensor"],)}.items())
    return Example(train_step, (p, adam_state(p)), {"x": text[:, :-1], "y": text[:, 1:]},
                   layout + rows("wte", ["tensor"]))


def moe(rng):
    """Two of four experts for each row, by one-hot products; a loss of balance beside the mean."""
    width, experts = 8, 4

    def loss(p, x, y):
        gates = jax.nn.softmax(x @ p["gate"])
        first = jax.nn.one_hot(jnp.argmax(gates, -1), experts, dtype=gates.dtype)
        second = jax.nn.one_hot(jnp.argmax(gates - 2 * first, -1), experts, dtype=gates.dtype)
        weights = gates * (first + second)
        weights = weights / jnp.sum(weights, -1, keepdims=True)
        h = jax.nn.silu(jnp.einsum("bi,eij->bej", x, p["up"]))
        z = jnp.einsum("bej,ejk,be->bk", h, p["down"], weights)
        return cross_entropy(z, y) + 0.01 * experts * jnp.sum(jnp.mean(gates, 0) * jnp.mean(first, 0))

    def train_step(params, opt_state, x, y):
        value, g = jax.value_and_grad(loss)(params, x, y)
        params, opt_state = adam(params, opt_state, g, 0.02)
        return params, opt_state, value

    p = {"gate": draw(width, experts), "up": draw(experts, width, 16), "down": draw(experts, 16, 10)}
    layout = rows("up", ["tensor"]) + rows("down", ["tensor"])
    return Example(train_step, (p, adam_state(p)), batch_of(rng, (width,), 10), layout,
                   refusal="'stablehlo.multiply' that is not linear in sums over the batch")


def conv(rng):
    """Convolutions, pooling, batch norm with running statistics, and plain descent."""

    def norm(p, s, x):
        mean, var = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        new = {"mean": 0.9 * s["mean"] + 0.1 * mean, "var": 0.9 * s["var"] + 0.1 * var}
        return (x - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["shift"], new

    def loss(p, stats, x, y):
        h = lax.conv_general_dilated(x, p["first"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        h, stats = norm(p["norm"], stats, h)
        h = lax.reduce_window(jax.nn.relu(h), -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = lax.conv_general_dilated(h, p["second"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return cross_entropy(jnp.mean(h, (1, 2)) @ p["head"], y), stats

    def train_step(params, stats, x, y):
        (value, stats), g = jax.value_and_grad(loss, has_aux=True)(params, stats, x, y)
        return sgd(params, g, 0.1), stats, value

    p = {"first": draw(3, 3, 2, 4), "second": draw(3, 3, 4, 8), "head": draw(8, 5),
         "norm": {"scale": np.ones(4), "shift": np.zeros(4)}}
    stats = {"mean": np.zeros(4), "var": np.ones(4)}
    return Example(train_step, (p, stats), batch_of(rng, (6, 6, 2), 5), rows("head", ["tensor"]),
                   refusal="'stablehlo.subtract' that combines samples with a sum over the batch")


def dropout(rng):
    """A key that the step splits, and a copy of the weights that follows them and is used."""

    def train_step(params, key, target, x, y):
        key, mine = jax.random.split(key)

        def loss(p):
            z = mlp(p, x)
            kept = jax.random.bernoulli(mine, 0.8, z.shape)
            z = jnp.where(kept, z / 0.8, 0.0)
            return cross_entropy(z, y) + 0.1 * jnp.mean(jnp.square(z - mlp(target, x)))

        value, g = jax.value_and_grad(loss)(params)
        params = sgd(params, g, 0.1)
        target = jax.tree.map(lambda t, p: 0.9 * t + 0.1 * p, target, params)
        return params, key, target, value

    p = mlp_of(rng)
    return Example(train_step, (p, np.array([3, 5], np.uint32), p), batch_of(rng, (12,), 10),
                   rows("params.layers.0.w", [], ["tensor"]))


def scanned(rng):
    """Layers by a scan, recomputed in the backward; ZeRO-1 of the optimizer's states."""

    def loss(p, x, y):
        body = jax.checkpoint(lambda h, q: (h + jnp.tanh(h @ q["up"]) @ q["down"], None))
        h, _ = lax.scan(body, x @ p["in"], p["layers"])
        return cross_entropy(h @ p["out"], y)

    def train_step(params, opt_state, x, y):
        value, g = jax.value_and_grad(loss)(params, x, y)
        params, opt_state = adam(params, opt_state, g, 0.01)
        return params, opt_state, value

    p = {"in": draw(6, 8), "out": draw(8, 10), "layers": {"up": draw(3, 8, 16), "down": draw(3, 16, 8)}}
    layout = ('[[layout]]\nmatch = "layers.up"\nrest = [[], [], ["tensor"]]\noptimizer = [[], ["data"], ["tensor"]]\n'
              '[[layout]]\nmatch = "layers.down"\nrest = [[], ["tensor"]]\noptimizer = [[], ["tensor"], ["data"]]\n')
    return Example(train_step, (p, adam_state(p)), batch_of(rng, (6,), 10), layout)


def gradients(rng):
    """Loss and gradients alone: the optimizer is llmc's."""

    def loss(params, x, y):
        return cross_entropy(mlp(params, x), y)

    layout = rows("layers.0.w", [], ["tensor"]) + rows("layers.1.w", ["tensor"])
    # Numbers that f32 has: that is the type of a rate.
    extra = '[optimizer]\nname = "momentum"\nmomentum = 0.875\nlr = 0.0625\n[training]\nmax_norm = 0.5\n'
    return Example(jax.value_and_grad(loss), (mlp_of(rng),), batch_of(rng, (12,), 10), layout, True, extra, False)


CASES = {"momentum": mlp_momentum, "leaves": leaves, "tree": tree_state, "gpt": gpt, "moe": moe, "conv": conv,
         "dropout": dropout, "scan": scanned, "gradients": gradients}
