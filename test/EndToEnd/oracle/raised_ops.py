# ===- raised_ops.py - What is raised, in its spellings, against jax.grad ---=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with log-sum-exps in the spellings of JAX programs, against jax.grad.

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
HEAD = {"w": (WIDTH, WIDTH), "v": (WIDTH, CLASSES)}
# Axes of the dims of each parameter.
SPLIT = {"w": [[], []], "v": [[], ["tensor"]]}


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
}


def rows_of(shapes):
    return "".join(f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(SPLIT[name])}\n' for name in shapes)


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss, shapes, self.ops = CASES[name]
        super().__init__(a, name, shapes, (2 * ROWS, WIDTH), one_step.CONFIGURATION + rows_of(shapes))
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
        found = collections.Counter(re.findall(r"= nn\.(\w+)", body))
        found = {op: n for op, n in found.items() if not op.endswith("_grad")}
        print(f"{self.name}: {found}")
        if found != self.ops:
            raise SystemExit(f"FAILED {self.name}: expected {self.ops}, got {found}")

    def expect(self):
        """The loss and the gradients by JAX, on all samples."""

        def whole(params):
            return (self.loss(params, self.x[:ROWS]) + self.loss(params, self.x[ROWS:])) / 2

        with printed_ops.executing():
            return jax.jit(jax.value_and_grad(whole))(self.parameters)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, MORE_RUNS, usual=len(RUNS))
