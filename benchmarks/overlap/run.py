#!/usr/bin/env python3
# ===- run.py - What communication costs a step ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Two devices of one thread on a batch against one device of one thread on half of it,
with buckets of collectives and without, and writes RESULTS.md.

Each device of the two has as much to compute as the one alone, so the ratio of their times
is what communication and a shared memory cost. Processor time is compared, of each device
and step, which other programs change little; elapsed time stands beside it, and counts only
on an idle machine. The three run in turns, the order changes in each round, and each ratio
is of two runs of one round. Losses with and without buckets are compared digit by digit.
Models, and what they read, are those of the benchmarks beside this one, in smaller sizes.

    python run.py --bin ../../build/dev/bin --jax-python ../../.venv/bin/python
"""

import argparse
import dataclasses
import importlib.util
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import sitting  # noqa: E402

# Of one processor's virtual devices: what a meeting of two costs, and what a device copies.
MACHINE = """
[mesh]
axes = ["data"]
[[layout]]
input = "*"
dims = [["data"]]
[[machine.link]]
name = "memory"
latency = 1e-5
bandwidth = 1e10
"""
# Folder of the benchmark, and what its size is here.
MODELS = {
    "gpt": ("gpt_step", {"layers": 4, "d": 64, "heads": 4, "seq": 64, "batch": 8, "vocab": 256}),
    "vit": ("vit_step", {"batch": 8, "pixels": 32, "patch": 4, "layers": 4, "d": 64, "heads": 4, "classes": 10}),
    "resnet": ("resnet_step", {"batch": 16, "pixels": 16, "width": 16}),
}
KINDS = {"one": [], "off": ["--mesh", "data=2", "--set=machine.bucket=0"], "on": ["--mesh", "data=2"]}


def load(folder):
    """The benchmark of a folder: each has modules of the same names."""
    for name in ("model", "network", "run"):
        sys.modules.pop(name, None)
    sys.path.insert(0, str(HERE.parent / folder))
    spec = importlib.util.spec_from_file_location(f"{folder}_run", HERE.parent / folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module.BENCHMARK


def compile_plans(a, benchmark, size, folder):
    """The plans by kind; how many collectives those of two devices have."""
    plans, collectives = {}, {}
    for kind, flags in KINDS.items():
        s = dataclasses.replace(size, batch=size.batch // (2 if kind == "one" else 1))
        plan = folder / kind
        plan.mkdir()
        benchmark.write_inputs(plan, s)
        config = plan / "model.toml"
        config.write_text(config.read_text(encoding="utf-8") + MACHINE, encoding="utf-8")
        text = [a.jax_python, *benchmark.text_command(s), "-o", plan / "model.mlir"]
        subprocess.run(list(map(str, text)), check=True, capture_output=True)
        command = [a.bin / "llmc", "compile", plan / "model.mlir", "--config", config]
        command += ["--threads", 1, *flags, "-o", plan]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        inspected = subprocess.run([a.bin / "llmc-run", plan, "--inspect"], check=True, capture_output=True, text=True)
        rows = [line.split() for line in inspected.stdout.splitlines() if line.startswith("  train: ")]
        collectives[kind] = sum(int(row[1]) for row in rows)
        plans[kind] = plan
    return plans, collectives


def data_flags(plan):
    """Sources and files of the configuration, whose paths are relative to it."""
    flags, source = [], ""
    for line in (plan / "model.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("[data") and "inputs" not in line:
            source = line.strip("[]").partition(".")[2]
        if line.startswith("file = "):
            name = json.loads(line.partition("= ")[2])
            flags += ["--data", f"{source}={plan / name}" if source else plan / name]
    return flags


def run(a, kind, plan, steps):
    """Seconds of all processors, seconds of each step, and losses."""
    log = plan / "log.jsonl"
    command = [a.bin / "llmc-run", plan, "--steps", steps, "--log", log, *data_flags(plan)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = sitting.pinned(1 if kind == "one" else 2, command, plan)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(process.stderr)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    used = sum(after[:2]) - sum(before[:2])
    return used, [row["seconds"] for row in rows], [row["loss"] for row in rows]


def measure(a, plans):
    """By kind, for each round: milliseconds of processor time of a device and step, and elapsed ones of a step."""
    times, losses = {kind: [] for kind in KINDS}, {}
    for number in range(a.rounds):
        kinds = list(KINDS)
        for kind in kinds if number % 2 else reversed(kinds):
            start, _, _ = run(a, kind, plans[kind], a.warmup)
            used, elapsed, losses[kind] = run(a, kind, plans[kind], a.warmup + a.steps)
            devices = 1 if kind == "one" else 2
            mine = 1e3 * (used - start) / a.steps / devices
            times[kind].append((mine, 1e3 * statistics.median(elapsed[a.warmup :])))
    if losses["on"] != losses["off"]:
        raise SystemExit("expected the same losses with buckets and without")
    return times


def row(name, times, collectives):
    def ratio(kind, to, which):
        return statistics.median(x[which] / y[which] for x, y in zip(times[kind], times[to]))

    cells = [name, *(f"{statistics.median(t for t, _ in times[kind]):.1f}" for kind in KINDS)]
    cells += [f"{ratio('off', 'one', 0):.2f}", f"{ratio('on', 'one', 0):.2f}"]
    cells += [f"{ratio('off', 'one', 1):.2f}", f"{ratio('on', 'one', 1):.2f}"]
    cells += [f"{collectives['off']} -> {collectives['on']}"]
    return "| " + " | ".join(cells) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=lambda text: pathlib.Path(text).absolute(), default=HERE.parents[1] / "build/dev/bin")
    p.add_argument("--jax-python", type=sitting.program, default="python3")
    p.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--warmup", type=int, default=3)
    p.add_argument("-o", dest="out", type=pathlib.Path, default=HERE / "RESULTS.md")
    a = p.parse_args()
    lines = []

    def all_models():
        for name in a.models:
            folder, changes = MODELS[name]
            benchmark = load(folder)
            size = dataclasses.replace(benchmark.size(), **changes)
            with tempfile.TemporaryDirectory() as temporary:
                plans, collectives = compile_plans(a, benchmark, size, pathlib.Path(temporary))
                lines.append(row(f"{name}: {benchmark.describe(size)}", measure(a, plans), collectives))
            print(lines[-1], flush=True)

    _, others = sitting.others_during(all_models)
    text = f"""# What communication costs a step

Written by `run.py`: {a.rounds} rounds in turns of {a.steps} steps; ratios are medians over the rounds. "one" is a
device of one thread on half the batch; "off" and "on" are two such devices on the whole batch, without buckets and
with those of the link in `run.py` (10 microseconds, 10 GB/s). Times are milliseconds of processor time of each device
and step; elapsed ratios count only where nothing else runs. Collectives are those of a step. While it ran, other
programs took {100 * others:.0f} % of the machine.

| model | one | off | on | off / one | on / one | elapsed off / one | elapsed on / one | collectives |
|---|---|---|---|---|---|---|---|---|
"""
    a.out.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
