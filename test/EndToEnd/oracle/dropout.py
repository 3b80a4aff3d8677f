# ===- dropout.py - Random numbers in a loss against JAX ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models with random numbers in the loss for 5 steps, and compares with JAX.

Where a key is folded with a carried counter, each microbatch of each step has its own
mask; where it is folded with a number of the sample, the mask does not depend on how
samples are put into microbatches. Losses of each step and parameters after each step (a step of descent is
minus the gradient) are within 1e-10 of JAX in f64, losses within 1e-4 in f32; on one
device, on meshes, and on stages. Recomputation of all blocks changes no bit, and a
mesh has the loss of one device within 1e-12; so have masks of samples in 1, 2 and 4
microbatches.

    python dropout.py --llmc llmc -o out
    python dropout.py --llmc llmc -o out --only rbg,noise
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np

import arrays

ROWS, INPUTS, HIDDEN, OUTPUTS = 8, 12, 20, 6
STEPS, RATE = 5, 0.25
SHAPES = {
    "w1": (INPUTS, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, HIDDEN), "b2": (HIDDEN,), "w3": (HIDDEN, OUTPUTS),
}
CONFIGURATION = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[data.y]
kind = "array"
file = "y.npy"
shuffle = false
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "?1"
rest = [[], ["tensor"]]
[[layout]]
match = "w2"
rest = [["tensor"]]
[optimizer]
name = "sgd"
lr = 0.0625
"""
RATE_OF_DESCENT = 0.0625
# Of losses, and in f64 of parameters.
BARS = {"f64": 1e-10, "f32": 1e-4}
# Mesh, microbatches, recomputation; what an "=" precedes has the bits of the case before.
RUNS = [
    ("one", "", 1, "none"),
    ("three", "", 3, "none"),
    ("=all", "", 3, "all"),
    ("mesh", "data=2,tensor=2", 3, "none"),
    ("=mesh-all", "data=2,tensor=2", 3, "all"),
    ("stages", "pipe=2", 3, "none"),
    ("=stages-all", "pipe=2", 3, "all"),
]


# --- Models ------------------------------------------------------------------


def dropout(key, x):
    keep = jax.random.bernoulli(key, jnp.asarray(1 - RATE, x.dtype), x.shape)
    return jnp.where(keep, x / (1 - RATE), 0)


def perceptron(p, x, y, keys):
    """Dropout after both hidden layers, normal noise between them."""
    first, second, third = keys
    h = dropout(first, jax.nn.relu(x @ p["w1"] + p["b1"]))
    h = h + 0.1 * jax.random.normal(second, h.shape, h.dtype)
    h = dropout(third, jnp.tanh(h @ p["w2"] + p["b2"]))
    return jnp.mean(jnp.square(h @ p["w3"] - y))


def folded(implementation):
    def loss(params, carried, x, y):
        key = jax.random.fold_in(jax.random.key(7, impl=implementation), carried["step"])
        value = perceptron(params, x, y, jax.random.split(key, 3))
        return value, {"step": carried["step"] + 1}

    return loss, {"step": jax.ShapeDtypeStruct((), jnp.int32)}


def apart():
    """A key of its own for each mask: all stages read the counter."""

    def loss(params, carried, x, y):
        keys = [jax.random.fold_in(jax.random.key(seed), carried["step"]) for seed in range(3)]
        return perceptron(params, x, y, keys), {"step": carried["step"] + 1}

    return loss, {"step": jax.ShapeDtypeStruct((), jnp.int32)}


def attended():
    """Attention of five tokens, whose weights are dropped."""

    def loss(params, carried, x, y):
        key = jax.random.fold_in(jax.random.key(7), carried["step"])
        h = jax.nn.relu(x @ params["w1"] + params["b1"])
        q, k = (z.reshape(-1, 5, 2, 2) for z in (h, h @ params["w2"] + params["b2"]))
        weights = dropout(key, jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k)))
        z = jnp.einsum("bhts,bshd->bthd", weights, jnp.tanh(k)).reshape(h.shape)
        return jnp.mean(jnp.square(z @ params["w3"] - y)), {"step": carried["step"] + 1}

    return loss, {"step": jax.ShapeDtypeStruct((), jnp.int32)}


def fixed():
    """One key: every microbatch and step has the same mask, as in JAX."""

    def loss(params, carried, x, y):
        return perceptron(params, x, y, jax.random.split(jax.random.key(7), 3)), carried

    return loss, {}


def typed():
    """The key itself is carried; the text constrains it on a mesh without axes."""

    def loss(params, carried, x, y):
        key, *keys = jax.random.split(carried["key"], 4)
        return perceptron(params, x, y, keys), {"key": key}

    return loss, {"key": jax.eval_shape(lambda: jax.random.key(0))}


def noisy():
    """The other distributions."""

    def loss(params, carried, x, y):
        key = jax.random.fold_in(jax.random.key(3), carried["step"])
        a, b, c, d = jax.random.split(key, 4)
        h = x * jax.random.uniform(a, x.shape, x.dtype, -0.5, 1.5)
        h = jnp.tanh(h @ params["w1"] + params["b1"])
        h = h + jax.random.truncated_normal(b, -1.5, 0.5, h.shape, h.dtype)
        h = h * jax.random.randint(c, (h.shape[0], 1), 1, 5).astype(h.dtype)
        z = jnp.tanh(h @ params["w2"] + params["b2"]) @ params["w3"]
        chosen = jax.nn.one_hot(jax.random.categorical(d, 3 * y), z.shape[-1], dtype=z.dtype)
        value = jnp.mean(jnp.square(z - y)) - jnp.mean(jnp.sum(jax.nn.log_softmax(z) * chosen, axis=-1))
        return value, {"step": carried["step"] + 1}

    return loss, {"step": jax.ShapeDtypeStruct((), jnp.int32)}


@dataclasses.dataclass(frozen=True)
class Model:
    make: Callable
    # What JAX lowers for: on the CPU threefry is a loop.
    platform: str = "cpu"


MODELS = {
    "threefry": Model(lambda: folded("threefry2x32")),
    "straight": Model(lambda: folded("threefry2x32"), "cuda"),
    "rbg": Model(lambda: folded("rbg")),
    "unsafe_rbg": Model(lambda: folded("unsafe_rbg")),
    "apart": Model(apart),
    "attention": Model(attended),
    "fixed": Model(fixed),
    "typed": Model(typed),
    "noise": Model(noisy),
}


def of_samples(params, numbers, x, y):
    """A key for each sample."""
    keys = jax.vmap(lambda number: jax.random.fold_in(jax.random.key(1), number))(numbers)
    keep = jax.vmap(lambda key: jax.random.bernoulli(key, 1 - RATE, (HIDDEN,)))(keys)
    h = jnp.where(keep, jax.nn.relu(x @ params["w1"] + params["b1"]) / (1 - RATE), 0)
    h = jnp.tanh(h @ params["w2"] + params["b2"])
    return jnp.mean(jnp.square(h @ params["w3"] - y))


# --- JAX ---------------------------------------------------------------------


def draw(dtype):
    """Parameters, and rows enough for all steps."""
    g = np.random.default_rng(5)
    params = {name: (g.standard_normal(shape) * shape[0] ** -0.5).astype(dtype) for name, shape in SHAPES.items()}
    rows = 3 * STEPS * ROWS
    return params, g.standard_normal((rows, INPUTS)).astype(dtype), g.standard_normal((rows, OUTPUTS)).astype(dtype)


def train(loss, carried, params, x, y, microbatches):
    """Losses, and parameters after each step."""

    def start(leaf):
        typed_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return jax.random.key(0) if typed_key else jnp.zeros(leaf.shape, leaf.dtype)

    gradient = jax.jit(jax.value_and_grad(loss, has_aux=True))
    carried, first = jax.tree.map(start, carried), 0
    losses, after = [], []
    for _ in range(STEPS):
        total, g = 0.0, None
        for _ in range(microbatches):
            (value, carried), new = gradient(params, carried, x[first:][:ROWS], y[first:][:ROWS])
            total, g = total + value, jax.tree.map(jnp.add, g, new) if g else new
            first += ROWS
        params = jax.tree.map(lambda p, d: p - jnp.asarray(RATE_OF_DESCENT / microbatches, p.dtype) * d, params, g)
        losses.append(float(total / microbatches))
        after.append({name: np.asarray(p) for name, p in params.items()})
    return losses, after


def text_of(model, dtype):
    loss, carried = model.make()
    shapes = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape in SHAPES.items()}
    x, y = (jax.ShapeDtypeStruct((ROWS, n), dtype) for n in (INPUTS, OUTPUTS))
    traced = jax.jit(loss).trace(shapes, carried, x, y)
    return traced.lower(lowering_platforms=(model.platform,)).as_text(debug_info=True)


# --- llmc --------------------------------------------------------------------


class Trainer:
    """The runs of one model in one precision."""

    def __init__(self, a, name, precision):
        self.a, self.model, self.precision = a, MODELS[name], precision
        self.out = a.output / f"{name}-{precision}"
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.dtype = np.dtype({"f64": np.float64, "f32": np.float32}[precision])
        self.params, self.x, self.y = draw(self.dtype)
        (self.out / "model.mlir").write_text(text_of(self.model, self.dtype), encoding="utf-8")
        (self.out / "model.toml").write_text(CONFIGURATION, encoding="utf-8")
        arrays.write_safetensors(self.out / "weights.safetensors", self.params)
        np.save(self.out / "x.npy", self.x)
        np.save(self.out / "y.npy", self.y)
        self.theirs = {}

    def by_jax(self, microbatches):
        if microbatches not in self.theirs:
            self.theirs[microbatches] = train(*self.model.make(), self.params, self.x, self.y, microbatches)
        return self.theirs[microbatches]

    def by_llmc(self, name, mesh, microbatches, recompute, command="train"):
        """An error, or None; and losses and parameters after each step."""
        out = self.out / name
        line = [self.a.llmc, command, self.out / "model.mlir", "--config", self.out / "model.toml"]
        line += ["--weights", self.out / "weights.safetensors", "--steps", STEPS]
        line += ["--set", f"training.microbatches={microbatches}", "--set", f'training.recompute="{recompute}"']
        line += ["--fetch", ",".join(SHAPES), "--fetch-each-step", "--dump", out, "--log", self.out / f"{name}.jsonl"]
        line += ["--mesh", mesh] if mesh else []
        process = subprocess.run([*map(str, line)], text=True, capture_output=True)
        if process.returncode:
            return process.stderr.strip()[-2000:], [], []
        rows = [json.loads(row) for row in (self.out / f"{name}.jsonl").read_text().splitlines()]
        losses = [row["loss"] for row in rows if "loss" in row]
        after = [{p: np.load(out / f"step-{t}.{p}.npy") for p in SHAPES} for t in range(STEPS)]
        return None, losses, after


def relative(ours, theirs):
    return float(np.max([abs(x - y) / max(abs(y), 1e-30) for x, y in zip(ours, theirs, strict=True)]))


def farthest(ours, theirs):
    """Of parameters after each step, relative to the norm."""
    return float(np.max([np.linalg.norm(mine[name] - its[name]) / np.linalg.norm(its[name])
                         for mine, its in zip(ours, theirs, strict=True) for name in SHAPES]))


def same_bits(ours, theirs):
    return ours[1] == theirs[1] and all(
        mine[name].tobytes() == its[name].tobytes() for mine, its in zip(ours[2], theirs[2]) for name in SHAPES)


def faults_of(trainer, case, found, before, first):
    """What is wrong with a run; `first` has the one device's losses by microbatches."""
    name, mesh, microbatches, _ = case
    if found[0]:
        return [found[0]]
    if name.startswith("="):
        return [] if same_bits(found, before) else ["other bits than without recomputation"]
    losses, after = trainer.by_jax(microbatches)
    bar, faults = BARS[trainer.precision], []
    if not relative(found[1], losses) <= bar:
        faults.append(f"losses {found[1]}, jax {losses}")
    if not farthest(found[2], after) <= bar:
        faults.append(f"parameters off by {farthest(found[2], after):.1e}")
    alone = first.setdefault(microbatches, found[1])
    if trainer.precision == "f64" and not relative(found[1], alone) <= 1e-12:
        faults.append(f"losses {found[1]}, one device {alone}")
    return faults


