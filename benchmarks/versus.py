# ===- versus.py - llmc against its peers on one train step ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The driver of the benchmarks that time one train step of llmc, JAX and PyTorch.

Runs the programs in turns, in one sitting, and writes RESULTS.md. States the roofline
first (work, traffic, the machine's measured rates), then runs each program alone, pinned
to as many cores as it may use threads; the next round has them in the opposite order.
A peer whose package is missing is left out and said to be missing.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import typing

import sitting
import sizes

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """What a benchmark says of itself."""

    folder: pathlib.Path  # where the peers' scripts lie
    title: str
    size: type  # flops and optimizer_bytes of a step, products [(n, k, m)] that bound it
    describe: typing.Callable  # of a size
    work: str  # where the flops are
    optimizer: str
    write_inputs: typing.Callable  # folder, size: model.toml and the data
    data: typing.Sequence  # of files that write_inputs writes, as llmc-run takes them
    text_command: typing.Callable  # size: the script and its flags, without -o
    torch_flags: typing.Sequence = ((), ("--compile",))


def write_text(b, a, s, folder):
    command = [a.jax_python, *b.text_command(s), "-o", folder / "model.mlir"]
    subprocess.run(list(map(str, command)), check=True)


def compile_llmc(b, a, folder, threads, forms):
    """The plan's folder; with `forms`, the library's forms are measured where they are not known."""
    plan = folder / f"plan-{threads}{'-forms' if forms else ''}"
    if plan.exists():
        return plan
    command = [a.llmc, "compile", folder / "model.mlir", "--config", folder / "model.toml", "--threads", threads, "-o", plan]
    command += ["--forms", folder / "forms.json"] if forms else []
    process = sitting.pinned(threads, command, b.folder)
    if process.returncode:
        sys.exit(f"error: llmc compile: {(process.stderr.strip().splitlines() or ['no output'])[-1]}")
    return plan


def run_llmc(b, a, folder, threads, forms):
    """The plan alone, by `llmc-run`: what compiled it is not in the memory that is counted."""
    plan, log, output = compile_llmc(b, a, folder, threads, forms), folder / "run.jsonl", folder / "run.txt"
    command = [a.llmc.parent / "llmc-run", plan, "--steps", a.warmup + a.steps, "--threads", threads, "--log", log]
    command += [flag for name in b.data for flag in ("--data", name)]
    code, megabytes = sitting.peak_megabytes(sitting.on_cores(threads, command), folder, output)
    if code:
        print(f"llmc: left out ({(output.read_text().strip().splitlines() or ['no output'])[-1]})")
        return None
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.strip()]
    steps = [e for e in entries if "step" in e and "seconds" in e]
    times = [1e3 * e["seconds"] for e in steps][a.warmup :]
    name = "llmc, measured forms" if forms else "llmc"
    return {"name": name, "threads": threads, "ms": times, "loss": steps[-1]["loss"], "max_rss_mb": megabytes}


def programs(b, a, s, folder, threads):
    """A call for each program that may run at this thread count."""
    common = [*sizes.size_flags(s), "--threads", threads, "--steps", a.steps, "--warmup", a.warmup]
    xla = {"XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"}

    def peer(what, python, script, *flags, extra=None):
        path = {"PYTHONPATH": str(HERE), **(extra or {})}
        command = [python, script, *common, *flags]
        return sitting.last_json(sitting.pinned(threads, command, b.folder, path), what)

    calls = [lambda forms=forms: run_llmc(b, a, folder, threads, forms) for forms in (False, True)] if a.llmc else []
    calls.append(lambda: peer("JAX", a.jax_python, "peer_jax.py", extra=xla))
    if a.torch_python:
        for flags in b.torch_flags:
            calls.append(lambda flags=flags: peer("PyTorch", a.torch_python, "peer_torch.py", *flags))
    return calls


def run_alone(a, call):
    """A result with the share of the machine that others took; with --alone another try
    where it is more than a tenth."""
    for _ in range(a.tries):
        if a.alone:
            sitting.wait_for_idle()
        result, others = sitting.others_during(call)
        if not a.alone or others < 0.1:
            break
    return result and {**result, "others": others}


def run_rounds(b, a, s, folder, threads):
    """One result for each program, with the times of all rounds."""
    results = {}
    for number in range(a.rounds):
        calls = programs(b, a, s, folder, threads)
        for call in reversed(calls) if number % 2 else calls:
            result = run_alone(a, call)
            if result:
                known = results.setdefault(result["name"], {**result, "ms": [], "rounds": {}})
                known["ms"] += result["ms"]
                known["rounds"][number] = sitting.median(result["ms"])
                known["others"] = max(known["others"], result["others"])
                print(f"{result['name']}: {sitting.median(result['ms']):.0f} ms", flush=True)
    return list(results.values())


