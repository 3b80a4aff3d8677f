#!/usr/bin/env python3
# ===- sources.py - Training on the rows of arrays -----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Models that train on the rows of arrays against JAX, and files that do not fit.

    sources.py -o FOLDER

A regression on floats, a classifier of images of bytes with labels, a loss under
a boolean mask and a forecast of each row's next one take 3 steps of gradient
descent with 2 microbatches of 4 samples, in f64: more samples than rows, so that
the second shuffle is seen. JAX takes the same steps on the rows that numpy picks
by the permutation as `Random.h` defines it. Losses agree to 1e-10 on one device,
on meshes, interpreted, from a plan, and with one microbatch of 8 samples.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "oracle"))
import arrays as files  # noqa: E402

jax.config.update("jax_enable_x64", True)
STEPS, BATCH, RATE, SEED = 3, 8, 0.25, 5
MESHES = ("", "data=2", "data=2,tensor=2", "pipe=2")


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., SC 2011)."""
    x, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(q >> 32) ^ x[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ x[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return x


def permute(index, count, epoch):
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    while True:
        left, right = index >> half, index & ((1 << half) - 1)
        for turn in range(8):
            mixed = left ^ philox((right, turn, epoch, 0), (SEED, 0))[0] & ((1 << half) - 1)
            left, right = right, mixed
        index = left << half | right
        if index < count:
            return index


def rows_of(step, count, shuffle):
    """The rows of the samples of a step."""
    numbers = range(step * BATCH, (step + 1) * BATCH)
    return [permute(i % count, count, i // count) if shuffle else i % count for i in numbers]


def dense(p, h):
    return jnp.tanh(h @ p["first"]) @ p["second"]


def regression(p, x, y):
    return jnp.mean((dense(p, x) - y) ** 2)


def classifier(p, image, label):
    z = dense(p, image.reshape(image.shape[0], -1) / 255)
    picked = jnp.take_along_axis(z, label[:, None], -1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(z, -1) - picked)


def masked(p, x, mask):
    return jnp.where(mask, (dense(p, x) - x) ** 2, 0).sum() / jnp.maximum(mask.sum(), 1)


def forecast(p, now, next):
    return jnp.mean((dense(p, now) - next) ** 2)


class Model:
    """A loss, its parameters' shapes, the arrays of its sources, and the configuration of these.

    `inputs` is, for each input, the name of an array, the type in the model, and the rows that it lies after."""

    def __init__(self, loss, widths, arrays, inputs, data, shuffle=True):
        self.name, self.loss, self.arrays, self.inputs = loss.__name__, loss, arrays, inputs
        self.data, self.shuffle = data, shuffle
        draw = np.random.default_rng(1)
        a, b, c = widths
        self.parameters = {"first": draw.normal(size=(a, b)) / a**0.5, "second": draw.normal(size=(b, c)) / b**0.5}

    def sample(self, rows):
        return [jnp.asarray(self.arrays[array][[r + after for r in rows]], dtype)
                for array, dtype, after in self.inputs.values()]

    def reference(self):
        """The losses of JAX on the rows of numpy."""
        count = min(len(a) for a in self.arrays.values()) - max(after for _, _, after in self.inputs.values())
        p, losses = self.parameters, []
        step = jax.jit(jax.value_and_grad(self.loss))
        for s in range(STEPS):
            loss, g = step(p, *self.sample(rows_of(s, count, self.shuffle)))
            losses.append(float(loss))
            p = jax.tree.map(lambda w, d: w - RATE * d, p, g)
        return losses

    def write(self, folder):
        """The model for 4 and for 8 samples, its weights and its configuration."""
        folder.mkdir(parents=True)
        for batch in (BATCH // 2, BATCH):
            shapes = [jax.ShapeDtypeStruct((batch, *self.arrays[a].shape[1:]), t) for a, t, _ in self.inputs.values()]
            text = jax.jit(self.loss).lower(self.parameters, *shapes).as_text(debug_info=True)
            (folder / f"{batch}.mlir").write_text(text)
        files.write_safetensors(folder / "weights.safetensors", self.parameters)
        files.write_safetensors(folder / "all.safetensors", self.arrays)
        files.write_arrays(folder, self.arrays)
        (folder / "strategy.toml").write_text(f"""{self.data}
