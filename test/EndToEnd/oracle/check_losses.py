#!/usr/bin/env python3
# ===- check_losses.py - Losses of several terms against JAX --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of several terms against JAX: one step of gradient descent in f64.

    check_losses.py --llmc llmc -o FOLDER

Each loss is written by JAX for 4 samples and trained with 2 microbatches; JAX
itself computes it on all 8 samples at once, or, where samples are compared with
each other and `training.loss = "mean of microbatches"`, on each 4 of them. Loss,
norm and every gradient (the step of plain descent with rate 1) must agree to
1e-12. Losses of the second kind are refused without the key.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import arrays  # noqa: E402

jax.config.update("jax_enable_x64", True)
ROWS, TOKENS, WIDTH, CLASSES = 4, 6, 8, 16


def logits(p, x):
    h = jnp.tanh(p["embedding"][x] @ p["first"])
    return h, h @ p["head"]


def cross_entropy(z, y):
    return jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[..., None], -1)[..., 0]


def masked_with_auxiliary(p, x, y):
    h, z = logits(p, x)
    mask = (y < 11).astype(z.dtype)
    language = (cross_entropy(z, y) * mask).sum() / jnp.maximum(mask.sum(), 1)
    decay = sum((w * w).sum() for w in jax.tree.leaves(p))
    return language + 1e-3 * jnp.mean(jax.nn.logsumexp(z, -1) ** 2) + 1e-4 * decay


def constant_divisors(p, x, y):
    h, z = logits(p, x)
    return (jnp.mean(cross_entropy(z, y)) - 0.3 * jnp.mean(h) + 1e-2 * jnp.mean(jax.nn.logsumexp(z, -1) ** 2)
            + 0.5 * jnp.mean(jnp.sum(h * h, axis=(1, 2))))


def two_counts(p, x, y):
    h, z = logits(p, x)
    terms = cross_entropy(z, y)
    first, second = x % 3 == 0, y % 2 == 0
    safe = jnp.where(second.sum() > 0, second.sum(), 1)
    return (jnp.where(first, terms, 0).sum() / jnp.maximum(first.sum(), 1)
            + 0.1 * jnp.where(second, h.sum(-1), 0).sum() / safe)


def average_by_weights(p, x, y):
    h, z = logits(p, x)
    weights = 1.0 + (y % 4)
    return jnp.average(cross_entropy(z, y), weights=weights) + jnp.mean(z[..., 0])


def numbered_rows(p, x, y):
    """Each sample reads and writes places of its own, in rows that are numbered as in NumPy."""
    h, z = logits(p, x)
    rows, times = jnp.arange(x.shape[0]), np.arange(TOKENS)
    h = h.at[rows[:, None], y[:, :3] % TOKENS].add(h[np.arange(x.shape[0])[:, None], x[:, :3] % TOKENS])
    h = h.at[rows[:, None], times, y % WIDTH].multiply(0.5)
    last = h[rows, jnp.sum(x < 128, 1) - 1]
    z = z.at[rows[:, None], times[None], y].add(-0.35)
    return jnp.mean(jnp.square(last)) + jnp.mean(jax.nn.logsumexp(z, -1) - z[rows[:, None], times, y]) + jnp.mean(h[..., 0])


def contrastive(p, x, y):
    a, b = (jnp.tanh(p["embedding"][t].mean(1) @ p["first"]) @ p["head"] for t in (x, y))
    scores = a @ b.T * 3.0
    target = jnp.arange(scores.shape[0])
    return (jnp.mean(cross_entropy(scores, target)) + jnp.mean(cross_entropy(scores.T, target))) / 2


def batch_norm(p, x, y):
    h = p["embedding"][x] @ p["first"]
    h = (h - h.mean((0, 1))) * jax.lax.rsqrt(h.var((0, 1)) + 1e-5)
    return jnp.mean(cross_entropy(h @ p["head"], y))


def balanced_experts(p, x, y):
    h, z = logits(p, x)
    gates = jax.nn.softmax(z[..., :4])
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), 4, dtype=gates.dtype)
    return jnp.mean(cross_entropy(z, y)) + 0.01 * 4 * jnp.sum(gates.mean((0, 1)) * chosen.mean((0, 1)))


def log_of_mean(p, x, y):
    return jnp.log(jnp.mean(jnp.exp(cross_entropy(logits(p, x)[1], y))))