def check(a, name, precision):
    trainer, first, before, cases, failed = Trainer(a, name, precision), {}, None, 0, 0
    for case in RUNS:
        found = trainer.by_llmc(case[0].lstrip("="), *case[1:])
        faults = faults_of(trainer, case, found, before, first)
        before = before if case[0].startswith("=") else found
        for fault in faults:
            print(f"FAILED {name} {precision} {case[0]}: {fault}")
        cases, failed = cases + 1, failed + bool(faults)
    return cases, failed


def check_samples(a):
    """16 samples a step, in microbatches of 16, 8 and 4."""
    losses, failed = {}, 0
    jax.config.update("jax_enable_x64", True)
    for microbatches in (1, 2, 4):
        trainer = Trainer(a, "fixed", "f64")
        rows = 2 * ROWS // microbatches
        shapes = {name: jax.ShapeDtypeStruct(shape, jnp.float64) for name, shape in SHAPES.items()}
        x, y = (jax.ShapeDtypeStruct((rows, n), jnp.float64) for n in (INPUTS, OUTPUTS))
        numbers = jax.ShapeDtypeStruct((rows,), jnp.int32)
        text = jax.jit(of_samples).lower(shapes, numbers, x, y).as_text(debug_info=True)
        (trainer.out / "model.mlir").write_text(text, encoding="utf-8")
        source = '[data.numbers]\nkind = "array"\nfile = "numbers.npy"\nshuffle = false\n'
        (trainer.out / "model.toml").write_text(source + CONFIGURATION, encoding="utf-8")
        np.save(trainer.out / "numbers.npy", np.arange(len(trainer.x), dtype=np.int32))
        error, losses[microbatches], _ = trainer.by_llmc(f"m{microbatches}", "", microbatches, "none")
        if error or not relative(losses[microbatches], losses[1]) <= 1e-12:
            print(f"FAILED samples, {microbatches} microbatches: {error or losses}")
            failed += 1
    return len(losses), failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", help="these models")
    p.add_argument("--precisions", default="f64,f32")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    jax.config.update("jax_platforms", "cpu")
    cases = failed = 0
    for precision in a.precisions.split(","):
        # The text of f32 is that of a program without 64-bit types.
        jax.config.update("jax_enable_x64", precision == "f64")
        for name in a.only.split(",") if a.only else MODELS:
            more, bad = check(a, name, precision)
            cases, failed = cases + more, failed + bad
    if not a.only:
        more, bad = check_samples(a)
        cases, failed = cases + more, failed + bad
    print(f"{cases} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
