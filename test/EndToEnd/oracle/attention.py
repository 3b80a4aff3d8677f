# ===- attention.py - Attention in its spellings, against jax.grad ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with attention in the spellings of JAX programs, against jax.grad.

One step of plain descent with rate 1 in f64, in two microbatches: the loss, and each
parameter's gradient (what the step takes off), within 1e-10 of JAX on the whole batch;
by the interpreter, and by kernels on one device and on meshes, and with nothing raised.
How many attentions are raised is checked first.

    python attention.py --llmc llmc -o out
    python attention.py --llmc llmc -o out --only grouped,window
"""

import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import one_step
import printed_ops

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, TIMES, WIDTH, HEADS, DEPTH = 4, 6, 8, 4, 2
RUNS = [
    ("interpret", ""),
    ("train", ""),
    ("train", "data=2,tensor=2"),
    ("train", "", "training.raise=false"),
]
# Of each case by the nightly script.
MORE_RUNS = [
    *RUNS,
    ("interpret", "data=2,tensor=2"),
    ("train", "data=3"),
    ("train", "pipe=2"),
    ("train", "tensor=3"),
    ("train", "pipe=2,data=2,tensor=2"),
    ("train", "", "training.recompute='all'"),
]


def weights(keys=WIDTH, values=WIDTH, **more):
    """Of query, key, value and output; the last two by their width."""
    return {"wq": (WIDTH, WIDTH), "wk": (WIDTH, keys), "wv": (WIDTH, values), "wo": (values, WIDTH), **more}


def heads(x, count=HEADS):
    return x.reshape(*x.shape[:-1], count, -1)


def tokens(x):
    return x.reshape(x.shape[0], TIMES, WIDTH)


def loss_of(out, p, x):
    """The mean square of the output beside the input."""
    return jnp.mean((x + out.reshape(*x.shape[:2], -1) @ p["wo"]) ** 2)


def projected(p, x, groups=HEADS):
    """Query, key and value as [sample, time, head, depth]."""
    return heads(x @ p["wq"]), heads(x @ p["wk"], groups), heads(x @ p["wv"], groups)


def attend(q, k, v, change=lambda s: s, weigh=jax.nn.softmax):
    s = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    return jnp.einsum("bhts,bshd->bthd", weigh(change(s)), v)


def seen(rows=TIMES, columns=TIMES, shift=0):
    return jnp.arange(columns)[None, :] <= jnp.arange(rows)[:, None] + shift


def plain(p, x):
    x = tokens(x)
    return loss_of(attend(*projected(p, x)), p, x)


def causal(p, x):
    x = tokens(x)
    mask = jnp.tril(jnp.ones((TIMES, TIMES), bool))
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -jnp.inf)), p, x)


def lowest(p, x):
    """Masked by the lowest number, of a table of zeros and ones."""
    x = tokens(x)
    mask = jnp.tril(jnp.ones((TIMES, TIMES)))
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask == 0, jnp.finfo(s.dtype).min, s)), p, x)


def constant(p, x):
    """Masked by a table that the text holds."""
    x = tokens(x)
    mask = np.tril(np.ones((1, 1, TIMES, TIMES), bool))
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -1e9)), p, x)


def additive(p, x):
    x = tokens(x)
    added = jnp.where(seen(), 0.0, -jnp.inf)
    return loss_of(attend(*projected(p, x), lambda s: s + added), p, x)


def padded(p, x):
    """Masked by what the sample says too."""
    x = tokens(x)
    keys = (x[:, :, 0] > 0) | (jnp.arange(TIMES) == 0)
    mask = seen()[None, None] & keys[:, None, None, :]
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -jnp.inf)), p, x)


def grouped(p, x):
    """Two groups of heads, each of which shares a key and a value."""
    x = tokens(x)
    q = (x @ p["wq"]).reshape(-1, TIMES, 2, 2, DEPTH)
    k, v = heads(x @ p["wk"], 2), heads(x @ p["wv"], 2)
    s = jnp.einsum("btkgd,bskd->bkgts", q, k) * DEPTH**-0.5
    s = jnp.where(seen(), s, -jnp.inf)
    return loss_of(jnp.einsum("bkgts,bskd->btkgd", jax.nn.softmax(s), v), p, x)


def repeated(p, x):
    """The same with keys and values repeated."""
    x = tokens(x)
    q, k, v = projected(p, x, 2)
    k, v = (jnp.broadcast_to(y[:, :, :, None], (*y.shape[:3], 2, DEPTH)).reshape(q.shape) for y in (k, v))
    return loss_of(attend(q, k, v, lambda s: jnp.where(seen(), s, -jnp.inf)), p, x)


def multi_query(p, x):
    """All heads share a key and a value."""
    x = tokens(x)
    q, k, v = heads(x @ p["wq"]), x @ p["wk"], x @ p["wv"]
    s = jnp.where(seen(), jnp.einsum("bthd,bsd->bhts", q, k), -jnp.inf)
    return loss_of(jnp.einsum("bhts,bsd->bthd", jax.nn.softmax(s), v), p, x)


def cross(p, x):
    """Other numbers of keys than queries, and wider values."""
    x = tokens(x)
    y = jnp.concatenate([x, jnp.sin(x[:, :3])], axis=1)
    q, k, v = heads(x @ p["wq"]), heads(y @ p["wk"]), heads(y @ p["wv"])
    return loss_of(attend(q, k, v), p, x)


def cached(p, x):
    """Three keys come before the first query."""
    x = tokens(x)
    y = jnp.concatenate([jnp.sin(x[:, :3]), x], axis=1)
    q, k, v = heads(x @ p["wq"]), heads(y @ p["wk"]), heads(y @ p["wv"])
    return loss_of(attend(q, k, v, lambda s: jnp.where(seen(TIMES, TIMES + 3, 3), s, -jnp.inf)), p, x)


def biased(p, x):
    """A bias that is trained, of relative positions."""
    x = tokens(x)
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(seen(), s + p["bias"], -jnp.inf)), p, x)


def alibi(p, x):
    x = tokens(x)
    distance = (jnp.arange(TIMES)[None, :] - jnp.arange(TIMES)[:, None]).astype(x.dtype)
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1)[:, None, None]
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(seen(), s + slopes * distance, -jnp.inf)), p, x)


def scaled(p, x):
    """Query and key are scaled before they meet."""
    x = tokens(x)
    q, k, v = projected(p, x)
    s = jnp.einsum("bthd,bshd->bhts", q * 0.7, k / 1.3)
    return loss_of(jnp.einsum("bshd,bhts->bthd", v, jax.nn.softmax(s)), p, x)


def window(p, x):
    """The last three positions."""
    x = tokens(x)
    mask = seen() & ~seen(shift=-3)
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -jnp.inf)), p, x)


def single(p, x):
    """One head, each sample by itself."""

    def one(x):
        s = (x @ p["wq"]) @ (x @ p["wk"]).T
        return jax.nn.softmax(jnp.where(seen(), s, -jnp.inf), axis=-1) @ (x @ p["wv"])

    x = tokens(x)
    return loss_of(jax.vmap(one)(x), p, x)


def unshifted(p, x):
    """A softmax without its shift."""
    x = tokens(x)

    def weigh(s):
        e = jnp.exp(s)
        return e / e.sum(-1, keepdims=True)

    return loss_of(attend(*projected(p, x), weigh=weigh), p, x)


def safe(p, x):
    """Rows that see nothing are zero, as PyTorch exports it."""
    x = tokens(x)
    mask = (x[:, None, :, None, 0] > -0.5) & (x[:, None, None, :, 1] > 0)
    mask = jnp.broadcast_to(mask, (x.shape[0], HEADS, TIMES, TIMES))

    def weigh(s):
        w = jax.nn.softmax(s)
        return jnp.where(jnp.isnan(w), 0.0, w)

    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -jnp.inf), weigh), p, x)


def uniform(p, x):
    """Rows that see nothing weigh all alike, as all are one number."""
    x = tokens(x)
    mask = seen()[None, None] & (x[:, None, None, :, 1] > 0)
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(mask, s, -1e9)), p, x)


def absorbed(p, x):
    """The same by a number that is added, and larger than any score; such rows are not used."""
    x = tokens(x)
    mask = x[:, None, :, None, 0] * x[:, None, None, :, 1] > 0
    added = jnp.where(mask, 0.0, jnp.finfo(x.dtype).min)
    out = attend(*projected(p, x), lambda s: s + added)
    return loss_of(jnp.where(mask.any(-1)[:, 0, :, None, None], out, 0.0), p, x)


def library(p, x):
    """The function of jax.nn."""
    x = tokens(x)
    return loss_of(jax.nn.dot_product_attention(*projected(p, x), is_causal=True), p, x)


def groups_of_library(p, x):
    x = tokens(x)
    return loss_of(jax.nn.dot_product_attention(*projected(p, x, 2)), p, x)


def scan(p, x):
    def layer(x, q):
        s = attend(*projected(q, x), lambda s: jnp.where(seen(), s, -jnp.inf))
        return x + s.reshape(x.shape) @ q["wo"], None

    y, _ = lax.scan(layer, tokens(x), p)
    return jnp.mean(y**2)


def checkpoint(p, x):
    x = tokens(x)

    @jax.checkpoint
    def block(p, x):
        return attend(*projected(p, x), lambda s: jnp.where(seen(), s, -jnp.inf))

    return loss_of(block(p, x), p, x)


def dropping(s, key):
    w = jax.nn.softmax(s)
    return jnp.where(jax.random.bernoulli(key, 0.75, w.shape), w / 0.75, 0.0)


def dropped(p, x, kind="threefry2x32"):
    """Each weight is dropped or not by a draw of its own; those of rbg stay as they are."""
    x, key = tokens(x), jax.random.key(7, impl=kind)
    return loss_of(attend(*projected(p, x), lambda s: jnp.where(seen(), s, -jnp.inf), lambda s: dropping(s, key)), p, x)


def dropped_alike(p, x):
    """Samples and heads share draws of 32 bits, which multiply."""
    x = tokens(x)
    keep = jax.random.bernoulli(jax.random.key(7), jnp.float32(0.75), (1, 1, TIMES, TIMES))
    factors = jnp.broadcast_to(keep, (x.shape[0], HEADS, TIMES, TIMES)).astype(x.dtype) / 0.75
    return loss_of(attend(*projected(p, x), weigh=lambda s: jax.nn.softmax(s) * factors), p, x)


def dropped_layers(p, x):
    """A loop whose trips have keys of their own."""

    def layer(x, q):
        return x + attend(*projected(q, x), weigh=lambda s: dropping(s, q["key"])).reshape(x.shape) @ q["wo"], None

    y, _ = lax.scan(layer, tokens(x), {**p, "key": jax.random.split(jax.random.key(7), 4)})
    return jnp.mean(y**2)


def capped(p, x):
    """Scores that are no sum: this stays as it is."""
    x = tokens(x)
    return loss_of(attend(*projected(p, x), lambda s: jnp.tanh(s / 5) * 5), p, x)


def shown(p, x):
    """Weights that something else uses too: this stays as it is."""
    x = tokens(x)
    q, k, v = projected(p, x)
    w = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k))
    return loss_of(jnp.einsum("bhts,bshd->bthd", w, v), p, x) + jnp.mean(w[:, :, 0] ** 2)


# Name -> loss, shapes of its parameters, attentions.
CASES = {
    "plain": (plain, weights(), 1),
    "causal": (causal, weights(), 1),
    "lowest": (lowest, weights(), 1),
    "constant": (constant, weights(), 1),
    "additive": (additive, weights(), 1),
    "padded": (padded, weights(), 1),
    "grouped": (grouped, weights(4, 4) | {"wo": (WIDTH, WIDTH)}, 1),
    "repeated": (repeated, weights(4, 4) | {"wo": (WIDTH, WIDTH)}, 1),
    "multi_query": (multi_query, weights(DEPTH, DEPTH) | {"wo": (WIDTH, WIDTH)}, 1),
    "cross": (cross, weights(WIDTH, 12), 1),
    "cached": (cached, weights(), 1),
    "biased": (biased, weights(bias=(HEADS, TIMES, TIMES)), 1),
    "alibi": (alibi, weights(), 1),
    "scaled": (scaled, weights(), 1),
    "window": (window, weights(), 1),
    "single": (single, weights(), 1),
    "unshifted": (unshifted, weights(), 1),
    "safe": (safe, weights(), 1),
    "uniform": (uniform, weights(), 1),
    "absorbed": (absorbed, weights(), 1),
    "library": (library, weights(), 1),
    "groups_of_library": (groups_of_library, weights(4, 4) | {"wo": (WIDTH, WIDTH)}, 1),
    "scan": (scan, {n: (4, *s) for n, s in weights().items()}, 1),
    "checkpoint": (checkpoint, weights(), 1),
    "dropped": (dropped, weights(), 1),
    "dropped_alike": (dropped_alike, weights(), 1),
    "dropped_layers": (dropped_layers, {n: (4, *s) for n, s in weights().items()}, 1),
    "dropped_by_rbg": (lambda p, x: dropped(p, x, "rbg"), weights(), 0),
    "capped": (capped, weights(), 0),
    "shown": (shown, weights(), 0),
}


def rows_of(shapes):
    """Heads over the tensor axis."""
    text = ""
    for name, split in (("wq", -1), ("wk", -1), ("wv", -1), ("wo", -2)):
        rest = [[] for _ in shapes[name]]
        rest[split] = ["tensor"]
        text += f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(rest)}\n'
    return text


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss, shapes, self.attentions = CASES[name]
        # jax.nn's function has its softmax in f32.
        self.bar = 1e-5 if "library" in name else one_step.BAR
        super().__init__(a, name, shapes, (2 * ROWS, TIMES * WIDTH), one_step.CONFIGURATION + rows_of(shapes))
        shapes = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in self.shapes.items()}
        sample = jax.ShapeDtypeStruct((ROWS, TIMES * WIDTH), np.float64)

        def train(params, x):
            return self.loss(params, x)

        self.write_text(jax.jit(train).lower(shapes, sample).as_text(debug_info=True))
        self.count()

    def count(self):
        """Attentions of the forward that phase 1 finds."""
        text = self.folder / "training.mlir"
        command = [self.a.llmc, "compile", self.folder / "model.mlir", "--config", self.folder / "model.toml"]
        command += ["--weights", self.folder / "weights.safetensors", "--compile-to=training", "-o", text]
        subprocess.run([*map(str, command)], check=True, capture_output=True)
        # The step and the entry that evaluates have one each.
        found = len(re.findall(r"nn\.attention ", text.read_text(encoding="utf-8")))
        functions = len(re.findall(r"func\.func.*@train", text.read_text(encoding="utf-8")))
        print(f"{self.name}: {found} attentions in {functions} functions")
        if bool(found) != bool(self.attentions):
            raise SystemExit(f"FAILED {self.name}: expected {self.attentions} attentions, got {found}")

    def expect(self):
        """The loss and the gradients by JAX, on all samples."""
        with printed_ops.executing():
            return one_step.by_jax(self.loss, self.parameters, self.x, 2)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, MORE_RUNS, usual=len(RUNS))
