#!/usr/bin/env python3
# ===- run.py - Files that are not in memory --------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains on arrays that the system has to read from the disk, and writes RESULTS.md.

A perceptron takes rows of a file that is larger than all of its steps read. Before
each run the system is asked to forget the file (`POSIX_FADV_DONTNEED`), or the file
is read once, so that it lies in memory. What reading costs by itself is measured by
numpy on as many rows of a file that was forgotten. `data` is what the host waits for
in a step, from the log; the first steps, which nothing runs beside, do not count.

    python run.py --bin ../../build/dev/bin
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BATCH, WIDTH, HIDDEN, ROWS = 32, 49152, 512, 4096

MODEL = f"""func.func @main(%v: tensor<{HIDDEN}x1xf32> loc("v"), %w: tensor<{WIDTH}x{HIDDEN}xf32> loc("w"),
                %x: tensor<{BATCH}x{WIDTH}xf32> loc("x")) -> tensor<f32> {{
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{BATCH}x{WIDTH}xf32>, tensor<{WIDTH}x{HIDDEN}xf32>) -> tensor<{BATCH}x{HIDDEN}xf32>
  %h = stablehlo.tanh %p : tensor<{BATCH}x{HIDDEN}xf32>
  %d = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<{BATCH}x{HIDDEN}xf32>, tensor<{HIDDEN}x1xf32>) -> tensor<{BATCH}x1xf32>
  %s = stablehlo.multiply %d, %d : tensor<{BATCH}x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<{BATCH}x1xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<{BATCH}.0> : tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}}
"""
CONFIG = """[data.x]
kind = "array"
file = "x*.npy"
[[init]]
match = "*"
std = 0.01
[optimizer]
name = "sgd"
lr = 1e-6
[training]
parameters = ["v", "w"]
"""


def write_rows(folder):
    """Four files of random rows; no two pages are equal."""
    draw = np.random.default_rng(1)
    for i in range(4):
        np.save(folder / f"x{i}.npy", draw.random((ROWS // 4, WIDTH), np.float32))
    (folder / "model.mlir").write_text(MODEL)
    (folder / "model.toml").write_text(CONFIG)
    os.sync()


def forget(folder):
    for path in folder.glob("x*.npy"):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def remember(folder):
    for path in folder.glob("x*.npy"):
        path.read_bytes()


def read_alone(folder, steps):
    """Seconds to read the rows of one step from files that were forgotten."""
    forget(folder)
    files = [np.load(folder / f"x{i}.npy", mmap_mode="r") for i in range(4)]
    rows = np.random.default_rng(2).permutation(ROWS)[: steps * BATCH]
    begin = time.perf_counter()
    for row in rows:
        np.array(files[row * 4 // ROWS][row % (ROWS // 4)])
    return (time.perf_counter() - begin) / steps


def train(a, folder, prepare):
    """Mean seconds of a step, and of its data."""
    prepare(folder)
    log = folder / "log.jsonl"
    subprocess.run([f"{a.bin}/llmc-run", folder / "plan", "--data", f"{folder}/x*.npy", "--steps", str(a.steps + 3),
                    "--threads", "1", "--log", log], check=True, capture_output=True)
    rows = [json.loads(line) for line in log.read_text().splitlines()][3:]
    return [statistics.mean(row[key] for row in rows) for key in ("seconds", "data_seconds")]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", default=str(ROOT / "build/dev/bin"))
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--rounds", type=int, default=3)
    a = p.parse_args()
    text = "# Files that are not in memory\n\nWritten by `run.py`; every number was measured in one sitting.\n\n"
    text += f"- {BATCH} rows of {WIDTH} f32 a step ({BATCH * WIDTH * 4 / 1e6:.1f} MB), drawn from four files of {ROWS * WIDTH * 4 / 1e9:.1f} GB in all.\n"
    text += f"- Medians of {a.rounds} runs of {a.steps} steps on one device with one thread.\n\n"
    text += "| files | ms of a step | ms that the host waits for data | share |\n|---|---|---|---|\n"
    with tempfile.TemporaryDirectory(dir=HERE) as name:
        folder = pathlib.Path(name)
        write_rows(folder)
        subprocess.run([f"{a.bin}/llmc", "compile", folder / "model.mlir", "--config", folder / "model.toml", "--threads", "1",
                        "-o", folder / "plan"], check=True, capture_output=True)
        found = {"forgotten": [], "in memory": []}
        for _ in range(a.rounds):
            found["forgotten"].append(train(a, folder, forget))
            found["in memory"].append(train(a, folder, remember))
        for files, times in found.items():
            step, data = (statistics.median(each) * 1e3 for each in zip(*times))
            text += f"| {files} | {step:.1f} | {data:.2f} | {100 * data / step:.1f} % |\n"
        alone = statistics.median(read_alone(folder, a.steps) for _ in range(a.rounds))
        text += f"\nnumpy reads as many rows of forgotten files in {1e3 * alone:.1f} ms a step.\n"
    print(text)
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
