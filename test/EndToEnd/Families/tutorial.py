# ===- tutorial.py - Models on the way of docs/tutorial.md --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models by the commands of docs/tutorial.md and nothing else, and compares with JAX.

Each model goes this way: its text as JAX prints it, `llmc ops`, `llmc init`, data of its
own (rows of arrays, or a file of bytes where its inputs are windows of tokens), `llmc
train` for 20 steps on one device and on meshes, with the configuration that `llmc init`
wrote; ZeRO-3 has the table of the tutorial in front of it. All begin with the same
weights, and what one device was fed JAX is fed. Losses of each step are within 1e-5 of
JAX's, in f32. `llama_derived` is the text of `jax.value_and_grad` of the Llama's loss.

    python tutorial.py --llmc llmc -o out [--only mlp,llama_derived] [--meshes data2,cube]
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import sys

import train_families  # first: it says how XLA compiles  # isort: skip

import jax
import jax.numpy as jnp
import numpy as np

import arrays
import family as families
import training
from init import TYPES
from makers import MAKERS
from meshes import distance

MODELS = ["mlp", "llama", "vit", "encoder_decoder", "gru", "lstm", "moe", "clip", "llama_derived"]
MESHES = {"data2": "data=2", "tensor2": "tensor=2", "pipe2": "pipe=2", "cube": "pipe=2,data=2,tensor=2", "zero3": "data=2"}
# The table of docs/tutorial.md.
PAGE = families.ROOT / "docs" / "tutorial.md"
BAR, STEPS, ROWS = 1e-5, 20, 64


def zero3_table():
    text = PAGE.read_text(encoding="utf-8")
    return text.split("zero3.toml <<'END'\n")[1].split("END\n")[0]


def write_data(folder, family, config):
    """Flags that name a file for each source that the configuration has."""
    if "[data]" in config:
        return [f"--data={families.CORPUS}"]
    g, flags = np.random.default_rng(0), []
    for name, (shape, _) in family.inputs.items():
        np.save(folder / f"{name}.npy", g.integers(0, 256, (ROWS, *shape[1:])).astype(TYPES["i32"]))
        flags.append(f"--data={name}={folder}/{name}.npy")
    return flags


class Trainer(train_families.Trainer):
    """One model on the way of the tutorial."""

    def __init__(self, a, name):
        is_derived = name.endswith("_derived")
        family = dataclasses.replace(MAKERS[name.removesuffix("_derived")](), name=name, microbatches=1)
        super().__init__(a, family)
        if is_derived:
            derived = dataclasses.replace(family, loss=jax.value_and_grad(family.loss))
            self.model.write_text(families.text_of(derived), encoding="utf-8")
        self.say("ops", self.model)
        config = self.out / "one.toml"
        config.unlink(missing_ok=True)
        self.say("init", self.model, "-o", config)
        text = config.read_text(encoding="utf-8")
        (self.out / "zero3.toml").write_text(zero3_table() + text, encoding="utf-8")
        self.data = write_data(self.out, family, text)

    def say(self, *words):
        done = train_families.subprocess.run([str(w) for w in (self.a.llmc, *words)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"llmc {words[0]}: {done.stderr.strip()}")

    def follow(self, mesh, fetch=()):
        config = self.out / ("zero3.toml" if mesh == "zero3" else "one.toml")
        command = [self.model, "--config", config, "--weights", self.weights, *self.data]
        if mesh != "one":
            command += ["--mesh", MESHES[mesh]]
        if fetch:
            command += ["--fetch", ",".join(fetch), "--fetch-each-step", "--dump", self.out / mesh / "dump"]
        return train_families.Run(self.a, self.out / mesh, command)

    def losses_of_jax(self, run):
        settings = training.Settings.from_toml(self.out / "one.toml")
        params = families.unflatten(self.family.parameters, arrays.read_safetensors(self.weights))
        # A step of llmc takes the mean of the loss as the text has it.
        rows, *_ = training.train_unfused(self.family.loss, None, params, None, self.batches(run), settings)
        return train_families.losses(rows)


def check(a, name, meshes, judge):
    trainer = Trainer(a, name)
    fed = trainer.follow("one", list(trainer.family.inputs))
    theirs = [] if fed.error else trainer.losses_of_jax(fed)
    measure = lambda run: [("losses", distance(train_families.losses(run.rows), theirs), BAR)]
    if theirs:
        print(f"{name}: loss {theirs[0][0]:.4f} to {theirs[-1][0]:.4f}")
    judge.note(f"{name} one", fed, measure)
    for mesh in meshes:
        judge.note(f"{name} {mesh}", trainer.follow(mesh), measure)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--steps", type=int, default=STEPS)
    p.add_argument("--jobs", type=int, default=1, help="models at a time")
    p.add_argument("--only", help="these models alone")
    p.add_argument("--meshes", help="these meshes alone")
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    judge, names = train_families.Judge(), a.only.split(",") if a.only else MODELS
    meshes = a.meshes.split(",") if a.meshes else list(MESHES)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(lambda name: check(a, name, meshes, judge), names))
    print(f"{len(names)} models, {judge.cases} cases, {judge.failed} failed")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
