#!/usr/bin/env python3
# ===- run.py - Attention: llmc against PyTorch ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times one attention, forward and backward, by llmc's CPU backend and by PyTorch's
scaled_dot_product_attention. Writes RESULTS.md.

    ninja -C ../../build/release attention-benchmark
    python run.py --llmc ../../build/release/bin/attention-benchmark --torch-python <python>

Both programs of a case stay started and are asked in turns, in pairs, the second first in
every other pair. The roofline comes first: the rate of products of the tiles' shapes, which
a causal attention needs half of.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import sitting  # noqa: E402


class Program:
    """A started program that answers a line with a line of JSON."""

    def __init__(self, command, threads):
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, *map(str, command)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.results = []

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: expected a result of '{self.process.args[3]}', got none")
        return json.loads(line)

    def run(self):
        self.results.append(self.ask())

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def times(self, *parts):
        return [sum(result[part] for part in parts) for result in self.results]


def run_case(a, length, causal, threads):
    sizes = [a.batch, a.heads, length, a.depth, int(causal), threads]
    programs = [
        Program([a.llmc, *sizes], threads),
        Program([a.torch_python, HERE / "peer_torch.py", *sizes], threads),
    ]
    sums = [program.ask()["checksum"] for program in programs]
    if abs(sums[0] - sums[1]) > 1e-3 * abs(sums[1]):
        sys.exit(f"error: expected equal results, got checksums {sums[0]} and {sums[1]}")
    rounds = max(a.rounds, round(a.rounds * 1024 / length))
    for number in range(rounds):
        for program in programs if number % 2 else reversed(programs):
            program.run()
    for program in programs:
        program.close()
    return programs


def flops_of(a, length, causal):
    """Two products forward and five backward, of which causal needs those below the diagonal."""
    pairs = length * (length + 1) / 2 if causal else length * length
    return 7 * 2 * a.batch * a.heads * a.depth * pairs


def row_of(a, length, causal, threads, rate, programs):
    mine, peer = (program.times("forward", "backward") for program in programs)
    pairs = [other / own for own, other in zip(mine, peer)]
    part = [min(p.times("forward")) for p in programs] + [min(p.times("backward")) for p in programs]
    floor = flops_of(a, length, causal) / rate / 1e6
    return (
        f"| {length} | {'causal' if causal else 'all'} | {threads} | {floor:.2f} | {min(mine):.2f} | {sitting.median(mine):.2f} "
        f"| {min(peer):.2f} | {sitting.median(peer):.2f} | {min(peer) / min(mine):.2f} | {sitting.median(pairs):.2f} "
        f"| {part[1] / part[0]:.2f} | {part[3] / part[2]:.2f} | {100 * floor / min(mine):.0f} % |"
    )


HEADER = """\
# Attention: llmc against PyTorch

Written by `run.py`; every number was measured in one sitting. Lower ms is better.

- One attention, forward and backward: B {batch}, {heads} heads, D {depth}, f32; q, k and v are slices of one tensor.
- Machine: {machine}. Peer: {peer}.
{rooflines}
Each row: {rounds} pairs or more, in turns. Ratio = PyTorch's time / llmc's: of the least, and the median of the pairs; forward and backward by the least.

| T | columns | threads | roofline, ms | llmc, least | median | PyTorch, least | median | ratio | of pairs | forward | backward | of roofline |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--llmc", type=pathlib.Path, required=True, help="attention-benchmark")
    p.add_argument("--torch-python", type=sitting.program, default=sys.executable)
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--depth", type=int, default=64)
    p.add_argument("--lengths", type=int, nargs="+", default=[256, 1024, 4096])
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("-o", "--output", type=pathlib.Path, default=HERE / "RESULTS.md")
    a = p.parse_args()
    a.llmc = a.llmc.resolve()
    command = [a.torch_python, "-c", "import torch; print(torch.__version__)"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("+")[0]
    rooflines, rows = "", []
    for threads in a.threads:
        shapes = [f"1024,{a.depth},1024", f"1024,1024,{a.depth}", "1024,1024,1024"]
        command = [a.torch_python, HERE.parent / "product_rate.py", "--threads", threads, *shapes]
        rate = sitting.last_json(sitting.pinned(threads, command, HERE.parent), "rates")["gflops"]
        rooflines += f"- Roofline at {threads} thread(s): {rate:.0f} GFLOP/s (the best of PyTorch's products).\n"
        for length in a.lengths:
            for causal in (False, True):
                row = row_of(a, length, causal, threads, rate, run_case(a, length, causal, threads))
                print(row, flush=True)
                rows.append(row)
    text = HEADER.format(
        batch=a.batch, heads=a.heads, depth=a.depth, machine=sitting.machine(),
        peer=f"PyTorch {version.strip()}", rooflines=rooflines, rounds=a.rounds,
    )  # fmt: skip
    a.output.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
