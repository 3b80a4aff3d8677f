# ===- delayed_loops.py - Scales of fp8 that look back, in loops -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models whose loops stay loops with `fp8_scaling = "delayed"`.

    layers   a scan over layers, on meshes: the greatest elements that are remembered for each trip within
             2e-6 of numpy's by the same rule, and losses within 1e-5
    times    a recurrence whose weights enter as they are, and which stacks
    nested   recurrences in layers

Each is also trained with its loops unrolled: what is remembered, and losses, are the same to the bit.

    python delayed_loops.py --llmc llmc -o out
"""

import argparse
import json
import pathlib
import subprocess
import sys

import arrays
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from delayed_scales import AMAX_BAR, BATCH, F32, HISTORY, LOSS_BAR, MICROBATCHES, Scaled

LAYERS, TIMES, STEPS, WIDTH = 6, 5, 4, 16
CONFIG = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data]
kind = "array"
shuffle = false
[data.inputs]
x = 0
[[layout]]
input = "*"
dims = [["data"]]
[optimizer]
name = "sgd"
lr = 1e-5
[training]
precision = "fp8"
fp8_scaling = "delayed"
"""
COLUMNS = """[[layout]]
match = "w1"
rest = [[], [], ["tensor"]]
[[layout]]
match = "w2"
rest = [[], ["tensor"]]
"""


def layers(p, x):
    trip = lambda x, w: (x + jnp.abs(x @ w["w1"]) @ w["w2"], None)
    return jax.lax.scan(trip, x * x, p)[0]


def recur(p, xs):
    def trip(h, x):
        h = jnp.tanh(x @ p["w1"] + h)
        return h, h @ p["w2"] @ p["v"]

    return jax.lax.scan(trip, jnp.zeros((xs.shape[1], 2 * WIDTH)), xs)[1]


def sequence(x):
    return jnp.stack([x * x * (t + 1) for t in range(TIMES)])


def times(p, x):
    return recur(p, sequence(x))


def nested(p, x):
    return jax.lax.scan(lambda xs, w: (xs + recur(w, xs), None), sequence(x), p)[0]


# By model: whether its weights are stacked, and where it is trained beside one device.
MODELS = {
    layers: (True, ["data=2,tensor=2", "pipe=3", "pipe=2,data=2,tensor=2"]),
    times: (False, ["data=2"]),
    nested: (True, ["pipe=2"]),
}


def shapes_of(model):
    outer = (LAYERS,) if MODELS[model][0] else ()
    shapes = {"w1": (WIDTH, 2 * WIDTH), "w2": (2 * WIDTH, WIDTH), "v": (WIDTH, WIDTH)}
    return {n: (*outer, *shape) for n, shape in shapes.items() if n != "v" or model != layers}


def write_model(a, model, weights):
    leaf = lambda *shape: jax.ShapeDtypeStruct(shape, "float32")
    p = {name: leaf(*value.shape) for name, value in weights.items()}

    def loss(p, x):
        y = model(p, x)
        return jnp.mean(y * y)

    text = jax.jit(loss).lower(p, leaf(BATCH, WIDTH)).as_text(debug_info=True)
    (a.output / f"{model.__name__}.mlir").write_text(text)
    (a.output / f"{model.__name__}.toml").write_text(CONFIG + (COLUMNS if model == layers else ""))
    arrays.write_safetensors(a.output / f"{model.__name__}.safetensors", weights)


def train(a, model, mesh="", *more):
    """Losses, what is remembered after each step, a row for each trip, and the folder."""
    name = model.__name__
    out = a.output / "-".join([name, mesh or "one", *more])
    out.mkdir(parents=True, exist_ok=True)
    command = [a.llmc, "train", a.output / f"{name}.mlir", "--config", a.output / f"{name}.toml"]
    command += ["--mesh", mesh] if mesh else []
    settings = [f"training.microbatches={MICROBATCHES}", f"training.fp8_history={HISTORY}", *more]
    command += [word for setting in settings for word in ("--set", setting)]
    command += ["--weights", a.output / f"{name}.safetensors", "--data", a.output / "data.safetensors"]
    command += ["--fetch", "x,train.amax.*", "--fetch-each-step", "--dump", out, "--steps", STEPS]
    process = subprocess.run([*map(str, command), "--log", str(out / "log.jsonl")], text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"error: expected a run of {out.name}, got {process.returncode}: {process.stderr[-2000:]}")
    rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    known = [[np.load(f) for f in out.glob(f"step-{s}.train.amax.*.npy")] for s in range(STEPS)]
    depth = max(state.ndim for state in known[0])
    return [row["loss"] for row in rows if "loss" in row], known, depth, out


