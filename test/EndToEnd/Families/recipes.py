# ===- recipes.py - Optimizers and groups of parameters against optax -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains families by recipes of optimizers and compares each step with optax.

A recipe is an optimizer with its numbers, groups of parameters that have others, a
bound of gradients, and an average of the parameters. `llmc train` runs 20 steps
    in f32   on one device and on meshes: losses within 1e-5 of optax, which starts
             from the same weights and is fed what one device was fed; so is the
             average of each parameter at the end, in relation to its norm
    in f64   on meshes: losses, norms and averages within 1e-10 of one device

    python recipes.py --llmc llmc -o out [--only muon-llama] [--meshes data2,zero3]
"""

import argparse
import dataclasses
import fnmatch
import pathlib
import sys
import tomllib

import train_families  # first: it says how XLA compiles  # isort: skip

import jax
import jax.numpy as jnp
import optax

import arrays
import family as families
import training
from makers import MAKERS
from meshes import distance
from optax.contrib import _muon

MESHES = ["data2", "tensor2", "zero3", "pipe2", "cube"]
NO_DECAY = "\n[[group]]\nmax_rank = 1\nweight_decay = 0.0\n"


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    family: str
    # The [optimizer] table and what follows it.
    text: str
    # --set of [training].
    more: tuple = ()
    # Of losses against optax in f32: rounding grows in a step that a small gradient turns.
    bar: float = 1e-5


RECIPES = [
    Recipe("lion-mlp", "mlp", 'name = "lion"\nlr = 1e-3\nweight_decay = 0.1\n' + NO_DECAY
           + '[[group]]\nmatch = "embed"\nlr_share = 0.25\n', bar=1e-4),
    Recipe("adamw-cnn", "cnn", 'name = "adamw"\nlr = 3e-3\nweight_decay = 0.1\n' + NO_DECAY,
           ("max_norm=0", "max_value=0.002")),
    Recipe("adafactor-vit", "vit", 'name = "adafactor"\nlr = 0.02\neps = 1e-10\n', ("average=0.9",)),
    Recipe("adafactor-scan", "scan", 'name = "adafactor"\nlr = 0.01\neps = 1e-10\nweight_decay = 0.1\n' + NO_DECAY),
    Recipe("muon-llama", "llama", 'name = "muon"\nlr = 0.01\nweight_decay = 0.1\n'
           + '[[group]]\nmatch = "embed"\nname = "adamw"\nlr_share = 0.1\nbeta1 = 0.8\n', ("average=0.95",)),
    Recipe("muon-mixer", "mixer", 'name = "muon"\nlr = 0.02\nmomentum = 0.9\n'),
    Recipe("muon-vit", "vit", 'name = "muon"\nlr = 0.01\n'),
    Recipe("muon-lstm", "lstm", 'name = "muon"\nlr = 0.01\n' + NO_DECAY, ("max_norm=0",)),
    Recipe("groups-moe", "moe", 'name = "adamw"\nlr = 3e-3\n'
           + '[[group]]\nmatch = "*router*"\nname = "sgd"\nlr_share = 10\n'
           + '[[group]]\nmatch = "blocks.*"\nmax_rank = 2\nname = "muon"\n'
           + '[[group]]\nmatch = "embed"\nname = "lion"\nlr_share = 0.1\n', ("average=0.5",)),
]
DEFAULTS = {
    "sgd": {}, "momentum": {"momentum": 0.9}, "adamw": {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8},
    "lion": {"beta1": 0.9, "beta2": 0.99}, "adafactor": {"decay": 0.8, "eps": 1e-30, "clip": 1.0},
    "muon": {"momentum": 0.95, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
}


def transform(table, rank, rates):
    """optax's transformation of one table for parameters of a rank."""
    name = table["name"]
    c = {**DEFAULTS[name], "weight_decay": 0.0, **table}
    rate = lambda count: rates[count] * c.get("lr_share", 1.0)
    decay = optax.add_decayed_weights(c["weight_decay"])
    last = optax.scale_by_learning_rate(rate)
    if name == "sgd":
        return optax.chain(decay, last)
    if name == "momentum":
        return optax.chain(optax.trace(c["momentum"]), decay, last)
    if name == "lion":
        return optax.lion(rate, c["beta1"], c["beta2"], weight_decay=c["weight_decay"])
    if name == "adafactor":
        parts = [
            optax.scale_by_factored_rms(rank == 2, c["decay"], 0, 1, c["eps"]),
            optax.clip_by_block_rms(c["clip"]),
            optax.scale_by_param_block_rms(),
        ]
        return optax.chain(*parts, decay, last)
    if name == "muon" and rank == 2:
        numbers = lambda updates: jax.tree.map(lambda x: _muon.MuonDimensionNumbers(), updates)
        return optax.chain(
            _muon.scale_by_muon(beta=c["momentum"], eps=c["eps"], weight_dimension_numbers=numbers),
            _muon.scale_by_shape(weight_dimension_numbers=numbers), decay, last)
    return optax.adamw(rate, c["beta1"], c["beta2"], c["eps"], weight_decay=c["weight_decay"])


def tables_of(config):
    """[optimizer], then each group with what it takes from it."""
    base = dict(config["optimizer"])
    base.pop("lr")
    yield {"match": "*", **base}
    for group in config.get("group", []):
        own = {} if group.get("name", base["name"]) != base["name"] else base
        yield {"match": "*", "name": base["name"], **own, **group}


