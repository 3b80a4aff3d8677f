#!/usr/bin/env python3
# ===- run.py - llmc against JAX and PyTorch on one ResNet step -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs llmc and its peers in turns, in one sitting; writes RESULTS.md.

States the roofline first (work, traffic, the machine's measured rates), then runs each
program alone, pinned to as many cores as it may use threads; the next round has them
in the opposite order.

    python run.py --llmc ../../build/dev/bin/llmc --torch-python <python with torch>

A peer whose package is missing is left out and said to be missing. The model's text is
printed by JAX at run time, so jax must be importable by --jax-python.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import model  # noqa: E402
import sitting  # noqa: E402

CONFIG = """\
[data.images]
kind = "array"
file = "images.npy"
[data.labels]
kind = "array"
file = "labels.npy"
[[init]]
match = "*.scale"
draw = "ones"
[[init]]
match = "*.bias"
draw = "zeros"
[[init]]
match = "*"
draw = "normal"
std = 0.05
[optimizer]
name = "momentum"
lr = 0.05
momentum = 0.9
[training]
loss = "mean of microbatches"
"""


def write_inputs(folder, s, jax_python):
    """resnet.mlir, the configuration and random pictures in `folder`."""
    command = [jax_python, HERE / "network.py", *model.size_flags(s), "-o", folder / "resnet.mlir"]
    subprocess.run(list(map(str, command)), check=True)
    g, count = np.random.default_rng(0), 8 * s.batch
    images = g.standard_normal((count, s.pixels, s.pixels, 3)).astype(np.float32)
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", g.integers(0, s.classes, count).astype(np.int32))
    (folder / "resnet.toml").write_text(CONFIG, encoding="utf-8")


def run_llmc(a, folder, threads):
    log = folder / f"run-{threads}.jsonl"
    command = [a.llmc, "train", folder / "resnet.mlir", "--config", folder / "resnet.toml"]
    command += ["--steps", a.warmup + a.steps, "--threads", threads, "--log", log]
    process = sitting.pinned(threads, command, HERE)
    if process.returncode:
        print(f"llmc: left out ({(process.stderr.strip().splitlines() or ['no output'])[-1]})")
        return None
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.strip()]
    steps = [e for e in entries if "step" in e and "seconds" in e]
    times = [1e3 * e["seconds"] for e in steps][a.warmup :]
    return {"name": "llmc", "threads": threads, "ms": times, "loss": steps[-1]["loss"]}


def programs(a, s, folder, threads):
    """A call for each program that may run at this thread count."""
    common = [*model.size_flags(s), "--threads", threads, "--steps", a.steps, "--warmup", a.warmup]
    xla = {"XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"}

    def peer(what, python, script, *flags, extra=None):
        command = [python, script, *common, *flags]
        return sitting.last_json(sitting.pinned(threads, command, HERE, extra), what)

    calls = [lambda: run_llmc(a, folder, threads)] if a.llmc else []
    calls.append(lambda: peer("JAX", a.jax_python, "peer_jax.py", extra=xla))
    if a.torch_python:
        for flags in ([], ["--features-inside"], ["--compile"]):
            calls.append(lambda flags=flags: peer("PyTorch", a.torch_python, "peer_torch.py", *flags))
    return calls


def run_rounds(a, s, folder, threads):
    """One result for each program, with the times of all rounds."""
    results = {}
    for number in range(a.rounds):
        calls = programs(a, s, folder, threads)
        for call in reversed(calls) if number % 2 else calls:
            result = call()
            if result:
                known = results.setdefault(result["name"], {**result, "ms": []})
                known["ms"] += result["ms"]
                print(f"{result['name']}: {sitting.median(result['ms']):.0f} ms", flush=True)
    return list(results.values())


def roofline(a, s, threads):
    python = a.torch_python or a.jax_python
    command = [python, "product_rate.py", *model.size_flags(s), "--threads", threads]
    rate = sitting.last_json(sitting.pinned(threads, command, HERE), "rates")
    if not rate:
        sys.exit(f"error: expected numpy or torch in '{python}'")
    rate["floor_ms"] = s.flops / rate["gflops"] / 1e6
    rate["floor_ms"] += s.optimizer_bytes / rate["copy_gb_s"] / 1e6
    return rate


def rows(results, rates, s):
    """Markdown rows: program, threads, ms, ratio to llmc, rate, share of the roofline."""
    for result in results:
        ms = sitting.median(result["ms"])
        ours = [r for r in results if r["name"] == "llmc" and r["threads"] == result["threads"]]
        ratio = f"{ms / sitting.median(ours[0]['ms']):.2f}" if ours else "–"
        share = rates[result["threads"]]["floor_ms"] / ms
        memory = f"{result['max_rss_mb']:.0f}" if "max_rss_mb" in result else "–"
        yield (
            f"| {result['name']} | {result['threads']} | {ms:.0f} | {min(result['ms']):.0f} "
            f"| {ratio} | {s.flops / ms / 1e6:.0f} | {100 * share:.0f} % | {memory} |"
        )


def report(a, s, rates, results):
    lines = [
        "# ResNet-18 train step: llmc against JAX and PyTorch",
        "",
        "Written by `run.py`; every number was measured in one sitting. Lower ms is better.",
        "",
        f"- Model: ResNet-18 for {s.pixels} x {s.pixels} pictures, batch {s.batch}, f32, batch norm, "
        f"SGD with momentum; {s.parameters / 1e6:.2f} M parameters.",
        f"- Work of a step: {s.flops / 1e9:.0f} GFLOP in convolutions; at least "
        f"{s.optimizer_bytes / 1e6:.0f} MB of memory traffic in momentum. Norms are not counted.",
        f"- Machine: {sitting.processor()}.",
    ]
    for threads, rate in sorted(rates.items()):
        lines.append(
            f"- Roofline at {threads} thread(s): {rate['gflops']:.0f} GFLOP/s ({rate['library']}, "
            f"products of the step's patches), copy {rate['copy_gb_s']:.1f} GB/s: "
            f"at least {rate['floor_ms']:.0f} ms a step."
        )
    lines += [
        "",
        f"Median and least of {a.rounds} rounds of {a.steps} steps after {a.warmup}, the programs in "
        "turns; ratio = time / llmc's time.",
        "",
        "| program | threads | ms, median | ms, least | ratio | GFLOP/s | of roofline | peak RSS, MB |",
        "|---|---|---|---|---|---|---|---|",
        *rows(results, rates, s),
        "",
    ]
    return "\n".join(lines)


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    model.add_size_arguments(p)
    p.add_argument("--llmc", help="the llmc program; without it only the peers run")
    p.add_argument("--jax-python", default=sys.executable)
    p.add_argument("--torch-python", help="a Python that imports torch")
    p.add_argument("--threads", default="2,1")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("-o", "--output", default=str(HERE / "RESULTS.md"))
    a = p.parse_args()
    a.llmc = a.llmc and pathlib.Path(a.llmc).resolve()
    return a


def main():
    a = arguments()
    s, rates, results = model.size_from(a), {}, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if a.llmc:
            write_inputs(folder, s, a.jax_python)
        for threads in map(int, a.threads.split(",")):
            rates[threads] = roofline(a, s, threads)
            print(f"roofline, {threads} thread(s): {rates[threads]['floor_ms']:.0f} ms", flush=True)
            results += run_rounds(a, s, folder, threads)
    text = report(a, s, rates, results)
    pathlib.Path(a.output).write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