def by_numpy(weights, out):
    """Loss, and what each trip remembers, after each step of `layers`."""
    scaled, w = Scaled(), dict(weights)
    e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    for step in range(STEPS):
        total, sums = F32(0), {name: np.zeros_like(value) for name, value in w.items()}
        for m in range(MICROBATCHES):
            x, kept = np.load(out / f"step-{step}.x.{m}.npy") ** 2, []
            for n in range(LAYERS):
                xn, w1 = scaled.quantize(x, e4m3, ("x", n)), scaled.quantize(w["w1"][n], e4m3)
                product = xn @ w1
                hn, w2 = scaled.quantize(np.abs(product), e4m3, ("h", n)), scaled.quantize(w["w2"][n], e4m3)
                kept.append((xn, w1, product, hn, w2))
                x = x + hn @ w2
            total, g = total + (x * x).sum(dtype=F32), 2 * x
            for n, (xn, w1, product, hn, w2) in reversed(list(enumerate(kept))):
                gn = scaled.quantize(g, e5m2, ("g", n))
                gp = scaled.quantize((gn @ w2.T) * np.sign(product), e5m2, ("gp", n))
                sums["w2"][n] += hn.T @ gn
                sums["w1"][n] += xn.T @ gp
                g = g + gp @ w1.T
        count = F32(BATCH * WIDTH * MICROBATCHES)
        w = {name: value - F32(1e-5) * sums[name] / count for name, value in w.items()}
        yield total / count, np.array(list(scaled.known.values()))


def set_of(states):
    """What two stages or directions read has two states."""
    return np.unique(np.concatenate([state.reshape(-1, HISTORY) for state in states]), axis=0)


def check_numpy(losses, known, want):
    worst, off = 0.0, float(np.max([abs(x / float(y) - 1) for x, (y, _) in zip(losses, want, strict=True)]))
    for states, (_, rows) in zip(known, want):
        far = np.abs(set_of(states)[:, None] - rows) / np.maximum(rows, 1e-30)
        far = far.max(axis=-1)
        worst = np.max([worst, far.min(axis=0).max(), far.min(axis=1).max()])
    faults = [f"greatest elements are {worst:.1e} from numpy"] * (not worst <= AMAX_BAR)
    return faults + [f"losses are {off:.1e} from numpy"] * (not off <= LOSS_BAR), f"amax {worst:.1e}, losses {off:.1e}"


def check_model(a, model, random):
    weights = {name: random.normal(0, 0.1, shape).astype(F32) for name, shape in shapes_of(model).items()}
    write_model(a, model, weights)
    unrolled, states, depth, out = train(a, model, "", "training.unroll=true")
    want = list(by_numpy(weights, out)) if model == layers else []
    failed = int(depth != 1)
    runs = [("",), *((mesh,) for mesh in MODELS[model][1]), (MODELS[model][1][-1], "training.recompute=all")]
    for run in runs:
        losses, known, depth, _ = train(a, model, *run)
        faults = ["no loop"] * (depth != (3 if model == nested else 2))
        off = float(np.max([abs(x / y - 1) for x, y in zip(losses, unrolled, strict=True)]))
        isSame = all(np.array_equal(set_of(x), set_of(y)) for x, y in zip(known, states))
        if run == ("",):
            faults += ["other losses than unrolled"] * (not off <= 0) + ["other greatest elements"] * (not isSame)
        more, text = check_numpy(losses, known, want) if want else ([], "")
        faults += more + [f"losses are {off:.1e} from unrolled"] * (not off <= LOSS_BAR)
        print(f"{model.__name__} {' '.join(run) or 'one'}: {text}", f"same {isSame}, {off:.1e}", *faults, sep="; ")
        failed += bool(faults)
    return len(runs), failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", choices=[model.__name__ for model in MODELS], help="this model alone")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    powers = np.repeat(2.0 ** random.integers(-2, 3, STEPS * MICROBATCHES), BATCH)[:, None]
    samples = random.normal(0, 1, (len(powers), WIDTH)) * powers
    arrays.write_safetensors(a.output / "data.safetensors", {"data": samples.astype(F32)})
    models = [model for model in MODELS if a.only in (None, model.__name__)]
    counts = np.array([check_model(a, model, random) for model in models]).sum(axis=0)
    print(f"{len(models)} models, {counts[0]} runs, {counts[1]} failed")
    sys.exit(1 if counts[1] else 0)


if __name__ == "__main__":
    main()
