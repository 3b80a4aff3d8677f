# ===- narrow_families.py - Families whose contractions are narrow ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains families with `training.precision = "bf16"` or "f16" and compares each step.

For each family, 20 steps on one device and on its meshes of the table:
    against JAX   the same policy in JAX (oracle/narrowed.py), from the same weights
                  on the same batches
    against f32   llmc without the policy
and, of two families, five steps of the text of `jax.value_and_grad` against llmc's own derivative.

    python narrow_families.py --llmc llmc -o out table.txt
    python narrow_families.py --llmc llmc -o out table.txt --only mlp --precision f16

With `--saved narrow` the backward reads activations and norms rounded, which JAX does not.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "oracle")]
import quick_xla

# A rounding and what undoes it stay.
quick_xla.ask("--xla_allow_excess_precision=false", quick_xla.EIGHT_BITS)

import argparse
import dataclasses
import math
import time

import jax
import jax.numpy as jnp

import train_families
from makers import MAKERS
from meshes import distance
from narrowed import FP8, narrowed

# What XLA computes in another order, or by another exponential, is rounded to another number now and
# then, and all that follows from it too. In EXACT this does not happen in 20 steps: what is rounded
# where is the same. In f16 JAX has no scale of the loss, and its smallest cotangents fewer digits. With
# eight bits a rounding that turns over moves a number by an eighth, so later steps are apart by what
# the policy itself is from f32; the first step is the one that tells whether it is the same policy.
EXACT = {"bf16": ("mlp", "cnn", "lstm", "unet"), "fp8": ("mlp", "cnn", "scan", "lstm", "unet"), "f16": ()}
EXACT_BAR = 5e-6
FIRST_BARS = {"bf16": 1e-2, "f16": 5e-3, "fp8": 2e-3}
# Sums of several means, which llmc divides by other numbers than JAX, where eight bits round otherwise.
MEANS, MEANS_BAR = ("clip", "moe"), 3e-1
# Trained by the text of `value_and_grad` too, one of them a loop over layers.
GIVEN = ("mlp", "scan")
# That is of each run by itself, so two of them are apart by about the root of two of it: where JAX's own run
# is far from f32, its distance counts in place of the bar.
APART = 1.5
JAX_BARS = {"bf16": 1e-2, "f16": 5e-3, "fp8": 5e-2}
WIDE_BARS = {"bf16": 2e-2, "f16": 2e-2, "fp8": 2e-1}
DTYPES = {"bf16": jnp.bfloat16, "f16": jnp.float16, "fp8": FP8}


def count_of(family):
    """By what llmc divides a gradient after all products, and JAX a loss before them.

    Eight bits round a number otherwise than a third of it.
    """
    return family.count or (lambda *batch: jnp.asarray(float(batch[-1].size)))


def check(a, family, meshes, judge):
    trainer = train_families.Trainer(a, family)
    wide = trainer.train("one", "model", list(family.inputs))
    if wide.error:
        return judge.note(f"{family.name} one f32", wide, lambda run: [])
    loss, count = narrowed(family.loss, DTYPES[a.precision]), family.count
    trainer.family = dataclasses.replace(family, loss=loss, count=count_of(family) if a.precision == "fp8" else count)
    theirs, _ = trainer.train_by_jax(wide)
    losses = train_families.losses
    isExact = family.name in EXACT[a.precision] and a.saved == "as computed"
    bar = EXACT_BAR if isExact else max(JAX_BARS[a.precision], APART * distance(losses(theirs), losses(wide.rows)))
    hasMeans = a.precision == "fp8" and family.name in MEANS

    def against_f32(run):
        apart = distance(losses(run.rows), losses(wide.rows))
        # A policy that changes nothing is none.
        return [("against f32", apart, WIDE_BARS[a.precision])] + [("same as f32", math.inf, 0.0)] * (apart == 0)

    def against_both(run):
        return [
            ("against JAX", distance(losses(run.rows), losses(theirs)), bar),
            ("the first loss", distance(losses(run.rows[:1]), losses(theirs[:1])), FIRST_BARS[a.precision]),
            ("and norm", distance(run.rows[:1], theirs[:1]), MEANS_BAR if hasMeans else FIRST_BARS[a.precision]),
            *against_f32(run),
        ]

    saved = ["--set", f"training.saved={a.saved}"]
    if a.precision == "fp8":
        judge.note(f"{family.name} raised", trainer.train("one", a.precision, more=saved), against_f32)
        # Attention that is one op multiplies bf16, JAX all products by one policy.
        saved += ["--set", "training.raise=false"]
    own = None
    for mesh in ("one", *meshes):
        run = trainer.train(mesh, a.precision, more=saved)
        own = own or run
        judge.note(f"{family.name} {mesh}", run, against_both)
    if family.name in GIVEN and a.precision == "bf16" and a.saved == "as computed" and not own.error:
        inputs = [train_families.families.leaf(*shape, dtype=jnp.int32) for shape, _ in family.inputs.values()]
        gradients = jax.value_and_grad(family.loss)
        trainer.model.write_text(train_families.families.make_gpt.text_of(gradients, family.parameters, *inputs))
        run = trainer.train("one", a.precision)
        early = lambda run: losses(run.rows)[:5]
        measure = lambda run: [("five steps against llmc's derivative", distance(early(run), early(own)), EXACT_BAR)]
        judge.note(f"{family.name} with the derivative of JAX", run, measure)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--precision", default="bf16", choices=sorted(DTYPES))
    p.add_argument("--saved", default="as computed", choices=["as computed", "narrow"])
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", help="these meshes alone")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("table")
    a = p.parse_args()
    every = [mesh for mesh in train_families.families.MESHES if mesh != "one"]
    table = train_families.read_table(a.table, every)
    names = a.only.split(",") if a.only else [name for name in table if name != "bf16"]
    judge, start = train_families.Judge(), time.time()
    for name in names:
        meshes = table[name][:1] if a.meshes is None else [m for m in a.meshes.split(",") if m]
        check(a, MAKERS[name](), meshes, judge)
    print(f"{len(names)} families, {judge.cases} cases, {judge.failed} failed, {time.time() - start:.0f} s")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
