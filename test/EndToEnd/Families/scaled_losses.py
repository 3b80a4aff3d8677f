# ===- scaled_losses.py - f16 whose gradients overflow ----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains in f16 from a scale of the loss at which gradients overflow, and doubles it soon.

On each mesh and in JAX by the same rule, from the same weights on the same batches:
    a step in which a gradient overflows keeps parameters and moments, to the bit, and
    halves the scale; 4 good steps double it, until the next overflow
    all have the scale of JAX in each step, losses within 2e-5 in the first ten, and within
    6e-3 in all: roundings that turned over by then are in all that follows
    the loss falls all the same

    python scaled_losses.py --llmc llmc -o out
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "oracle")]
import quick_xla

# A rounding and what undoes it stay.
quick_xla.ask("--xla_allow_excess_precision=false", quick_xla.EIGHT_BITS)

import argparse
import json

import numpy as np
import train_families

import arrays
import jax
import jax.numpy as jnp
import training
from makers import MAKERS
from meshes import distance
from narrowed import narrowed

START, GOOD_STEPS, STEPS = 2.0**24, 4, 48
MESHES = ("one", "data2", "tensor2", "pipe2", "cube", "zero3")
STATES = ("first.w", "first.w.m", "blocks.2.in.w", "last.b.v")
EARLY, EARLY_BAR, BAR = 10, 2e-5, 6e-3


def run(trainer, mesh, precision, fetch, more=()):
    """(losses, scales), and what was dumped."""
    found = trainer.train(mesh, precision, fetch, more)
    if found.error:
        sys.exit(f"error: expected {mesh} to train, got {found.error}")
    log = trainer.out / f"{mesh}-{precision}" / "log.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    rows = [row for row in rows if "loss" in row]
    return found, [row["loss"] for row in rows], [row.get("loss_scale") for row in rows]


def train_by_jax(family, params, batches, s):
    """Losses and scales; the count of a microbatch is a power of two."""
    scaled = lambda params, scale, *batch: narrowed(family.loss, jnp.float16)(params, *batch) * scale
    gradient = jax.jit(jax.value_and_grad(scaled))

    @jax.jit
    def update(params, state, g, scale, lr, t):
        g = jax.tree.map(lambda x: x / (s.microbatches * scale), g)
        norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        g = jax.tree.map(lambda x: x * jnp.minimum(1.0, s.max_norm / norm), g)
        new = training.apply_optimizer(s, params, state, g, lr, t)
        keep = lambda x, y: jnp.where(jnp.isfinite(norm), x, y)
        return jax.tree.map(keep, new, (params, state)), jnp.isfinite(norm)

    state, scale, good, rows = training.initial_state(s, params), START, 0, []
    for t, microbatches in enumerate(batches, start=1):
        total, g = 0.0, None
        for batch in microbatches:
            value, new = gradient(params, scale, *batch)
            total = total + value / scale
            g = jax.tree.map(jnp.add, g, new) if g else new
        lr = jnp.asarray(training.learning_rate(s, t), jnp.float32)
        (params, state), isGood = update(params, state, g, scale, lr, jnp.asarray(t, jnp.float32))
        rows.append((float(total) / s.microbatches, scale))
        good = good + 1 if isGood else 0
        scale = scale / 2 if not isGood else scale * 2 if good == GOOD_STEPS else scale
        good %= GOOD_STEPS
    return [row[0] for row in rows], [row[1] for row in rows]


def faults_of(found, losses, scales, theirs):
    """What is wrong of one run."""
    if scales != theirs[1]:
        at = next(i for i, pair in enumerate(zip(scales, theirs[1])) if pair[0] != pair[1])
        yield f"expected the scale {theirs[1][at]} of JAX in step {at}, got {scales[at]}"
    for steps, bar in ((EARLY, EARLY_BAR), (STEPS, BAR)):
        apart = distance([(x,) for x in losses[:steps]], [(x,) for x in theirs[0][:steps]])
        if not apart <= bar:
            yield f"losses of {steps} steps are {apart:.1e} from JAX"
    if not np.mean(losses[-8:]) < 0.9 * np.mean(losses[:8]):
        yield f"expected the loss to fall, got {losses[0]} to {losses[-1]}"
    values = arrays.read_arrays(found.folder)
    for step in range(1, STEPS):
        isSkipped = step + 1 < STEPS and scales[step + 1] < scales[step]
        same = [n for n in STATES if (values[f"step-{step}.{n}"] == values[f"step-{step - 1}.{n}"]).all()]
        if step + 1 < STEPS and same != (list(STATES) if isSkipped else []):
            yield f"expected step {step} to {'keep' if isSkipped else 'change'} all states, got {same} kept"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    a.steps, failed = STEPS, 0
    family = MAKERS["mlp"]()
    trainer = train_families.Trainer(a, family)
    fed, _, _ = run(trainer, "one", "model", list(family.inputs))
    settings = training.Settings.from_toml(trainer.out / "one.toml")
    params = train_families.families.unflatten(family.parameters, arrays.read_safetensors(trainer.weights))
    theirs = train_by_jax(family, params, trainer.batches(fed), settings)
    more = ["--set", f"training.loss_scale={START}", "--set", f"training.loss_scale_steps={GOOD_STEPS}"]
    for mesh in MESHES:
        found, losses, scales = run(trainer, mesh, "f16", STATES, [*more, "--fetch-each-step"])
        faults = list(faults_of(found, losses, scales, theirs))
        failed += bool(faults)
        skipped = sum(y < x for x, y in zip(scales, scales[1:]))
        raised = sum(y > x for x, y in zip(scales, scales[1:]))
        apart = distance([(x,) for x in losses], [(x,) for x in theirs[0]])
        print(f"{mesh}: {skipped} overflows, {raised} times doubled, {apart:.1e} from JAX", *faults[:3], sep="; ")
        if not (skipped >= 8 and raised >= 3):
            sys.exit(f"error: expected overflows and doublings, got scales {scales}")
    print(f"{len(MESHES)} meshes, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
