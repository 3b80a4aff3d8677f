# ===- varied_losses.py - Losses of many kinds of models against jax.grad ---=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""One loss of each of many kinds of models, written for this test: one step of plain descent in f64 against jax.grad,
of the text of the loss and (`NAME.derived`) of jax.value_and_grad.

    python varied_losses.py --llmc llmc -o out [--only rwkv,'*.derived']
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import mlir

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, S, W = 4, 8, 8  # samples, times, width
RUNS = [("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "data=2")]
CASES = {}


def case(shapes, samples=(B, S, W)):
    def add(f):
        CASES[f.__name__] = (f, shapes, samples)
        return f
    return add


# JAX's own `stop_gradient`, with a trace in the text (docs/derivatives.md).
primitive = jax.make_jaxpr(lax.stop_gradient)(0.0).eqns[0].primitive
mlir.register_lowering(primitive, mlir.lower_fun(
    lambda x: lax.composite(lambda y: y, name="llmc.stop_gradient")(x), multiple_results=False))


def square(y):
    """A weighted mean of squares: each place of a sample has a weight of its own, so that their order counts."""
    return jnp.mean(y**2 * np.linspace(1, 2, int(np.prod(y.shape[1:]))).reshape(y.shape[1:]))


@case({"r": (W, W), "k": (W, W), "v": (W, W), "decay": (W,), "first": (W,)})
def rwkv(p, x):
    """A weighted mean over the times so far, by a scan that carries its greatest exponent (Peng et al., 2023)."""
    def step(carry, row):
        a, b, m = carry
        k, v = row
        top = jnp.maximum(m, k + p["first"])
        old, new = jnp.exp(m - top), jnp.exp(k + p["first"] - top)
        y = (old * a + new * v) / (old * b + new)
        top = jnp.maximum(m - jnp.exp(p["decay"]), k)
        old, new = jnp.exp(m - jnp.exp(p["decay"]) - top), jnp.exp(k - top)
        return (old * a + new * v, old * b + new, top), y
    zero = jnp.zeros((x.shape[0], W))
    rows = ((x @ p["k"]).swapaxes(0, 1), (x @ p["v"]).swapaxes(0, 1))
    return square(jax.nn.sigmoid(x @ p["r"]) * lax.scan(step, (zero, zero, zero - 1e30), rows)[1].swapaxes(0, 1))


@case({"e": (W, W), "book": (16, W), "d": (W, W)})
def vq_vae(p, x):
    """The nearest row of a book, through which the gradient goes straight (van den Oord et al., 2017)."""
    z = jnp.tanh(x @ p["e"])
    q = p["book"][jnp.argmin(jnp.sum((z[..., None, :] - p["book"]) ** 2, -1), -1)]
    through = z + lax.stop_gradient(q - z)
    return square(through @ p["d"] - x) + square(lax.stop_gradient(z) - q) + 0.25 * square(z - lax.stop_gradient(q))


@case({"mean": (W, W), "scale": (W, W), "d": (W, W)})
def vae(p, x):
    mean, scale = x @ p["mean"], x @ p["scale"] / 10
    z = mean + jnp.exp(scale) * jax.random.normal(jax.random.key(3), (S, W))
    return square(jax.nn.sigmoid(z @ p["d"]) - x) + jnp.mean(mean**2 + jnp.exp(2 * scale) - 1 - 2 * scale)


@case({"w": (W, W), "a": (2, W)})
def graph_attention(p, x):
    """Softmax over the edges into each node, by sums and maxima of segments."""
    sources, targets = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 4, 6]), np.array([1, 2, 3, 4, 5, 6, 7, 0, 4, 6, 0, 2])

    def one(x):
        h = x @ p["w"]
        score = jax.nn.leaky_relu(h[sources] @ p["a"][0] + h[targets] @ p["a"][1])
        top = lax.stop_gradient(jax.ops.segment_max(score, targets, S))
        e = jnp.exp(score - top[targets])
        share = e / jax.ops.segment_sum(e, targets, S)[targets]
        return jax.ops.segment_sum(share[:, None] * h[sources], targets, S)
    return square(jax.vmap(one)(x))


