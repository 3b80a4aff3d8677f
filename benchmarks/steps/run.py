#!/usr/bin/env python3
# ===- run.py - What the host costs between steps --------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs plans one step at a time and one step ahead, and writes RESULTS.md.

Two models: a GPT, whose samples are a few tokens, and a classifier of images that
are read from an array of floats, whose samples are megabytes.

Between two steps the host draws the samples of the next, gives each device its
part and enqueues every instruction. With `--one-by-one` the devices wait for it;
else it does so while a step runs. The difference of the two times of a step is
what was hidden. Runs of both kinds alternate; the order changes in each round.
One worker serves all devices, so that the second core is the host's.

    python run.py --bin ../../build/dev/bin
"""

import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INPUTS = ROOT / "test/EndToEnd/Inputs"
EXAMPLE = ROOT / "examples/gpt"

BATCH, PIXELS, CLASSES = 64, 3 * 128 * 128, 10
IMAGES = f"""func.func @main(%w: tensor<{PIXELS}x{CLASSES}xf32> loc("w"), %x: tensor<{BATCH}x{PIXELS}xf32> loc("x"),
                %y: tensor<{BATCH}x{CLASSES}xf32> loc("y")) -> tensor<f32> {{
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{BATCH}x{PIXELS}xf32>, tensor<{PIXELS}x{CLASSES}xf32>) -> tensor<{BATCH}x{CLASSES}xf32>
  %d = stablehlo.subtract %p, %y : tensor<{BATCH}x{CLASSES}xf32>
  %s = stablehlo.multiply %d, %d : tensor<{BATCH}x{CLASSES}xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<{BATCH}x{CLASSES}xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<{BATCH * CLASSES}.0> : tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}}
"""
STRATEGY = """[mesh]
axes = ["data"]
[data.x]
kind = "array"
file = "x.npy"
[data.y]
kind = "array"
file = "y.npy"
[[layout]]
input = "*"
dims = [["data"]]
[[init]]
match = "*"
draw = "normal"
std = 0.01
[optimizer]
name = "sgd"
lr = 1e-3
"""


def write_images(folder):
    """The classifier, its configuration, and four batches of noise."""
    draw = np.random.default_rng(1)
    np.save(folder / "x.npy", draw.normal(size=(4 * BATCH, PIXELS)).astype(np.float32))
    np.save(folder / "y.npy", draw.normal(size=(4 * BATCH, CLASSES)).astype(np.float32))
    (folder / "images.mlir").write_text(IMAGES)
    (folder / "images.toml").write_text(STRATEGY)
    data = ["--data", f"x={folder}/x.npy", "--data", f"y={folder}/y.npy"]
    return (folder / "images.mlir", folder / "images.toml"), data


def list_cases(folder):
    """Name, model and configuration, what compiling takes beside them, what running takes."""
    gpt = (INPUTS / "gpt-four.mlir", EXAMPLE / "gpt.toml")
    text = ["--data", EXAMPLE / "corpus.bin"]
    images, arrays = write_images(folder)
    few = ["--set", "training.microbatches=4"]
    return [
        ("images, 1 device", images, [], arrays),
        ("images, data=4", images, ["--mesh", "data=4"], arrays),
        ("GPT, 1 device", gpt, [], text),
        ("GPT, 1 device, 16 microbatches", gpt, ["--set", "training.microbatches=16"], text),
        ("GPT, pipe=2,data=2,tensor=2, 4 microbatches", gpt, ["--mesh", "pipe=2,data=2,tensor=2", *few], text),
        ("GPT, data=8, 4 microbatches", gpt, ["--mesh", "data=8", *few], text),
    ]


def compile_plan(a, model, extra, folder):
    command = [f"{a.bin}/llmc", "compile", model[0], "--config", model[1], "--threads", "1", "-o", folder, *extra]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)


def run(a, folder, flags):
    """Mean seconds of a step and of its data, after the first steps."""
    log = f"{folder}/log.jsonl"
    command = [f"{a.bin}/llmc-run", folder, "--steps", a.steps + a.warm]
    command += ["--threads", 1, "--log", log, *flags]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    rows = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()][a.warm :]
    mean = {key: statistics.mean(row[key] for row in rows) for key in ("seconds", "data_seconds")}
    return mean["seconds"], mean["data_seconds"], [row["loss"] for row in rows]


def measure(a, model, extra, data_flags):
    times = {"one": [], "ahead": []}
    data, losses = [], set()
    with tempfile.TemporaryDirectory() as folder:
        compile_plan(a, model, extra, folder)
        for number in range(a.rounds):
            order = ["one", "ahead"] if number % 2 else ["ahead", "one"]
            for kind in order:
                flags = ["--one-by-one"] if kind == "one" else []
                seconds, host, loss = run(a, folder, data_flags + flags)
                times[kind].append(seconds)
                data += [host] if kind == "one" else []
                losses.add(tuple(loss))
    if len(losses) != 1:
        raise SystemExit("expected the same losses in all runs")
    return times, statistics.median(data)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", default=str(ROOT / "build/dev/bin"))
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--warm", type=int, default=5)
    p.add_argument("--rounds", type=int, default=8)
    a = p.parse_args()
    text = "# The host between steps\n\nWritten by `run.py`; every number was measured in one sitting.\n\n"
    text += f"- Images: a linear classifier of {BATCH} images of {PIXELS} f32 each ({4 * BATCH * PIXELS / 1e6:.1f} MB a step) from a .npy file, SGD.\n"
    text += "- GPT: test/EndToEnd/Inputs/gpt-four.mlir (four blocks), f32, AdamW.\n"
    text += f"- Machine: {processor()}, two cores; one worker for all devices.\n"
    text += f"- A step of a run is the mean of {a.steps}; median and least of {a.rounds} runs, both kinds in turn. The losses of all runs are equal.\n"
    text += "- Differences below 5 % are noise on a shared machine; with other jobs on both cores "
    text += "the host and the worker also take time from each other.\n\n"
    text += "| plan | ms one by one: median, least | ms one ahead: median, least | of these, data ms | hidden ms, by the medians |\n"
    text += "|---|---|---|---|---|\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, *case in list_cases(pathlib.Path(folder)):
            times, data = measure(a, *case)
            one, ahead = ([1e3 * f(times[kind]) for f in (statistics.median, min)] for kind in ("one", "ahead"))
            text += f"| {name} | {one[0]:.2f}, {one[1]:.2f} | {ahead[0]:.2f}, {ahead[1]:.2f} | {1e3 * data:.2f} | {one[0] - ahead[0]:.2f} |\n"
            print(text.splitlines()[-1], flush=True)
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
