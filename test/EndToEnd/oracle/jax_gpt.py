# ===- jax_gpt.py - Gradients and losses of the GPT, by JAX --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains the GPT of examples/gpt in JAX from dumped weights and dumped batches.

Reads   --weights   safetensors file or folder of .npy, named as llmc names them
        --batches   folder of step-<t>.tokens.npy and step-<t>.targets.npy,
                    t = 0, 1, …; each holds all microbatches, in order, or
                    step-<t>.tokens.<m>.npy one of them
Writes  OUT/gradients/<parameter>.npy   step 0, of the mean loss, before clipping
        OUT/losses.jsonl                {"step", "loss", "grad_norm", "lr"}

Without --weights and --batches it draws both (seeded) and writes them to OUT,
for a run in the other direction. compare.py judges the results.

    python jax_gpt.py --config ../../../examples/gpt/gpt.toml --weights w.safetensors \
        --batches dump --steps 20 --microbatches 4 --max-norm 0 -o out
"""

import argparse
import dataclasses
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "examples" / "gpt")]

import arrays  # noqa: E402
import make_gpt  # noqa: E402
import training  # noqa: E402


INPUTS = ("tokens", "targets")


def draw_weights(c, seed):
    g, result = np.random.default_rng(seed), {}
    for name, leaf in make_gpt.state_names(make_gpt.parameter_shapes(c)):
        if name.endswith((".bias", ".b")):
            value = np.zeros(leaf.shape)
        elif name.endswith(".scale"):
            value = np.ones(leaf.shape)
        else:
            value = 0.02 * g.standard_normal(leaf.shape)
        result[name] = value.astype(leaf.dtype)
    return result


def draw_batches(c, microbatches, steps, corpus, seed):
    """Windows of the corpus at random places: {"step-0.tokens": i32[m B, T], …}."""
    data = np.fromfile(corpus, np.uint8).astype(np.int32)
    g, result = np.random.default_rng(seed), {}
    for t in range(steps):
        starts = g.integers(0, len(data) - c.seq, size=(microbatches * c.batch, 1))
        window = data[starts + np.arange(c.seq + 1)]
        result[f"step-{t}.tokens"], result[f"step-{t}.targets"] = window[:, :-1], window[:, 1:]
    return result


def parameters(c, weights):
    """The nested dictionary of the model, filled from named arrays."""
    shapes = make_gpt.parameter_shapes(c)
    leaves = []
    for name, leaf in make_gpt.state_names(shapes):
        if name not in weights:
            sys.exit(f"error: expected weights to hold '{name}'")
        if weights[name].shape != leaf.shape:
            sys.exit(f"error: expected '{name}' of shape {leaf.shape}, got {weights[name].shape}")
        leaves.append(jnp.asarray(weights[name], leaf.dtype))
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


def whole_batch(batches, name, m):
    if name in batches:
        return batches[name]
    return np.concatenate([batches[f"{name}.{i}"] for i in range(m)])


def microbatches_of(c, batches, t, m):
    shape = (m, c.batch, c.seq)
    pair = (whole_batch(batches, f"step-{t}.{name}", m).reshape(shape) for name in INPUTS)
    return tuple(zip(*(tuple(jnp.asarray(x, jnp.int32)) for x in pair)))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for f in dataclasses.fields(make_gpt.Config):
        p.add_argument(f"--{f.name}", type=type(f.default), default=f.default)
    p.add_argument("--config", help="TOML with [optimizer], [schedule], [training]")
    p.add_argument("--weights")
    p.add_argument("--batches")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--microbatches", type=int)
    p.add_argument("--max-norm", type=float)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("-o", "--output", required=True)
    return p.parse_args()


def main():
    a = arguments()
    c = make_gpt.Config(**{f.name: getattr(a, f.name) for f in dataclasses.fields(make_gpt.Config)})
    jax.config.update("jax_enable_x64", c.dtype == "f64")
    s = training.Settings.from_toml(a.config) if a.config else training.Settings()
    s.microbatches = a.microbatches or s.microbatches
    s.max_norm = s.max_norm if a.max_norm is None else a.max_norm
    out = pathlib.Path(a.output)
    out.mkdir(parents=True, exist_ok=True)

    if a.weights:
        weights = arrays.read_arrays(a.weights)
    else:
        weights = draw_weights(c, a.seed)
        arrays.write_safetensors(out / "weights.safetensors", weights)
    if a.batches:
        batches = arrays.read_arrays(a.batches)
    else:
        corpus = HERE.parents[2] / "examples" / "gpt" / "corpus.bin"
        batches = draw_batches(c, s.microbatches, a.steps, corpus, a.seed)
        arrays.write_arrays(out / "batches", batches)

    run = (microbatches_of(c, batches, t, s.microbatches) for t in range(a.steps))
    loss = make_gpt.loss_function(c)
    with open(out / "losses.jsonl", "w", encoding="utf-8") as log:
        for t, value, norm, lr, g in training.train(
            loss, c.batch * c.seq, parameters(c, weights), run, s
        ):
            if t == 0:
                arrays.write_arrays(out / "gradients", dict(make_gpt.state_names(g)))
            line = json.dumps({"step": t, "loss": value, "grad_norm": norm, "lr": lr})
            print(line, file=log)
            print(line)


if __name__ == "__main__":
    main()
