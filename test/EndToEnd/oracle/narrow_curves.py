# ===- narrow_curves.py - Losses of a GPT with narrow contractions ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains one GPT in f32, and with `training.precision = "bf16"` (or f16, fp8) by llmc and by JAX.

For each seed (of weights and data): llmc in f32 and with the policy, and JAX with
the same policy (narrowed.py) from the same weights on the same batches. What the
policies are apart is judged by what seeds are apart: noise is the deviation, over
seeds, of the mean loss of the last tenth of the steps.

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

import arrays  # noqa: E402
import check_gpt  # noqa: E402
import jax_gpt  # noqa: E402
import make_gpt  # noqa: E402
import training  # noqa: E402
from narrowed import FP8, narrowed  # noqa: E402

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


def train(a, c, seed):
    out = a.output / f"seed-{seed}"
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpt.mlir").write_text(make_gpt.gpt_text(c), encoding="utf-8")
    config = check_gpt.configuration(out, a.microbatches, 1.0, "adamw")
    settings = training.Settings.from_toml(config)
    weights = out / "weights.safetensors"
    arrays.write_safetensors(weights, jax_gpt.draw_weights(c, seed))
    return {
        "f32": by_llmc(a, out / "f32", config, weights, "model", seed),
        "llmc": by_llmc(a, out / a.precision, config, weights, a.precision, seed),
        "jax": by_jax(a, c, settings, weights, out / "f32" / "dump"),
    }


def last_of(a, losses):
    return statistics.mean(losses[-max(1, a.steps // 10) :])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--precision", default="bf16", choices=sorted(DTYPES))
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--microbatches", type=int, default=1)
    for key, value in dict(layers=2, d=64, heads=4, seq=64, batch=8, vocab=256).items():
        p.add_argument(f"--{key}", type=int, default=value)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    sizes = {key: getattr(a, key) for key in ("layers", "d", "heads", "seq", "batch", "vocab")}
    c = make_gpt.Config(**sizes)
    runs = [train(a, c, seed) for seed in range(1, a.seeds + 1)]
    print("| seed | f32 | " + f"{a.precision}, llmc | {a.precision}, JAX | farthest from f32 | from JAX |\n|---|---|---|---|---|---|")
    for seed, run in enumerate(runs, start=1):
        ends = [f"{last_of(a, run[key]):.4f}" for key in ("f32", "llmc", "jax")]
        far = [max(abs(x / y - 1) for x, y in zip(run["llmc"], run[key])) for key in ("f32", "jax")]
        print(f"| {seed} | {' | '.join(ends)} | {far[0]:.1e} | {far[1]:.1e} |")
    noise = statistics.stdev(last_of(a, run["f32"]) for run in runs)
    apart = [abs(last_of(a, run["llmc"]) - last_of(a, run[key])) for run in runs for key in ("f32", "jax")]
    print(f"noise of seeds {noise:.1e}, curves apart at most {max(apart):.1e}")
    sys.exit(0 if max(apart) <= noise else 1)


if __name__ == "__main__":
    main()
