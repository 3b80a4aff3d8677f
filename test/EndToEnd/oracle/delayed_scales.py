# ===- delayed_scales.py - Scales of fp8 that look back ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains mean(y y), y = (x w1)^2 w2 with `fp8_scaling = "delayed"`, and by the same rule in numpy.

On each mesh, step by step: the greatest elements that each of the three tensors that are made in a
microbatch remembers (the square, and the cotangents of y and of x w1), within 2e-6 of numpy's, and
losses within 1e-5. Microbatches differ by powers of two, so a scale that looks at another microbatch, or
at a device's part of the tensor, is another one, and what saturates under it is too: the loss by
current scales is farther away than the bar.

    python delayed_scales.py --llmc llmc -o out
"""

import argparse
import json
import pathlib
import subprocess
import sys

import arrays
import ml_dtypes
import numpy as np

F32 = np.float32
BATCH, STEPS, MICROBATCHES, HISTORY = 8, 6, 3, 4
SHAPES = {"w1": (16, 32), "w2": (32, 8)}
MESHES = ["", "data=2", "data=4", "tensor=2", "pipe=2", "pipe=2,data=2,tensor=2"]
AMAX_BAR, LOSS_BAR = 2e-6, 1e-5
MODEL = """module @m {
  func.func public @main(%w1: tensor<16x32xf32> loc("p['w1']"), %w2: tensor<32x8xf32> loc("p['w2']"), %x: tensor<8x16xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<64.0> : tensor<f32>
    %a = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %h = stablehlo.multiply %a, %a : tensor<8x32xf32>
    %y = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    %s = stablehlo.multiply %y, %y : tensor<8x8xf32>
    %sum = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %mean = stablehlo.divide %sum, %count : tensor<f32>
    return %mean : tensor<f32>
  }
}
"""
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
[[layout]]
match = "w1"
rest = [[], ["tensor"]]
[[layout]]
match = "w2"
rest = [["tensor"]]
[optimizer]
name = "sgd"
lr = 1e-3
"""


class Scaled:
    """Tensors of eight bits with delayed scales."""

    def __init__(self):
        self.known = {}

    def scale_of(self, amax, dtype):
        largest = F32(float(ml_dtypes.finfo(dtype).max))
        bits = np.minimum(largest / F32(amax), F32(2.0**126)).view(np.int32) & 0x7F800000
        return bits.view(F32)

    def quantize(self, x, dtype, site=None):
        amax = np.abs(x).max()
        scale = self.scale_of(amax, dtype)
        if site:
            known = self.known.setdefault(site, np.zeros(HISTORY, F32))
            scale = self.scale_of(known.max(), dtype) if known.max() > 0 else F32(1)
            self.known[site] = np.concatenate([[amax], known[:-1]]).astype(F32)
        largest = F32(float(ml_dtypes.finfo(dtype).max))
        return np.clip(x * scale, -largest, largest).astype(dtype).astype(F32) / scale

    def gradients(self, w1, w2, x):
        e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
        x, w1 = self.quantize(x, e4m3), self.quantize(w1, e4m3)
        a = x @ w1
        h, w2 = self.quantize(a * a, e4m3, "h"), self.quantize(w2, e4m3)
        y = h @ w2
        gy = self.quantize(2 * y, e5m2, "gy")
        ga = self.quantize((gy @ w2.T) * 2 * a, e5m2, "ga")
        return (y * y).sum(dtype=F32), x.T @ ga, h.T @ gy


def by_numpy(weights, batches):
    """Loss, and what is remembered, after each step."""
    scaled, (w1, w2), rows = Scaled(), (weights["w1"], weights["w2"]), []
    for step in batches:
        total, g1, g2 = F32(0), 0, 0
        for x in step:
            loss, d1, d2 = scaled.gradients(w1, w2, x)
            total, g1, g2 = total + loss, g1 + d1, g2 + d2
        count = F32(64 * MICROBATCHES)
        w1, w2 = w1 - F32(1e-3) * g1 / count, w2 - F32(1e-3) * g2 / count
        rows.append((total / count, [scaled.known[site] for site in ("h", "gy", "ga")]))
    return rows


def train(a, mesh, scaling):
    out = a.output / f"{mesh or 'one'}-{scaling}"
    out.mkdir(parents=True, exist_ok=True)
    command = [a.llmc, "train", a.output / "model.mlir", "--config", a.output / "config.toml", "--mesh", mesh]
    command = command[:-2] if not mesh else command
    for key, value in {"precision": "fp8", "microbatches": MICROBATCHES, "fp8_scaling": scaling}.items():
        command += ["--set", f"training.{key}={value}"]
    if scaling == "delayed":
        command += ["--set", f"training.fp8_history={HISTORY}", "--fetch", "x,train.amax.*"]
        command += ["--fetch-each-step", "--dump", out]
    command += ["--weights", a.output / "weights.safetensors", "--data", a.output / "data.safetensors"]
    command += ["--steps", STEPS, "--log", out / "log.jsonl"]
    process = subprocess.run(list(map(str, command)), text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"error: expected a run on {mesh}, got exit code {process.returncode}: {process.stderr[-2000:]}")
    rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return out, [row["loss"] for row in rows if "loss" in row]


def check(a, mesh, want):
    out, losses = train(a, mesh, "delayed")
    faults, worst, off = [], 0.0, float(np.max([abs(x / float(y[0]) - 1) for x, y in zip(losses, want)]))
    for step, (_, known) in enumerate(want):
        # What two stages read has two states.
        found = [np.load(file) for file in out.glob(f"step-{step}.train.amax.*.npy")]
        far = [[np.max(np.abs(x - y) / np.maximum(y, 1e-30)) for y in known] for x in found]
        worst = np.max([worst, *np.min(far, axis=0), *np.min(far, axis=1)])
    if not worst <= AMAX_BAR:
        faults.append(f"greatest elements are {worst:.1e} apart")
    if not off <= LOSS_BAR:
        faults.append(f"losses are {off:.1e} apart")
    print(f"{mesh or 'one'}: amax {worst:.1e}, losses {off:.1e} from numpy", *faults, sep="; ")
    return bool(faults)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(3)
    weights = {name: random.normal(0, 0.2, shape).astype(F32) for name, shape in SHAPES.items()}
    powers = np.repeat(2.0 ** random.integers(-2, 3, STEPS * MICROBATCHES), BATCH)[:, None]
    samples = random.normal(0, 1, (len(powers), 16)) * powers
    arrays.write_safetensors(a.output / "weights.safetensors", weights)
    arrays.write_safetensors(a.output / "data.safetensors", {"data": samples.astype(F32)})
    (a.output / "model.mlir").write_text(MODEL)
    (a.output / "config.toml").write_text(CONFIG)
    out, losses = train(a, "", "delayed")
    batches = [[np.load(out / f"step-{s}.x.{m}.npy") for m in range(MICROBATCHES)] for s in range(STEPS)]
    want = by_numpy(weights, batches)
    failed = sum(check(a, mesh, want) for mesh in MESHES)
    _, current = train(a, "", "current")
    apart = float(np.max([abs(x / y - 1) for x, y in zip(losses, current)]))
    print(f"current scales: {apart:.1e} from delayed ones")
    failed += not apart > 10 * LOSS_BAR
    print(f"{len(MESHES)} meshes, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
