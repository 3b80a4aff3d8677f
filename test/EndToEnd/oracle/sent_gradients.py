# ===- sent_gradients.py - Terms of gradients that are rounded to be sent --=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains the mean of x w + b with `gradient_type = "bf16"` and predicts each bit of its gradients.

The gradient of w is a sum of rows of x, which are whole numbers: all sums are exact in f32, and
what is left is where they are rounded. For each row of states and each number of microbatches:

    all-reduce, ZeRO-1   the terms of a device, added over microbatches, rounded once
    ZeRO-2, ZeRO-3       the term of a device in each microbatch
    one device           nothing

Terms are added up in f32 and the sum is rounded once more, since a result is sent too. Bytes of
the collectives of gradients are half of those in f32.

    python sent_gradients.py --llmc llmc -o out
"""

import argparse
import pathlib
import re
import subprocess
import sys

import numpy as np

MODEL = """module @m {
  func.func public @main(%w: tensor<8x4xf32> loc("params['w']"), %b: tensor<4xf32> loc("params['b']"), %x: tensor<8x8xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<32.0> : tensor<f32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %rows = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %z = stablehlo.add %y, %rows : tensor<8x4xf32>
    %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %mean = stablehlo.divide %sum, %count : tensor<f32>
    return %mean : tensor<f32>
  }
}
"""
ROWS = {
    "replicated": "rest = []",
    "zero1": 'rest = [["data"]]\nuse = []',
    "zero2": 'rest = [["data"]]\nuse = []\ngradient = [["data"]]',
    "zero3": 'rest = [["data"]]\nuse = []\ngradient = [["data"]]',
}
IN_EACH_MICROBATCH = ("zero2", "zero3")
SAMPLES = 8


def config_of(row, microbatches, sent):
    kind = f'gradient_type = "{sent}"\n' if sent else ""
    return f"""[mesh]
axes = ["data"]
[data]
kind = "array"
file = "data.safetensors"
[data.inputs]
x = 0
[[init]]
match = "*"
draw = "zeros"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
{row}
{kind}[optimizer]
name = "sgd"
lr = 1.0
[training]
microbatches = {microbatches}
"""


def rounded(x):
    """To bf16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def predict(x, devices, microbatches, isEach, isSent):
    """The sum of w's gradient in one column; x has all samples of the step."""
    send = rounded if isSent and devices > 1 else lambda v: v
    terms = x.reshape(microbatches, devices, -1, x.shape[1]).sum(axis=2, dtype=np.float32)
    if not isEach:
        terms = terms.sum(axis=0, keepdims=True, dtype=np.float32)
    sums = send(send(terms).sum(axis=1, dtype=np.float32))
    return sums.sum(axis=0, dtype=np.float32)


def train(a, name, row, microbatches, devices, sent):
    """The gradient of w (a step of SGD from zeros), the samples, and bytes that collectives received."""
    out = a.output / f"{name}-{microbatches}-{devices}-{sent or 'own'}"
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.mlir").write_text(MODEL)
    (out / "config.toml").write_text(config_of(row, microbatches, sent))
    command = [a.llmc, "train", out / "model.mlir", "--config", out / "config.toml", "--steps", "1", "--count"]
    command += ["--data", a.output / "data.safetensors", "--fetch", "x,w", "--dump", out]
    command += ["--mesh", f"data={devices}"] if devices > 1 else []
    process = subprocess.run(list(map(str, command)), text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"error: expected a run, got exit code {process.returncode}: {process.stderr[-2000:]}")
    text = process.stdout + process.stderr
    samples = np.concatenate([np.load(file) for file in sorted(out.glob("x*.npy"))])
    received = re.findall(r"counted on stage 0: \d+ (?:all_reduce|reduce_scatter) over data, (\d+) B", text)
    return -np.load(out / "w.npy"), samples, sum(map(int, received))


def check(a, name, microbatches, devices):
    gradient, x, received = train(a, name, ROWS[name], microbatches, devices, "bf16")
    wide, _, whole = train(a, name, ROWS[name], microbatches, devices, "")
    divisor = 32 * microbatches
    faults = []
    for isSent, found in ((True, gradient), (False, wide)):
        want = predict(x, devices, microbatches, name in IN_EACH_MICROBATCH, isSent) / np.float32(divisor)
        if not np.array_equal(found, np.repeat(want[:, None], 4, axis=1)):
            faults.append(f"gradient of {'bf16' if isSent else 'f32'}: expected {want}, got {found[:, 0]}")
    if devices > 1 and np.array_equal(gradient, wide):
        faults.append("expected another gradient than in f32, got the same")
    if 2 * received != whole:
        faults.append(f"expected half of {whole} B, got {received} B")
    print(f"{name}, {devices} devices, {microbatches} microbatches: {received} B of {whole}, {'; '.join(faults) or 'equal'}")
    return len(faults)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import arrays

    samples = np.random.default_rng(1).integers(-999, 1000, (64, SAMPLES)).astype(np.float32)
    arrays.write_safetensors(a.output / "data.safetensors", {"data": samples})
    cases = [(name, m, d) for name in ROWS for m, d in ((1, 2), (3, 2), (3, 4))] + [("replicated", 3, 1)]
    failed = sum(check(a, *case) > 0 for case in cases)
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
