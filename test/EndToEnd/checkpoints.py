#!/usr/bin/env python3
# ===- checkpoints.py - Runs that are saved, ended and resumed ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compares runs that were saved and resumed with one that went on.

    python checkpoints.py same meshes precision --bin build/dev/bin --examples examples --inputs test/EndToEnd/Inputs -o out

- same: 10 steps, a checkpoint and 10 more steps are 20 steps: losses, norms and all states bit by bit
- meshes: from one mesh onto others and back, at most 2e-5 from a run that went on
- precision: from f32 to f64, bf16 and f16 with a scale of the loss, and back
- processes: the same bits in several processes, and from them to one and back
- background: files that are read and written beside steps have the bytes of those that are written between them
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

BAR = 2e-5
ZERO3 = """
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
rest = [["data"]]
use = []
gradient = [["data"]]
"""


class Runs:
    def __init__(self, a):
        self.bin, self.out = a.bin, a.out
        self.gpt, self.tiny = a.inputs / "gpt-four.mlir", a.inputs / "gpt-tiny.mlir"
        self.config = a.examples / "gpt/gpt.toml"
        self.corpus = a.examples / "gpt/corpus.bin"
        self.counter = a.inputs / "counter.mlir", a.inputs / "counter.toml"
        text = self.config.read_text().replace('"corpus.bin"', json.dumps(str(self.corpus.resolve())))
        self.zero3 = self.out / "zero3.toml"
        self.zero3.write_text(re.sub(r"(?ms)^\[\[layout\]\].*?(?=^\[[^\[]|\Z)", "", text) + ZERO3)
        self.count = self.failed = 0

    def tool(self, *command, code=0):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        if done.returncode != code:
            raise SystemExit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def train(self, steps, folder, *flags, model=None, config=None, resume=False):
        """Rows of the log by step."""
        log = self.out / "run.jsonl"
        log.unlink(missing_ok=True)
        command = [self.bin / "llmc", "train", model or self.gpt, "--config", config or self.config, "--steps", steps]
        command += ["--checkpoint", folder, "--log", log, *flags] + ["--resume"] * resume
        said = self.tool(*command).stdout
        assert resume == ("resumed: " in said), said
        return {row["step"]: row for row in map(json.loads, log.read_text().splitlines())}

    def fresh(self, name, checkpoint=None):
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if checkpoint:
            shutil.copytree(checkpoint, folder / checkpoint.name)
        return folder

    def judge(self, what, good, said):
        self.count += 1
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'}  {what}: {said}", flush=True)


def states_of(checkpoint):
    return {path.name: path.read_bytes() for path in sorted(checkpoint.glob("*.safetensors"))}


def figures(row):
    return row["loss"], row.get("grad_norm", 0)


def distance(whole, part):
    """Of losses and norms, relative."""
    pairs = [(a, b) for step, row in part.items() for a, b in zip(figures(whole[step]), figures(row))]
    return max(abs(a - b) / max(abs(a), 1e-30) if a == a and b == b else float("inf") for a, b in pairs)


def same(runs):
    # A state of llmc's own (the scale of a loss), carried states, padding, stages, several microbatches.
    scaled = ("--set=training.precision=f16",)
    cases = [("data=1", ()), ("data=2,tensor=2", ()), ("tensor=2", scaled), ("pipe=2,data=2", ())]
    for mesh, flags in cases:
        flags = ("--mesh", mesh, "--set=training.microbatches=2", *flags)
        compare_same(runs, " ".join(flags[1:]), flags, model=runs.tiny)
    model, config = runs.counter
    compare_same(runs, "a counter and dropout", (), model=model, config=config)


def compare_same(runs, name, flags, **what):
    whole, parts = runs.fresh("whole"), runs.fresh("parts")
    expected = runs.train(20, whole, *flags, **what)
    first = runs.train(10, parts, *flags, **what)
    second = runs.train(20, parts, *flags, resume=True, **what)
    steps = [*first, *second]
    equal = [figures(expected[s]) for s in range(20)] == [figures({**first, **second}[s]) for s in range(20)]
    states = states_of(whole / "step-00000020") == states_of(parts / "step-00000020")
    runs.judge(name, steps == list(range(20)) and equal and states,
               f"10 + 10 steps, figures {'equal' if equal else 'differ'}, states {'equal' if states else 'differ'}")


def meshes(runs):
    rows = {"data=2,tensor=2": ("--mesh", "data=2,tensor=2"), "tensor=4": ("--mesh", "tensor=4"),
            "pipe=2,data=2": ("--mesh", "pipe=2,data=2"), "one device": (), "data=2, ZeRO-3": ("--mesh", "data=2")}
    expected = {}
    for name, flags in rows.items():
        config = runs.zero3 if "ZeRO" in name else None
        expected[name] = runs.train(20, runs.fresh("from-" + re.sub(r"\W+", "-", name)), *flags,
                                    "--checkpoint-every=10", config=config)
    for source in ("data=2,tensor=2", *list(rows)[1:]):
        # From the first row onto all others, and back.
        for target in list(rows)[1:] if source == "data=2,tensor=2" else ["data=2,tensor=2"]:
            checkpoint = runs.out / ("from-" + re.sub(r"\W+", "-", source)) / "step-00000010"
            folder = runs.fresh("onto", checkpoint)
            config = runs.zero3 if "ZeRO" in target else None
            got = runs.train(20, folder, *rows[target], config=config, resume=True)
            far = distance(expected[source], got)
            runs.judge(f"{source} onto {target}", len(got) == 10 and far <= BAR, f"distance {far:.1e}, bar {BAR:.0e}")


