#!/usr/bin/env python3
# ===- run.py - What the host costs between steps --------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs plans one step at a time and one step ahead, and writes RESULTS.md.

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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INPUTS = ROOT / "test/EndToEnd/Inputs"
EXAMPLE = ROOT / "examples/gpt"
# name, model, what is added to the command
CASES = [
    ("1 device", []),
    ("1 device, 16 microbatches", ["--set", "training.microbatches=16"]),
    ("pipe=2,data=2,tensor=2, 4 microbatches", ["--mesh", "pipe=2,data=2,tensor=2", "--set", "training.microbatches=4"]),
    ("data=8, 4 microbatches", ["--mesh", "data=8", "--set", "training.microbatches=4"]),
]


def compile_plan(a, extra, folder):
    command = [f"{a.bin}/llmc", "compile", INPUTS / "gpt-four.mlir", "--config", EXAMPLE / "gpt.toml"]
    subprocess.run([*map(str, command), "--threads", "1", "-o", folder, *extra], check=True, capture_output=True)


def run(a, folder, flags):
    """Mean seconds of a step and of its data, after the first steps."""
    log = f"{folder}/log.jsonl"
    command = [f"{a.bin}/llmc-run", folder, "--data", EXAMPLE / "corpus.bin", "--steps", a.steps + a.warm]
    command += ["--threads", 1, "--log", log, *flags]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    rows = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()][a.warm :]
    mean = {key: statistics.mean(row[key] for row in rows) for key in ("seconds", "data_seconds")}
    return mean["seconds"], mean["data_seconds"], [row["loss"] for row in rows]


def measure(a, extra):
    times = {"one": [], "ahead": []}
    data, losses = [], set()
    with tempfile.TemporaryDirectory() as folder:
        compile_plan(a, extra, folder)
        for number in range(a.rounds):
            order = ["one", "ahead"] if number % 2 else ["ahead", "one"]
            for kind in order:
                seconds, host, loss = run(a, folder, ["--one-by-one"] if kind == "one" else [])
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
    text += "- Model: test/EndToEnd/Inputs/gpt-four.mlir (a GPT of four blocks), f32, AdamW, one worker for all devices.\n"
    text += f"- Machine: {processor()}, two cores, other jobs on it.\n"
    text += f"- A step of a run is the mean of {a.steps}; median and least of {a.rounds} runs, both kinds in turn. The losses of all runs are equal.\n"
    text += "- Differences below 5 % are noise on a shared machine; with other jobs on both cores "
    text += "the host and the worker also take time from each other.\n\n"
    text += "| plan | ms one by one: median, least | ms one ahead: median, least | of these, data ms | hidden ms, by the medians |\n"
    text += "|---|---|---|---|---|\n"
    for name, extra in CASES:
        times, data = measure(a, extra)
        one, ahead = ([1e3 * f(times[kind]) for f in (statistics.median, min)] for kind in ("one", "ahead"))
        text += f"| {name} | {one[0]:.2f}, {one[1]:.2f} | {ahead[0]:.2f}, {ahead[1]:.2f} | {1e3 * data:.2f} | {one[0] - ahead[0]:.2f} |\n"
        print(text.splitlines()[-1], flush=True)
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