EXACT = [masked_with_auxiliary, constant_divisors, two_counts, average_by_weights, numbered_rows]
MEANS = {contrastive: "mixes the samples", batch_norm: "mixes the samples", balanced_experts: "is not linear",
         log_of_mean: "'stablehlo.log' that is not linear"}
CONFIG = """[mesh]
axes = ["pipe", "data"]
pipeline = "pipe"
[data]
file = "corpus.bin"
dtype = "u8"
inputs.x = 0
inputs.y = 1
[[layout]]
input = "*"
dims = [["data"]]
[optimizer]
name = "sgd"
lr = 1.0
[training]
precision = "f64"
"""


class Check:
    def __init__(self, llmc, folder):
        self.llmc, self.folder = llmc, folder
        folder.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(7)
        draw.integers(0, CLASSES, 4000, np.uint8).tofile(folder / "corpus.bin")
        (folder / "loss.toml").write_text(CONFIG)
        self.parameters = {"embedding": draw.normal(size=(CLASSES, WIDTH)), "first": draw.normal(size=(WIDTH, WIDTH)),
                           "head": draw.normal(size=(WIDTH, CLASSES))}
        arrays.write_safetensors(folder / "weights.safetensors", self.parameters)

    def run(self, loss, rows, microbatches, fetch, *extra):
        tokens = jax.ShapeDtypeStruct((rows, TOKENS), jnp.int32)
        shapes = {name: jax.ShapeDtypeStruct(w.shape, w.dtype) for name, w in self.parameters.items()}
        text = self.folder / "loss.mlir"
        # The arguments by names of their own: parameters first.
        def train(params, x, y):
            return loss(params, x, y)
        text.write_text(jax.jit(train).lower(shapes, tokens, tokens).as_text(debug_info=True))
        command = [self.llmc, "train", text, "--config", self.folder / "loss.toml", "--weights",
                   self.folder / "weights.safetensors", "--steps", "1", "--log", self.folder / "log.jsonl", "--fetch",
                   fetch, "--dump", self.folder / "dump", "--set", f"training.microbatches={microbatches}", *extra]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
        row = json.loads((self.folder / "log.jsonl").read_text())
        return row, {name: np.load(self.folder / "dump" / f"{name}.npy") for name in fetch.split(",")}

    def check(self, loss, parts, *extra):
        whole = self.run(loss, 2 * ROWS, 1, "x,y")
        if isinstance(whole, str):
            return f"whole batch: {whole}"
        x, y = whole[1]["x"], whole[1]["y"]

        def mean(p):
            rows = 2 * ROWS // parts
            return sum(loss(p, x[i * rows:][:rows], y[i * rows:][:rows])
                       for i in range(parts)) / parts
        value, gradients = jax.jit(jax.value_and_grad(mean))(self.parameters)
        norm = float(jnp.sqrt(sum((g * g).sum() for g in gradients.values())))
        found = self.run(loss, ROWS, 2, ",".join(self.parameters), *extra)
        if isinstance(found, str):
            return found
        for name, a, b in (("loss", float(value), found[0]["loss"]), ("grad_norm", norm, found[0]["grad_norm"])):
            if not abs(a - b) <= 1e-12 * max(1.0, abs(a)):
                return f"{name}: expected {a!r}, got {b!r}"
        for name, weight in self.parameters.items():
            distance = np.abs(weight - found[1][name] - gradients[name]).max()
            if not distance <= 1e-12:
                return f"gradient of {name}: off by {distance}"
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", default="llmc")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    check = Check(arguments.llmc, arguments.out)
    failed = 0
    for loss in [*EXACT, *MEANS]:
        key = [] if loss in EXACT else ["--set", "training.loss=mean of microbatches"]
        errors = [check.check(loss, 1 if loss in EXACT else 2, *key, *mesh)
                  for mesh in ([], ["--mesh", "data=2"], ["--mesh", "pipe=2"])]
        if loss in MEANS:
            refusal = check.run(loss, ROWS, 2, "first")
            if not isinstance(refusal, str) or MEANS[loss] not in refusal:
                errors.append(f"expected a refusal with \"{MEANS[loss]}\", got {refusal}")
        for error in filter(None, errors):
            print(f"FAILED {loss.__name__}: {error}")
        failed += any(errors)
        print(f"{'FAILED' if any(errors) else 'ok'} {loss.__name__}")
    print(f"{len(EXACT) + len(MEANS)} losses, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
