# ===- narrow_curves.py - Losses of a GPT with narrow contractions ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains one GPT in f32, and with `training.precision = "bf16"` (or f16, fp8) by llmc and by JAX.

For each seed (of weights and data): llmc in f32 and with the policy, and JAX with
the same policy (narrowed.py) from the same weights on the same batches. Training
magnifies the least of differences, of some seeds more than of others, so f32 runs
a few times more, from weights that were moved by as much as bf16 rounds: where a
curve ends is the mean loss of the last tenth of the steps, and a policy may end
outside the range of the seed's runs in f32 by the deviation that they have over
seeds.

    python narrow_curves.py --llmc llmc --steps 200 --seeds 3 -o out
"""

import os

os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "gpt")]

import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

import arrays  # noqa: E402
import check_gpt  # noqa: E402
import jax_gpt  # noqa: E402
import make_gpt  # noqa: E402
import training  # noqa: E402
from narrowed import FP8, narrowed  # noqa: E402

ROUNDING = 2.0**-9  # of bf16, relative
DTYPES = {"bf16": jnp.bfloat16, "f16": jnp.float16, "fp8": FP8}


def by_llmc(a, out, config, weights, precision, seed):
    """Losses, and the bytes of activations that the summary says."""
    out.mkdir(parents=True, exist_ok=True)
    command = [a.llmc, "train", out.parent / "gpt.mlir", "--config", config, "--weights", weights]
    command += ["--steps", a.steps, "--log", out / "log.jsonl", "--set", f"training.seed={seed}"]
    command += ["--set", f'training.precision="{precision}"']
    if precision == "model":
        command += ["--fetch", "tokens,targets", "--fetch-each-step", "--dump", out / "dump"]
    process = subprocess.run(list(map(str, command)), text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"error: expected a run, got exit code {process.returncode}: {process.stderr[-2000:]}")
    rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


def by_jax(a, c, settings, weights, dump):
    params = jax_gpt.parameters(c, arrays.read_arrays(weights))
    batches = arrays.read_arrays(dump)
    each = (jax_gpt.microbatches_of(c, batches, t, settings.microbatches) for t in range(a.steps))
    loss = narrowed(make_gpt.loss_function(c), DTYPES[a.precision])
    return [row[1] for row in training.train(loss, c.batch * c.seq, params, each, settings)]


def move(a, out, config, weights, seed, number):
    """Losses in f32 from weights that are up to a rounding of bf16 away."""
    random = numpy.random.default_rng((seed, number))
    moved = {}
    for name, array in arrays.read_arrays(weights).items():
        moved[name] = (array * (1 + ROUNDING * random.uniform(-1, 1, array.shape))).astype(array.dtype)
    file = out / f"moved-{number}.safetensors"
    arrays.write_safetensors(file, moved)
    return by_llmc(a, out / f"moved-{number}", config, file, "model", seed)


def train(a, c, seed):
    out = a.output / f"seed-{seed}"
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpt.mlir").write_text(make_gpt.gpt_text(c), encoding="utf-8")
    config = check_gpt.configuration(out, a.microbatches, 1.0, "adamw")
    settings = training.Settings.from_toml(config)
    weights = out / "weights.safetensors"
    arrays.write_safetensors(weights, jax_gpt.draw_weights(c, seed))
    moved = [move(a, out, config, weights, seed, number) for number in range(a.moved)]
    return {
        "moved": moved,
        "f32": by_llmc(a, out / "f32", config, weights, "model", seed),
        "llmc": by_llmc(a, out / a.precision, config, weights, a.precision, seed),
        "jax": by_jax(a, c, settings, weights, out / "f32" / "dump"),
    }


def last_of(a, losses):
    return statistics.mean(losses[-max(1, a.steps // 10) :])


def outside(a, run, key):
    """By how much a curve ends outside the range of those in f32."""
    ends = [last_of(a, losses) for losses in [run["f32"], *run["moved"]]]
    end = last_of(a, run[key])
    return float(numpy.max([numpy.min(ends) - end, end - numpy.max(ends), 0.0]))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--precision", default="bf16", choices=sorted(DTYPES))
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--moved", type=int, default=4, help="runs in f32 from moved weights")
    p.add_argument("--microbatches", type=int, default=1)
    for key, value in dict(layers=2, d=64, heads=4, seq=64, batch=8, vocab=256).items():
        p.add_argument(f"--{key}", type=int, default=value)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    sizes = {key: getattr(a, key) for key in ("layers", "d", "heads", "seq", "batch", "vocab")}
    c = make_gpt.Config(**sizes)
    runs = [train(a, c, seed) for seed in range(1, a.seeds + 1)]
    print(f"| seed | f32 | moved | {a.precision}, llmc | {a.precision}, JAX | farthest from f32 | from JAX |")
    print("|---|---|---|---|---|---|---|")
    for seed, run in enumerate(runs, start=1):
        moved = sorted(last_of(a, losses) for losses in run["moved"])
        ends = [f"{last_of(a, run[key]):.4f}" for key in ("f32", "llmc", "jax")]
        ends.insert(1, ", ".join(f"{end:.4f}" for end in moved))
        far = [numpy.max([abs(x / y - 1) for x, y in zip(run["llmc"], run[key])]) for key in ("f32", "jax")]
        print(f"| {seed} | {' | '.join(ends)} | {far[0]:.1e} | {far[1]:.1e} |")
    noise = statistics.stdev(last_of(a, run["f32"]) for run in runs)
    apart = numpy.max([outside(a, run, key) for run in runs for key in ("llmc", "jax")])
    print(f"deviation over seeds {noise:.1e}, curves end at most {apart:.1e} outside of those in f32")
    sys.exit(0 if apart <= noise else 1)


if __name__ == "__main__":
    main()
