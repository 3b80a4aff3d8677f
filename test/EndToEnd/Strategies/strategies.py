#!/usr/bin/env python3
# ===- strategies.py - Strategies of the literature, by formula ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models by the strategies of the literature and by their products.

Of each case: losses and gradient norms are those of one device; what communicators counted
is the volume of formulas.py, to the byte; states and gradients on a device take what it
says. Strategies are tried on two devices and on four, with one microbatch and with three,
products on eight and on sixteen.

    python strategies.py --llmc llmc -o out [--only ulysses] [--products]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import formulas  # noqa: E402
import models  # noqa: E402
from formulas import Strategy  # noqa: E402

ROW = re.compile(r"counted on stage \d+: \d+ (scalar )?(\w+) over ([\w ]+), (\d+) B")
SENT = re.compile(r"counted on all devices: \d+ transfers, (\d+) B")
MEMORY = re.compile(r"memory of stage \d+: .*\(state ([\d.]+)(\w+), .*step ([\d.]+)(\w+),")
UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}
# Received for each byte that a device puts in.
RECEIVED = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: n - 1,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "permute": lambda n: 1,
}
STEPS = 2
BAR = 2e-5

STRATEGIES = (
    Strategy("data", "data"),
    Strategy("zero1", "data", states="zero1"),
    Strategy("zero2", "data", states="zero2"),
    Strategy("zero3", "data", states="zero3"),
    Strategy("fsdp", "data", states="fsdp"),
    Strategy("tensor", "tensor", tensor="all-reduce"),
    Strategy("sequence", "tensor", tensor="sequence"),
    Strategy("vocabulary", "tensor", vocabulary=True),
    Strategy("tensor+vocabulary", "tensor", tensor="all-reduce", vocabulary=True),
    Strategy("ulysses", "seq", ulysses=True),
    Strategy("ulysses+zero3", "seq", ulysses=True, states="zero3"),
    Strategy("expert", "expert", only="experts"),
)
HSDP_SEQUENCE = Strategy("hsdp x sequence", "", tensor="sequence", states="zero3")
PRODUCTS = (
    ("pipe=2,data=2,tensor=2", "llama", Strategy("data x sequence x pipe", "", tensor="sequence")),
    ("replica=2,data=2,tensor=2", "gpt", Strategy("hsdp x tensor", "", tensor="all-reduce", states="zero3")),
    ("data=2,expert=2,tensor=2", "experts", Strategy("data x expert x tensor", "", tensor="all-reduce")),
    ("data=4,seq=2", "llama", Strategy("zero3 x ulysses", "", ulysses=True, states="zero3")),
    ("pipe=2,data=4", "llama", Strategy("zero1 x pipe", "", states="zero1")),
    ("pipe=2,data=2,tensor=4", "llama", Strategy("data x sequence x pipe", "", tensor="sequence")),
    ("replica=2,data=4,tensor=2", "gpt", Strategy("hsdp x tensor", "", tensor="all-reduce", states="zero3")),
    ("pipe=2,expert=4,tensor=2", "experts", Strategy("expert x tensor x pipe", "", tensor="all-reduce")),
    ("data=4,tensor=4", "llama", Strategy("zero1 x sequence", "", tensor="sequence", states="zero1")),
    ("replica=2,data=4,tensor=2", "llama", HSDP_SEQUENCE),
    ("data=2,tensor=4", "gpt", Strategy("sequence x vocabulary", "", tensor="sequence", vocabulary=True)),
)
MAKERS = {"gpt": models.make_gpt_model, "llama": models.make_llama, "experts": models.make_experts}


def parse_mesh(text):
    return {name: int(size) for name, size in (axis.split("=") for axis in text.split(","))} if text else {}


def configuration(model, strategy, mesh, microbatches):
    corpus = json.dumps(str(models.ROOT / "examples" / "gpt" / "corpus.bin"))
    parts = [
        f'[mesh]\naxes = {json.dumps(formulas.AXES)}\npipeline = "pipe"\n',
        f'[data]\nfile = {corpus}\ndtype = "u8"\n[data.inputs]\ntokens = 0\ntargets = 1\n',
        '[[init]]\nmatch = "*scale*"\ndraw = "ones"\n[[init]]\nmatch = "*norm*"\ndraw = "ones"\n',
        '[[init]]\nmatch = "*"\ndraw = "normal"\nstd = 0.1\n',
        f"[training]\nmicrobatches = {microbatches}\nseed = 1\n"
        f"regather = {json.dumps(bool(strategy) and strategy.states == 'fsdp')}\n",
        '[optimizer]\nname = "adamw"\nlr = 1e-3\neps = 1e-4\n',
    ]
    if mesh:
        batch, sequence = formulas.batch_axes(mesh), formulas.sequence_axes(strategy, mesh)
        parts.append(f'[[layout]]\ninput = "*"\ndims = {json.dumps([batch, sequence])}\n')
        for name, shape in model.shapes().items():
            row = formulas.row_of(strategy, mesh, name, shape)
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
            parts.append(f'[[layout]]\nmatch = "{name}"\n{lines}')
    return "".join(parts)


