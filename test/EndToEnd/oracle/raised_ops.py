# ===- raised_ops.py - What is raised, in its spellings, against jax.grad ---=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with log-sum-exps, batch norms and rotary embeddings in the spellings of JAX programs, against jax.grad.

As attention.py: one step of plain descent with rate 1 in f64, in two microbatches, by
the interpreter, by kernels on one device and on meshes, and with nothing raised. The
ops of `nn` that phase 1 finds in the forward are counted first.

    python raised_ops.py --llmc llmc -o out
    python raised_ops.py --llmc llmc -o out --only z_loss,stacked
"""

import collections
import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np

import one_step
import printed_ops

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, WIDTH, CLASSES = 4, 8, 6
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
    ("train", "tensor=3"),
    ("train", "pipe=2,tensor=2"),
    ("train", "", "training.recompute='all'"),
]
NORM = {"w": (WIDTH, WIDTH), "scale": (4,), "bias": (4,)}
TURNED = {"wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH)}
HEAD = {"w": (WIDTH, WIDTH), "v": (WIDTH, CLASSES)}
# Axes of the dims of each parameter.
SPLIT = {"w": [[], []], "v": [[], ["tensor"]], "scale": [["tensor"]], "bias": [["tensor"]], "a": [[], []]}
SPLIT |= {name: [[], ["tensor"]] for name in TURNED}


def logits(p, x):
    return jnp.tanh(x @ p["w"]) @ p["v"] * 3


def mean_lse(p, x):
    return jnp.mean(jax.nn.logsumexp(logits(p, x), axis=-1) ** 2)


def kept_lse(p, x):
    """Along two dims, which stay."""
    y = logits(p, x).reshape(x.shape[0], 2, -1)
    return jnp.mean(jnp.sin(jax.nn.logsumexp(y, axis=(1, 2), keepdims=True)))


def first_lse(p, x):
    """Along the dim of the samples of a stack."""
    y = logits(p, x).reshape(x.shape[0], 3, 2)
    return jnp.mean(jax.nn.logsumexp(y, axis=1) * jnp.arange(2.0))


def written_lse(p, x):
    """Without a guard for what is infinite."""
    y = logits(p, x)
    m = y.max(-1, keepdims=True)
    return jnp.mean((m + jnp.log(jnp.exp(y - m).sum(-1, keepdims=True))) ** 2)


def masked_lse(p, x):
    """Of the classes that a sample has."""
    seen = (x[:, :CLASSES] > -0.3) | (jnp.arange(CLASSES) == 0)
    return jnp.mean(jax.nn.logsumexp(jnp.where(seen, logits(p, x), -jnp.inf), axis=-1))


def free_energy(p, x):
    """A soft maximum, of several temperatures."""
    y = logits(p, x)[:, None] * jnp.arange(1.0, 4.0)[:, None]
    return jnp.mean(jax.nn.logsumexp(y, axis=-1) / jnp.arange(1.0, 4.0))


def picked(y, x):
    """One class of each row."""
    return jnp.take_along_axis(y, jnp.argmax(x[:, :CLASSES], -1)[:, None], axis=-1)[:, 0]


def cross_entropy(p, x):
    y = logits(p, x)
    return jnp.mean(jax.nn.logsumexp(y, axis=-1) - picked(y, x))


def z_loss(p, x):
    y = logits(p, x)
    z = jax.nn.logsumexp(y, axis=-1)
    return jnp.mean(z - picked(y, x) + 1e-2 * z**2)


def weighted_lse(p, x):
    """Weights of the exponentials: this stays as it is."""
    return jnp.mean(jax.nn.logsumexp(logits(p, x), axis=-1, b=jnp.arange(1.0, 1.0 + CLASSES)))


def features(p, x):
    """Places and samples of 4 features, the last dim."""
    return (x @ p["w"]).reshape(x.shape[0], 2, 4)


def batch_norm(p, x):
    y = features(p, x)
    mean = y.mean((0, 1))
    centred = y - mean
    variance = jnp.square(centred).mean((0, 1))
    y = centred * (jax.lax.rsqrt(variance + 1e-3) * p["scale"]) + p["bias"]
    return jnp.mean(jax.nn.relu(y) ** 2)


def fast_batch_norm(p, x):
    """As flax does it: the mean of squares, statistics with all dims, the scale into the root."""
    y = features(p, x)
    mean, square = y.mean((0, 1)), jax.lax.square(y).mean((0, 1))
    variance = jnp.maximum(0.0, square - jax.lax.square(mean))
    mean, variance = (jnp.expand_dims(v, (0, 1)) for v in (mean, variance))
    factor = jax.lax.rsqrt(variance + 1e-3) * p["scale"].reshape(1, 1, 4)
    return jnp.mean(jax.nn.relu((y - mean) * factor + p["bias"].reshape(1, 1, 4)) ** 2)


def first_batch_norm(p, x):
    """Features are dim 1, as those of PyTorch."""
    y = features(p, x).transpose(0, 2, 1)
    mean, variance = y.mean((0, 2), keepdims=True), y.var((0, 2), keepdims=True)
    y = (y - mean) / jnp.sqrt(variance + 1e-3) * p["scale"][:, None] + p["bias"][:, None]
    return jnp.mean(jnp.sin(y) ** 2)


def bare_batch_norm(p, x):
    """Neither scale nor offset; a vector for each sample."""
    y = x @ p["w"]
    y = (y - y.mean(0)) * jax.lax.rsqrt(y.var(0) + 1e-3)
    return jnp.mean(jnp.sin(y) @ p["v"])


def offset_batch_norm(p, x):
    y = features(p, x)
    y = (y - y.mean((0, 1))) * jax.lax.rsqrt(y.var((0, 1)) + 1e-3) + p["bias"]
    return jnp.mean(jax.nn.relu(y) ** 2)


def shown_batch_norm(p, x):
    """Something else reads mean and variance."""
    y = features(p, x)
    mean, variance = y.mean((0, 1)), y.var((0, 1))
    z = (y - mean) * jax.lax.rsqrt(variance + 1e-3) * p["scale"] + p["bias"]
    return jnp.mean(jax.nn.relu(z) ** 2) + jnp.mean(mean**2) + jnp.mean(variance * p["scale"])


def shared_batch_norm(p, x):
    """Something else reads the root: this stays as it is."""
    y = features(p, x)
    root = jax.lax.rsqrt(y.var((0, 1)) + 1e-3)
    return jnp.mean(jax.nn.relu((y - y.mean((0, 1))) * root) ** 2) + jnp.mean(root)


def angles(count, times=2):
    """Of each position, for so many pairs."""
    return jnp.arange(float(times))[:, None] / 10.0 ** (jnp.arange(float(count)) / count)


def turned_halves(y):
    a, b = jnp.split(y, 2, axis=-1)
    return jnp.concatenate([-b, a], axis=-1)


def scores(q, k):
    return jnp.mean(jnp.einsum("bthd,bshd->bhts", q, k) ** 2)


def heads(p, x):
    """Two positions of a head of 4 numbers, for queries and keys."""
    return ((x @ p[n]).reshape(x.shape[0], 2, 1, 4) for n in ("wq", "wk"))


def rotary(p, x):
    a = jnp.concatenate([angles(2), angles(2)], axis=-1)[:, None]
    c, s = jnp.cos(a), jnp.sin(a)
    q, k = heads(p, x)
    return scores(q * c + turned_halves(q) * s, turned_halves(k) * s + k * c)


def parts_rotary(p, x):
    c, s = jnp.cos(angles(2))[:, None], jnp.sin(angles(2))[:, None]

    def turn(y):
        a, b = y[..., :2], y[..., 2:]
        return jnp.concatenate([a * c - b * s, b * c + a * s], axis=-1)

    return scores(*map(turn, heads(p, x)))


def some_rotary(p, x):
    """The first two numbers alone."""
    c, s = jnp.cos(angles(1))[:, None], jnp.sin(angles(1))[:, None]

    def turn(y):
        a, b = y[..., :1], y[..., 1:2]
        return jnp.concatenate([c * a - s * b, a * s + b * c, y[..., 2:]], axis=-1)

    return scores(*map(turn, heads(p, x)))


def trained_rotary(p, x):
    """Tables that are trained, of other numbers for the two of a pair."""
    c, s = jnp.cos(p["a"])[:, None], jnp.sin(p["a"])[:, None]
    q, k = heads(p, x)
    return scores(q * c + turned_halves(q) * s, k * c + turned_halves(k) * s)


def mixed_rotary(p, x):
    """Pairs side by side: this stays as it is."""
    c, s = jnp.cos(angles(2))[:, None], jnp.sin(angles(2))[:, None]

    def turn(y):
        a, b = y[..., ::2], y[..., 1::2]
        return jnp.stack([a * c - b * s, b * c + a * s], axis=-1).reshape(y.shape)

    return scores(*map(turn, heads(p, x)))


# Name -> loss, shapes of its parameters, ops of the forward.
CASES = {
    "mean_lse": (mean_lse, HEAD, {"log_sum_exp": 1}),
    "kept_lse": (kept_lse, HEAD, {"log_sum_exp": 1}),
    "first_lse": (first_lse, HEAD, {"log_sum_exp": 1}),
    "written_lse": (written_lse, HEAD, {"log_sum_exp": 1}),
    "masked_lse": (masked_lse, HEAD, {"log_sum_exp": 1}),
    "free_energy": (free_energy, HEAD, {"log_sum_exp": 1}),
    "cross_entropy": (cross_entropy, HEAD, {"softmax_cross_entropy": 1}),
    "z_loss": (z_loss, HEAD, {"softmax_cross_entropy": 1}),
    "weighted_lse": (weighted_lse, HEAD, {}),
    "batch_norm": (batch_norm, NORM, {"batch_norm": 1}),
    "fast_batch_norm": (fast_batch_norm, NORM, {"batch_norm": 1}),
    "first_batch_norm": (first_batch_norm, NORM, {"batch_norm": 1}),
    "bare_batch_norm": (bare_batch_norm, HEAD, {"batch_norm": 1}),
    "offset_batch_norm": (offset_batch_norm, {"w": (WIDTH, WIDTH), "bias": (4,)}, {"batch_norm": 1}),
    "shown_batch_norm": (shown_batch_norm, NORM, {"batch_norm": 1}),
    "rotary": (rotary, TURNED, {"rotary": 2}),
    "parts_rotary": (parts_rotary, TURNED, {"rotary": 2}),
    "some_rotary": (some_rotary, TURNED, {"rotary": 2}),
    "trained_rotary": (trained_rotary, TURNED | {"a": (2, 4)}, {"rotary": 2}),
    "mixed_rotary": (mixed_rotary, TURNED, {}),
    "shared_batch_norm": (shared_batch_norm, {"w": (WIDTH, WIDTH)}, {}),
}


def rows_of(shapes):
    return "".join(f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(SPLIT[name])}\n' for name in shapes)


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss, shapes, self.ops = CASES[name]
        # A batch norm is one of each microbatch.
        step = 'loss = "mean of microbatches"\n' if "batch" in name else ""
        super().__init__(a, name, shapes, (2 * ROWS, WIDTH), one_step.CONFIGURATION + step + rows_of(shapes))
        shapes = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in self.shapes.items()}

        def train(params, x):
            return self.loss(params, x)

        sample = jax.ShapeDtypeStruct((ROWS, WIDTH), np.float64)
        self.write_text(jax.jit(train).lower(shapes, sample).as_text(debug_info=True))
        self.count()

    def count(self):
        """Ops of `nn` of the forward of the function that evaluates."""
        text = self.folder / "training.mlir"
        command = [self.a.llmc, "compile", self.folder / "model.mlir", "--config", self.folder / "model.toml"]
        command += ["--weights", self.folder / "weights.safetensors", "--compile-to=training", "-o", text]
        subprocess.run([*map(str, command)], check=True, capture_output=True)
        body = re.search(r"func\.func [^\n]*\.microbatch.*?\n  }", text.read_text(encoding="utf-8"), re.S)[0]
        found = dict(collections.Counter(re.findall(r"= nn\.(\w+) .*phase<forward>", body)))
        print(f"{self.name}: {found}")
        if found != self.ops:
            raise SystemExit(f"FAILED {self.name}: expected {self.ops}, got {found}")

    def expect(self):
        """The loss and the gradients by JAX, on all samples."""
        with printed_ops.executing():
            return one_step.by_jax(self.loss, self.parameters, self.x, 2)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, MORE_RUNS, usual=len(RUNS))