@case({"w": (W, 5)})
def ctc(p, x):
    """The probability of a label over all alignments, by a scan over the times (Graves et al., 2006)."""
    wide, low = jnp.array([0, 1, 0, 2, 0, 1, 0]), -1e9
    skips = jnp.array([False, False, False, True, False, True, False])

    def one(scores):
        def step(a, row):
            one = jnp.concatenate([jnp.full((1,), low), a[:-1]])
            two = jnp.where(skips, jnp.concatenate([jnp.full((2,), low), a[:-2]]), low)
            return jnp.logaddexp(jnp.logaddexp(a, one), two) + row[wide], None
        start = jnp.full((7,), low).at[0].set(scores[0, 0]).at[1].set(scores[0, 1])
        last = lax.scan(step, start, scores[1:])[0]
        return -jnp.logaddexp(last[-1], last[-2])
    return jnp.mean(jax.vmap(one)(jax.nn.log_softmax(x @ p["w"])))


@case({"w": (6, W, W), "b": (6, W)})
def neural_ode(p, x):
    """Layers by a scan, in each of which a scan takes steps of Runge and Kutta."""
    def layer(h, row):
        def slope(h):
            return jnp.tanh(h @ row[0] + row[1])

        def step(h, _):
            k1 = slope(h)
            k2 = slope(h + 0.05 * k1)
            k3 = slope(h + 0.05 * k2)
            return h + (k1 + 2 * k2 + 2 * k3 + slope(h + 0.1 * k3)) / 60, None
        return lax.scan(step, h, None, length=5)
    return square(lax.scan(layer, x, (p["w"], p["b"]))[0])