def precision(runs):
    """The model's is f32. A step in f32 after 10 in f64 is a step in f64 but for what f32 rounds; factors of 8 and 11 bits round more."""
    types = {"model": BAR, "f64": BAR, "bf16": 1e-2, "f16": 1e-2}
    folders, expected = {}, {}
    for name in types:
        folders[name] = runs.fresh("in-" + name)
        expected[name] = runs.train(20, folders[name], f"--set=training.precision={name}", "--checkpoint-every=10",
                                    model=runs.tiny)
    for source, target in [("model", "f64"), ("f64", "model"), ("model", "bf16"), ("model", "f16"), ("f16", "model")]:
        folder = runs.fresh("onto", folders[source] / "step-00000010")
        got = runs.train(20, folder, f"--set=training.precision={target}", "--mesh=tensor=2", model=runs.tiny, resume=True)
        far, bar = distance(expected[source], got), max(types[source], types[target])
        runs.judge(f"{source} to {target}", len(got) == 10 and far <= bar, f"distance {far:.1e}, bar {bar:.0e}")


def run_plan(runs, plan, processes, steps, folder, *flags):
    launch = [runs.bin / "llmc-launch", "-n", processes, "--"] if processes > 1 else []
    runs.tool(*launch, runs.bin / "llmc-run", plan, "--data", runs.corpus, "--steps", steps, "--checkpoint", folder, *flags)


def processes(runs):
    """A plan for four devices in one, two and four processes, each way."""
    plan = runs.out / "plan"
    runs.tool(runs.bin / "llmc", "compile", runs.gpt, "--config", runs.config, "--mesh=pipe=2,data=2",
              "--set=training.microbatches=2", "-o", plan)

    def run(number, *what):
        run_plan(runs, plan, number, *what)

    whole = runs.fresh("whole")
    run(1, 20, whole)
    for before, after in ((1, 2), (2, 4), (4, 1), (2, 2)):
        folder = runs.fresh("parts")
        run(before, 10, folder, *["--checkpoint-background"] * (before == 2))
        files = len(list((folder / "step-00000010").glob("*.safetensors")))
        run(after, 20, folder, "--resume")
        last = runs.fresh("last", folder / "step-00000020")
        run(1, 20, last, "--resume")
        equal = whole_states(runs, whole) == whole_states(runs, folder)
        runs.judge(f"{before} processes, then {after}", files == before and equal,
                   f"{files} files, states {'equal' if equal else 'differ'}")


def background(runs):
    """A checkpoint after each step, so that each is read beside the next one."""
    split = ("--set=training.microbatches=2",)
    evaluated = [f"--set={key}" for key in ("training.evaluate_every=2", "training.evaluate_steps=1", "data.held_out=0.1")]
    cases = [("one device", (), {}), ("one device, every second step evaluated", evaluated, {}),
             ("data=2,tensor=2, f16", (*split, "--mesh=data=2,tensor=2", "--set=training.precision=f16"), {}),
             ("pipe=2,data=2", (*split, "--mesh=pipe=2,data=2"), {}),
             ("data=2, ZeRO-3", (*split, "--mesh=data=2"), {"config": runs.zero3}),
             ("a counter and dropout", (), dict(zip(("model", "config"), runs.counter)))]
    for name, flags, what in cases:
        what = {"model": runs.tiny, **what}
        compare_background(runs, name, lambda folder, *more: runs.train(6, folder, *flags, *more, **what))
    plan = runs.out / "plan"
    runs.tool(runs.bin / "llmc", "compile", runs.tiny, "--config", runs.config, "--mesh=pipe=2,data=2", *split, "-o", plan)
    compare_background(runs, "pipe=2,data=2 in two processes", lambda folder, *more: run_plan(runs, plan, 2, 6, folder, *more))


def compare_background(runs, name, run):
    always = ("--checkpoint-every=1", "--checkpoint-keep=0")
    between, beside = runs.fresh("between"), runs.fresh("beside")
    run(between, *always)
    run(beside, *always, "--checkpoint-background", "--checkpoint-memory=1")
    steps = [f"step-{step:08}" for step in range(1, 7)]
    equal = [states_of(between / step) == states_of(beside / step) != {} for step in steps]
    runs.judge(name, all(equal), f"{sum(equal)} of {len(equal)} checkpoints are equal")


def whole_states(runs, folder):
    """Bytes of all tensors, whoever wrote which box."""
    tensors = {}
    for path in sorted((folder / "step-00000020").glob("*.safetensors")):
        data = path.read_bytes()
        size = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:size])
        for key, entry in header.items():
            if key != "__metadata__":
                begin, end = entry["data_offsets"]
                tensors[key] = data[size + begin : size + end]
    return tensors


PARTS = {"same": same, "meshes": meshes, "precision": precision, "processes": processes, "background": background}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    for flag in ("--bin", "--examples", "--inputs", "-o"):
        parser.add_argument(flag, type=pathlib.Path, required=True, dest="out" if flag == "-o" else None)
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    runs = Runs(a)
    for part in a.parts:
        PARTS[part](runs)
    print(f"{runs.count} comparisons, {runs.failed} failed")
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
