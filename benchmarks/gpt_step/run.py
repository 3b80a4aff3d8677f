#!/usr/bin/env python3
# ===- run.py - llmc against JAX and PyTorch on one GPT step -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs llmc and its peers one after another in one sitting; writes RESULTS.md.

States the roofline first (work, traffic, the machine's measured rates), then
runs each program alone, pinned to as many cores as it may use threads.

    python run.py --llmc ../../build/dev/bin/llmc --torch-python <python with torch>

A peer whose package is missing is left out and said to be missing. The model's
text is printed by JAX at run time, so jax must be importable by --jax-python.
"""

import argparse
import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent)]

import model  # noqa: E402
import sitting  # noqa: E402

CONFIG = """\
[data]
file = "ids.bin"
dtype = "u16"
[data.inputs]
tokens = 0
targets = 1
[[init]]
match = "*.scale"
draw = "ones"
[[init]]
match = "*.bias"
draw = "zeros"
[[init]]
match = "*.b"
draw = "zeros"
[[init]]
match = "*"
draw = "normal"
std = 0.02
[optimizer]
name = "adamw"
lr = 3e-4
beta1 = 0.9
beta2 = 0.95
eps = 1e-8
weight_decay = 0.1
"""


def size_flags(s):
    names = ("layers", "d", "heads", "seq", "batch", "vocab")
    return [x for n in names for x in (f"--{n}", getattr(s, n))]


def write_inputs(folder, s, jax_python):
    """gpt.mlir, the configuration and random token ids in `folder`."""
    script = ROOT / "examples" / "gpt" / "make_gpt.py"
    command = [jax_python, script, *size_flags(s), "-o", folder / "gpt.mlir"]
    subprocess.run(list(map(str, command)), check=True)
    g = random.Random(0)
    ids = array.array("H", (g.randrange(s.vocab) for _ in range(64 * s.tokens)))
    (folder / "ids.bin").write_bytes(ids.tobytes())
    (folder / "gpt.toml").write_text(CONFIG, encoding="utf-8")


def run_llmc(a, folder, threads):
    log = folder / f"run-{threads}.jsonl"
    command = [a.llmc, "train", folder / "gpt.mlir", "--config", folder / "gpt.toml"]
    command += ["--steps", a.warmup + a.steps, "--threads", threads, "--log", log]
    process = sitting.pinned(threads, command, HERE)
    if process.returncode:
        print(f"llmc: left out ({(process.stderr.strip().splitlines() or ['no output'])[-1]})")
        return None
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.strip()]
    steps = [e for e in entries if "step" in e and "seconds" in e]
    times = [1e3 * e["seconds"] for e in steps][a.warmup :]
    return {"name": "llmc", "threads": threads, "ms": times, "loss": steps[-1]["loss"]}


def run_all(a, s, folder, threads):
    """One result for each program that runs at this thread count."""
    common = [*size_flags(s), "--threads", threads, "--steps", a.steps, "--warmup", a.warmup]
    xla = {"XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"}
    peer = lambda command, what, extra=None: sitting.last_json(sitting.pinned(threads, command, HERE, extra), what)
    runs = [lambda: run_llmc(a, folder, threads)] if a.llmc else []
    runs.append(lambda: peer([a.jax_python, "peer_jax.py", *common], "JAX", xla))
    if a.torch_python:
        for flags in ([], ["--compile"]):
            command = [a.torch_python, "peer_torch.py", *common, *flags]
            runs.append(lambda command=command: peer(command, "PyTorch"))
    return [result for result in (run() for run in runs) if result]


def roofline(a, s, threads):
    python = a.torch_python or a.jax_python
    command = [python, "gemm_rate.py", *size_flags(s), "--threads", threads]
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
        "# GPT train step: llmc against JAX and PyTorch",
        "",
        "Written by `run.py`; every number was measured in one sitting. Lower ms is better.",
        "",
        f"- Model: {s.layers} layers, d {s.d}, {s.heads} heads, T {s.seq}, B {s.batch}, "
        f"V {s.vocab}, f32, AdamW; {s.parameters / 1e6:.2f} M parameters.",
        f"- Work of a step: {s.flops / 1e9:.0f} GFLOP in contractions; at least "
        f"{s.optimizer_bytes / 1e6:.0f} MB of memory traffic in AdamW.",
        f"- Machine: {sitting.processor()}.",
    ]
    for threads, rate in sorted(rates.items()):
        lines.append(
            f"- Roofline at {threads} thread(s): {rate['gflops']:.0f} GFLOP/s ({rate['library']} "
            f"on the step's shapes), copy {rate['copy_gb_s']:.1f} GB/s: "
            f"at least {rate['floor_ms']:.0f} ms a step."
        )
    lines += [
        "",
        f"Median and least of {a.steps} steps after {a.warmup}; ratio = time / llmc's time.",
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
    p.add_argument("--threads", default="1,2")
    p.add_argument("--steps", type=int, default=10)
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
            for result in run_all(a, s, folder, threads):
                print(f"{result['name']}: {sitting.median(result['ms']):.0f} ms", flush=True)
                results.append(result)
    text = report(a, s, rates, results)
    pathlib.Path(a.output).write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