@case({"q": (W, W), "k": (W, W), "v": (W, W)})
def online_softmax(p, x):
    """Attention by a scan over blocks of keys (Milakov and Gimelshein, 2018)."""
    q = x @ p["q"]
    blocks = [(x @ p[n]).reshape(-1, 4, S // 4, W).swapaxes(0, 1) for n in "kv"]

    def step(carry, block):
        o, m, total = carry
        s = jnp.einsum("bqd,bkd->bqk", q, block[0]) / np.sqrt(W)
        top = jnp.maximum(m, s.max(-1))
        e, old = jnp.exp(s - top[..., None]), jnp.exp(m - top)
        return (o * old[..., None] + e @ block[1], top, total * old + e.sum(-1)), None
    o, _, total = lax.scan(step, (jnp.zeros_like(q), jnp.full(q.shape[:2], -1e30), jnp.zeros(q.shape[:2])), tuple(blocks))[0]
    return square(o / total[..., None])


@case({"w": (W, W), "v": (W, W)})
def capsules(p, x):
    """Three rounds of routing by agreement (Sabour et al., 2017)."""
    u = jnp.einsum("bsw,wv->bsv", x, p["w"]).reshape(-1, S, 2, 4)

    def route(_, logits):
        s = jnp.einsum("bsc,bscv->bcv", jax.nn.softmax(logits, -1), u)
        n = jnp.sum(s**2, -1, keepdims=True)
        return logits + jnp.einsum("bscv,bcv->bsc", u, n / (1 + n) * s / jnp.sqrt(n + 1e-9))
    logits = lax.fori_loop(0, 3, route, jnp.zeros((x.shape[0], S, 2)))
    return square(jnp.einsum("bsc,bscv->bcv", jax.nn.softmax(logits, -1), u).reshape(-1, W) @ p["v"])


@case({"text": (W, W), "image": (W, W), "scale": ()})
def clip(p, x):
    a, b = x.mean(1) @ p["text"], x.max(1) @ p["image"]
    a, b = (v / jnp.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    scores = a @ b.T * jnp.exp(p["scale"])
    return -(jnp.mean(jnp.diag(jax.nn.log_softmax(scores))) + jnp.mean(jnp.diag(jax.nn.log_softmax(scores.T)))) / 2


@case({"w": (3, W // 2, 2 * W), "u": (3, 2 * W, W)})
def coupling_flow(p, x):
    """Affine couplings and the logarithm of their determinant (Dinh et al., 2017)."""
    logDeterminant = 0.0
    for w, u in zip(p["w"], p["u"]):
        a, b = jnp.split(x, 2, -1)
        scale, shift = jnp.split(jnp.tanh(a @ w) @ u, 2, -1)
        logDeterminant += jnp.mean(jnp.sum(jnp.tanh(scale), (-1, -2)))
        x = jnp.concatenate([b * jnp.exp(jnp.tanh(scale)) + shift, a], -1)
    return square(x) - 0.01 * logDeterminant


@case({"w": (W, W), "c": (W, W)})
def recurrent_dropout(p, x):
    """A mask for each time, by keys that the number of the trip makes."""
    def step(state, row):
        mask = jax.random.bernoulli(jax.random.fold_in(jax.random.key(0), row[0]), 0.9, (W,))
        gate = jax.nn.sigmoid(row[1] @ p["w"])
        state = gate * jnp.tanh(state @ p["c"]) * mask / 0.9 + (1 - gate) * state
        return state, state
    return square(lax.scan(step, jnp.ones((x.shape[0], W)), (jnp.arange(S), x.swapaxes(0, 1)))[1])


@case({"experts": (4, W, W), "gate": (W, 4), "out": (W, W)})
def capacity(p, x):
    """Experts with six places each, by a cumulative sum of one-hots; who finds none is left out."""
    tokens = x.reshape(-1, W)
    gates = jax.nn.softmax(tokens @ p["gate"])
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), 4)
    place = (jnp.cumsum(chosen, 0) - 1) * chosen
    sent = ((place < 6) * chosen)[..., None] * jax.nn.one_hot(place, 6)
    done = jnp.einsum("ecw,ewv->ecv", jnp.einsum("tec,tw->ecw", sent, tokens), p["experts"])
    return square(jnp.einsum("tec,ecv->tv", sent * jnp.sum(gates * chosen, -1)[:, None, None], done) @ p["out"])


@case({"k": (3, 3, 1, 4), "w": (4, W)}, samples=(B, 8, 8, 1))
def pictures(p, x):
    h = lax.conv_general_dilated(x, p["k"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    h = lax.reduce_window(jax.nn.gelu(h), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return square(jnp.mean(h, (1, 2)) @ p["w"])


@case({"w": (W, W)})
def sinkhorn(p, x):
    """Rows and columns that sum to 1, in turn (Cuturi, 2013)."""
    def turn(_, a):
        a = a - jax.nn.logsumexp(a, -1, keepdims=True)
        return a - jax.nn.logsumexp(a, -2, keepdims=True)
    return jnp.mean(jnp.exp(lax.fori_loop(0, 6, turn, x @ p["w"])) * x)


@case({"w": (W, W)})
def medians(p, x):
    y = x @ p["w"]
    return jnp.mean(jnp.abs(jnp.sort(y, axis=-1)[..., W // 2])) + jnp.mean(jnp.median(y, -1))


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
NAMES = [*CASES, *(n + DERIVED for n in CASES)]


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss_name = name.removesuffix(DERIVED)
        self.loss, shapes, samples = CASES[self.loss_name]
        # A loss over pairs of samples, places that all compete for, and sums of trips are of the whole batch.
        super().__init__(a, name, shapes, samples, one_step.CONFIGURATION.replace("microbatches = 2", "microbatches = 1"))
        f = jax.value_and_grad(self.loss) if name.endswith(DERIVED) else self.loss

        def train(params, x):
            return f(params, x)

        given = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in shapes.items()}
        self.write_text(jax.jit(train).lower(given, jax.ShapeDtypeStruct(samples, np.float64)).as_text(debug_info=True))

    def expect(self):
        return one_step.by_jax(self.loss, self.parameters, self.x)


if __name__ == "__main__":
    one_step.main(__doc__, NAMES, Case, RUNS, usual=3)