[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "first"
rest = [[], ["tensor"]]
[[layout]]
match = "second"
rest = [["tensor"]]
[[init]]
match = "*"
[optimizer]
name = "sgd"
lr = {RATE}
[training]
seed = {SEED}
""")


def make_models():
    draw = np.random.default_rng(2)
    x, y = draw.normal(size=(14, 6)), draw.normal(size=(14, 3))
    image, label = draw.integers(0, 256, (11, 2, 3), np.uint8), draw.integers(0, 5, 11)
    mask = draw.integers(0, 2, (13, 6)).astype(bool)
    two = '[data.{0}]\nkind = "array"\nfile = "{1}"\n{3}[data.{2}]\nkind = "array"\nfile = "{1}"\n{3}'
    return [
        Model(regression, (6, 8, 3), {"x": x, "y": y}, {"x": ("x", np.float64, 0), "y": ("y", np.float64, 0)},
              '[data.x]\nkind = "array"\nfile = "x.npy"\n[data.y]\nkind = "array"\nfile = "y.npy"\n'),
        Model(classifier, (6, 8, 5), {"image": image, "label": label},
              {"image": ("image", np.float64, 0), "label": ("label", np.int32, 0)},
              two.format("image", "all.safetensors", "label", "")),
        Model(masked, (6, 8, 6), {"x": x[:13], "mask": mask},
              {"x": ("x", np.float64, 0), "mask": ("mask", np.bool_, 0)},
              two.format("x", "all.safetensors", "mask", "shuffle = false\n"), shuffle=False),
        Model(forecast, (6, 8, 6), {"series": x},
              {"now": ("series", np.float64, 0), "next": ("series", np.float64, 1)},
              '[data.series]\nkind = "array"\nfile = "series.npy"\ninputs = {now = 0, next = 1}\n'),
    ]


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def losses_of(log, *command):
    """The losses of a run, or its last line."""
    process = run(*command, "--log", log)
    if process.returncode:
        return process.stderr.strip().splitlines()[-1:]
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def commands(folder):
    """Names and commands of the runs of a model."""
    halves = folder / f"{BATCH // 2}.mlir"
    flags = ["--config", folder / "strategy.toml", "--weights", folder / "weights.safetensors"]
    two = [*flags, "--steps", STEPS, "--set", "training.microbatches=2"]
    for mesh in MESHES:
        yield mesh or "one device", ["llmc", "train", halves, *two, *(["--mesh", mesh] if mesh else [])]
    yield "one microbatch", ["llmc", "train", folder / f"{BATCH}.mlir", *flags, "--steps", STEPS]
    yield "interpreted", ["llmc", "interpret", halves, *two]


def check_model(model, folder):
    """Runs and failures."""
    model.write(folder)
    expected, runs, failed = model.reference(), 0, 0
    for name, command in commands(folder):
        found = losses_of(folder / "run.jsonl", *command)
        agrees = len(found) == STEPS and not any(isinstance(x, str) for x in found) and np.allclose(
            found, expected, rtol=1e-10, atol=0)
        runs, failed = runs + 1, failed + (not agrees)
        print(f"{'' if agrees else 'FAILED '}{model.name}, {name}: {found}", "" if agrees else f"expected {expected}")
    return runs, failed


def refusals(folder):
    """Files in place of the label's or the image's, with code and message."""
    image, label = np.load(folder / "image.npy"), np.load(folder / "label.npy")

    def npy(name, array):
        np.save(folder / name, array)
        return folder / name

    def cut(name, source, size):
        (folder / name).write_bytes((folder / source).read_bytes()[:size])
        return folder / name

    wide = label.copy()
    wide[:] = -5_000_000_000
    shape = r"expected rows of shape \[2, 3\] for input 'image', got "
    return [
        ("image", folder / "none.npy", r"none.npy: cannot open"),
        ("image", npy("fortran.npy", np.asfortranarray(image)), "C order and a shape"),
        ("image", npy("big.npy", image.astype(">f4")), "plain little-endian type"),
        ("image", cut("short.npy", "image.npy", 150), "to fill the file, got 22 bytes"),
        ("image", cut("short.safetensors", "all.safetensors", 200), "safetensors"),
        ("image", folder / "weights.safetensors", "expected a tensor 'image', got 2 of other names"),
        ("image", npy("flat.npy", image.reshape(11, 6)), shape + r"\[6\]"),
        ("image", npy("scalar.npy", np.float32(1)), r"expected an array of rows, got shape \[\]"),
        ("image", npy("empty.npy", image[:0]), r"expected an array of rows, got shape \[0, 2, 3\]"),
        ("image", folder / "8.mlir", "expected an array in an .npy or .safetensors file"),
        ("label", npy("less.npy", label[:10]), "image.npy: expected 10 rows, as many samples as .*less.npy has, got 11"),
        ("label", npy("float.npy", label.astype(float)), "expected values of i32 for input 'label', got f64"),
        ("label", npy("wide.npy", wide), "expected values of i32 at row [0-9]+, got -5000000000"),
    ]


def check_refusals(folder):
    """A plan whose sources are given by name."""
    compiled = run("llmc", "compile", folder / f"{BATCH}.mlir", "--config", folder / "strategy.toml", "-o", folder / "plan")
    sound = ["--data", f"image={folder}/image.npy", "--data", f"label={folder}/label.npy"]
    found = run("llmc-run", folder / "plan", *sound)
    if compiled.returncode or found.returncode:
        sys.exit(f"FAILED to run the plan: {compiled.stderr}{found.stderr}")
    failed = 0
    cases = refusals(folder)
    for source, path, message in cases:
        found = run("llmc-run", folder / "plan", *sound, "--data", f"{source}={path}")
        lines = found.stderr.strip().splitlines()
        if found.returncode != 3 or len(lines) != 1 or not re.search(message, lines[0]):
            failed += 1
            print(f"FAILED {path}: exit code {found.returncode}, {found.stderr}")
    print(f"{len(cases)} refusals, {failed} failed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", required=True)
    out = pathlib.Path(parser.parse_args().output)
    models = make_models()
    counts = [check_model(model, out / model.name) for model in models]
    print(f"{len(models)} models, {sum(r for r, _ in counts)} runs, {sum(f for _, f in counts)} failed")
    check_refusals(out / "classifier")


if __name__ == "__main__":
    main()