class Trainer:
    def __init__(self, llmc, out):
        self.llmc, self.out, self.ones = llmc, out, {}

    def train(self, name, model, config, mesh):
        """Rows of (loss, norm) and what is printed, or the error."""
        folder = self.out / re.sub(r"\W+", "_", name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(model.text(), encoding="utf-8")
        (folder / "config.toml").write_text(config, encoding="utf-8")
        command = [self.llmc, "train", folder / "model.mlir", "--config", folder / "config.toml", "--count"]
        command += ["--threads", 1, "--steps", STEPS, "--log", folder / "log.jsonl"]
        process = subprocess.run(list(map(str, command + (["--mesh", mesh] if mesh else []))), capture_output=True, text=True)
        if process.returncode:
            return process.stderr.strip().splitlines()[-1], ""
        rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        return [(row["loss"], row["grad_norm"]) for row in rows if "loss" in row], process.stdout

    def one(self, kind, microbatches):
        """One device with the same model and step."""
        if (kind, microbatches) not in self.ones:
            model = MAKERS[kind]()
            config = configuration(model, None, {}, microbatches)
            self.ones[kind, microbatches] = self.train(f"one {kind} {microbatches}", model, config, "")[0]
        return self.ones[kind, microbatches]


def counted(text, mesh):
    """Bytes that one device of each stage receives in a step, together, and all that is sent."""
    total = 0
    for scalar, kind, axes, size in ROW.findall(text):
        members = 1
        for axis in axes.split():
            members *= mesh[axis]
        total += 0 if scalar else RECEIVED[kind](members) * int(size) / STEPS
    return total, int(SENT.search(text).group(1)) / STEPS


def held(text):
    """Bytes of states and of gradients on one device of each stage, together."""
    rows = MEMORY.findall(text)
    return tuple(sum(float(row[i]) * UNITS[row[i + 1]] for row in rows) for i in (0, 2))


def judge(trainer, kind, strategy, axes, microbatches):
    """What is wrong, and what was found."""
    mesh = parse_mesh(axes)
    model = MAKERS[kind](place=models.Places(**formulas.places_of(strategy, mesh)))
    config = configuration(model, strategy, mesh, microbatches)
    rows, text = trainer.train(f"{strategy.name} {kind} {axes} {microbatches}", model, config, axes)
    wanted = trainer.one(kind, microbatches)
    if isinstance(rows, str) or isinstance(wanted, str):
        return [rows if isinstance(rows, str) else wanted], ""
    problems = []
    apart = max(abs(x / y - 1) if x == x else float("inf") for a, b in zip(rows, wanted) for x, y in zip(a, b))
    if len(rows) != STEPS or not apart <= BAR:
        problems.append(f"{apart:.1e} apart from one device (bar {BAR:.0e})")
    volume, sent = counted(text, mesh)
    by_hand, crossed = formulas.volume(model, strategy, mesh, microbatches)
    excess, _ = formulas.EXCESS.get((strategy.name, kind, axes, microbatches), (0, ""))
    if abs(volume - by_hand - excess) >= 1 or sent != crossed:
        problems.append(f"expected {by_hand + excess:.0f} B received and {crossed:.0f} B sent")
    bytes_ = formulas.memory(model, strategy, mesh)
    for what, x, y in zip(("states", "gradients"), held(text), bytes_):
        if abs(x - y) > formulas.SLACK * y + formulas.ALIGNMENT * len(model.shapes()):
            problems.append(f"expected {y:.0f} B of {what} on a device, got {x:.0f}")
    return problems, f"{volume:.0f} B received, {sent:.0f} B sent, {bytes_[0]:.0f} B of states, {bytes_[1]:.0f} of gradients"


def cases(products):
    if products:
        return [(kind, strategy, axes, 2) for axes, kind, strategy in PRODUCTS]
    result = []
    for strategy in STRATEGIES:
        for kind in [strategy.only] if strategy.only else ["gpt", "llama"]:
            result += [(kind, strategy, f"{strategy.axis}={n}", m) for n, m in ((2, 1), (4, 3))]
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", help="cases of this name alone")
    p.add_argument("--every", type=int, default=1, help="of the cases each so many'th alone")
    p.add_argument("--products", action="store_true", help="products on 8 and 16 devices instead")
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    trainer = Trainer(a.llmc, a.output)
    chosen = [case for case in cases(a.products) if a.only in (None, case[1].name)][:: a.every]
    failed = 0
    for kind, strategy, axes, microbatches in chosen:
        problems, found = judge(trainer, kind, strategy, axes, microbatches)
        failed += bool(problems)
        verdict = f"FAILED: {'; '.join(problems)}" if problems else "passed"
        print(f"{strategy.name}, {kind}, {axes}, {microbatches} microbatches: {found} {verdict}", flush=True)
    print(f"{len(chosen)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