def roofline(a, s, threads):
    python = a.torch_python or a.jax_python
    products = [",".join(map(str, product)) for product in s.products]
    command = [python, "product_rate.py", "--threads", threads, *products]
    rate = run_alone(a, lambda: sitting.last_json(sitting.pinned(threads, command, HERE), "rates"))
    if not rate:
        sys.exit(f"error: expected numpy or torch in '{python}'")
    rate["floor_ms"] = s.flops / rate["gflops"] / 1e6
    rate["floor_ms"] += s.optimizer_bytes / rate["copy_gb_s"] / 1e6
    return rate


def paired(result, ours):
    """The ratio of each round's medians: the middle one, and from least to greatest."""
    both = [ms / ours["rounds"][number] for number, ms in result["rounds"].items() if number in ours["rounds"]]
    return f"{sitting.median(both):.2f} ({min(both):.2f} to {max(both):.2f})"


def rows(results, rates, s):
    """Markdown rows: program, threads, ms, ratio to llmc, rate, share of the roofline."""
    for result in results:
        ms = sitting.median(result["ms"])
        ours = [r for r in results if r["name"] == "llmc" and r["threads"] == result["threads"]]
        ratio = paired(result, ours[0]) if ours else "–"
        share = rates[result["threads"]]["floor_ms"] / ms
        memory = f"{result['max_rss_mb']:.0f}" if "max_rss_mb" in result else "–"
        yield (
            f"| {result['name']} | {result['threads']} | {ms:.0f} | {min(result['ms']):.0f} "
            f"| {ratio} | {s.flops / ms / 1e6:.0f} | {100 * share:.0f} % | {memory} |"
        )


def report(b, a, s, rates, results):
    lines = [
        f"# {b.title}: llmc against JAX and PyTorch",
        "",
        "Written by `run.py`; every number was measured in one sitting. Lower ms is better.",
        "",
        f"- Model: {b.describe(s)}; {s.parameters / 1e6:.2f} M parameters.",
        f"- Work of a step: {s.flops / 1e9:.0f} GFLOP in {b.work}; at least "
        f"{s.optimizer_bytes / 1e6:.0f} MB of memory traffic in {b.optimizer}. Nothing else is counted.",
        f"- Machine: {sitting.machine()}.",
    ]
    for threads, rate in sorted(rates.items()):
        lines.append(
            f"- Roofline at {threads} thread(s): {rate['gflops']:.0f} GFLOP/s ({rate['library']}, "
            f"products of the step's shapes), copy {rate['copy_gb_s']:.1f} GB/s: "
            f"at least {rate['floor_ms']:.0f} ms a step."
        )
    others = max((result["others"] for result in results), default=0)
    lines += [
        f"- Other programs took at most {100 * others:.0f} % of the machine while one of these ran.",
        "",
        f"Each plan runs by `llmc-run`; 'measured forms' is compiled with `--forms`. Median and least of {a.rounds} rounds of {a.steps} steps after {a.warmup}, the programs in "
        "turns; ratio = the round's median / that of llmc in the same round, in the middle, and from least to greatest.",
        "",
        "| program | threads | ms, median | ms, least | ratio | GFLOP/s | of roofline | peak RSS, MB |",
        "|---|---|---|---|---|---|---|---|",
        *rows(results, rates, s),
        "",
    ]
    return "\n".join(lines)


def arguments(b):
    p = argparse.ArgumentParser(description=f"{b.title}: llmc against JAX and PyTorch")
    sizes.add_size_arguments(p, b.size)
    p.add_argument("--llmc", help="the llmc program; without it only the peers run")
    p.add_argument("--jax-python", type=sitting.program, default=sys.executable)
    p.add_argument("--torch-python", type=sitting.program, help="a Python that imports torch")
    p.add_argument("--threads", default="2,1")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--alone", action="store_true", help="wait until the machine is idle, repeat what is disturbed")
    p.add_argument("--tries", type=int, default=4, help="of a program, with --alone")
    p.add_argument("-o", "--output", default=str(b.folder / "RESULTS.md"))
    a = p.parse_args()
    a.llmc = a.llmc and pathlib.Path(a.llmc).resolve()
    return a


def main(b):
    a = arguments(b)
    s, rates, results = sizes.size_from(a, b.size), {}, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if a.llmc:
            write_text(b, a, s, folder)
            b.write_inputs(folder, s)
        for threads in map(int, a.threads.split(",")):
            rates[threads] = roofline(a, s, threads)
            print(f"roofline, {threads} thread(s): {rates[threads]['floor_ms']:.0f} ms", flush=True)
            results += run_rounds(b, a, s, folder, threads)
    text = report(b, a, s, rates, results)
    pathlib.Path(a.output).write_text(text, encoding="utf-8")
    print("\n" + text)