def make_optimizer(config, named, rates):
    """The transformation of all parameters, by name."""
    tables, labels, parts = list(tables_of(config)), {}, {}
    for name, x in named.items():
        hits = [i for i, t in enumerate(tables) if i and fnmatch.fnmatch(name, t["match"])
                and x.ndim <= t.get("max_rank", 99)]
        label = f"{hits[0] if hits else 0}/{x.ndim}"
        labels[name] = label
        parts[label] = transform(tables[hits[0] if hits else 0], x.ndim, rates)
    return optax.multi_transform(parts, labels)


class Trainer(train_families.Trainer):
    """All runs of one recipe."""

    def __init__(self, a, recipe):
        family = dataclasses.replace(MAKERS[recipe.family](), name=recipe.name, optimizer=recipe.text)
        super().__init__(a, family)
        self.recipe = recipe
        self.sets = [word for each in recipe.more for word in ("--set", f"training.{each}")]
        names = [name for name, _ in families.make_gpt.state_names(family.parameters)]
        self.averages = [f"{name}.average" for name in names] if "average" in str(recipe.more) else []

    def run(self, mesh, precision, fetch=()):
        return self.train(mesh, precision, [*fetch, *self.averages], self.sets)

    def average_of(self, run, isEach):
        dumped = arrays.read_arrays(run.folder) if self.averages else {}
        last = f"step-{self.a.steps - 1}." if isEach else ""
        return {name: dumped[last + name] for name in self.averages}

    def train_by_optax(self, fed):
        """Losses, and the averages at the end."""
        family, config = self.family, tomllib.loads((self.out / "one.toml").read_text())
        rules = {"max_norm": 1.0, **dict((k, float(v)) for k, v in (e.split("=") for e in self.recipe.more))}
        settings = training.Settings.from_toml(self.out / "one.toml")
        rates = jnp.asarray([training.learning_rate(settings, t + 1) for t in range(self.a.steps)], jnp.float32)
        named = {n: jnp.asarray(x) for n, x in arrays.read_safetensors(self.weights).items()}
        optimizer = make_optimizer(config, named, rates)
        state, average = optimizer.init(named), dict(named)

        def loss_sum(named, batch):
            value = family.loss(families.unflatten(family.parameters, named), *batch)
            n = family.count(*batch).astype(value.dtype) if family.count else jnp.ones((), value.dtype)
            return value * n, n

        @jax.jit
        def update(named, state, average, g, n):
            g = jax.tree.map(lambda x: x / n, g)
            if rules["max_norm"]:
                norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
                g = jax.tree.map(lambda x: x * jnp.minimum(1.0, rules["max_norm"] / norm), g)
            if bound := rules.get("max_value"):
                g = jax.tree.map(lambda x: jnp.clip(x, -bound, bound), g)
            changes, state = optimizer.update(g, state, named)
            named = optax.apply_updates(named, changes)
            d = rules.get("average", 0.0)
            return named, state, jax.tree.map(lambda a, p: d * a + (1 - d) * p, average, named)

        gradient, rows = jax.jit(jax.value_and_grad(loss_sum, has_aux=True)), []
        for batches in self.batches(fed):
            total, n, g = 0.0, 0.0, None
            for batch in batches:
                (value, part), new = gradient(named, batch)
                total, n = total + value, n + part
                g = jax.tree.map(jnp.add, g, new) if g else new
            named, state, average = update(named, state, average, g, n)
            rows.append((float(total / n),))
        return rows, {f"{name}.average": x for name, x in average.items()}


def check(a, recipe, meshes, judge):
    trainer = Trainer(a, recipe)
    exact, fed = trainer.run("one", "f64"), trainer.run("one", "model", list(trainer.family.inputs))
    for run, precision in ((exact, "f64"), (fed, "model")):
        if run.error:
            judge.note(f"{recipe.name} one {precision}", run, lambda run: [])
    if exact.error or fed.error:
        return
    theirs, averages = trainer.train_by_optax(fed)
    wanted = trainer.average_of(exact, False)

    def against_optax(run):
        found = [("losses", distance(train_families.losses(run.rows), theirs), recipe.bar)]
        if wanted:
            apart = train_families.farthest(trainer.average_of(run, True), averages)
            found.append(("averages", apart, recipe.bar * 10))
        return found

    def against_one(run):
        found = [("losses and norms", distance(run.rows, exact.rows), train_families.F64_BAR)]
        if wanted:
            apart = train_families.farthest(trainer.average_of(run, False), wanted)
            found.append(("averages", apart, train_families.F64_BAR))
        return found

    print(f"{recipe.name}: loss {theirs[0][0]:.4f} to {theirs[-1][0]:.4f}")
    judge.note(f"{recipe.name} one model", fed, against_optax)
    for mesh in meshes:
        judge.note(f"{recipe.name} {mesh} f64", trainer.run(mesh, "f64"), against_one)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--only", help="these recipes alone")
    p.add_argument("--meshes", help="these meshes alone")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    judge = train_families.Judge()
    chosen = [r for r in RECIPES if not a.only or r.name in a.only.split(",")]
    for recipe in chosen:
        check(a, recipe, a.meshes.split(",") if a.meshes else MESHES, judge)
    print(f"{len(chosen)} recipes, {judge.cases} cases, {judge.failed} failed")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
