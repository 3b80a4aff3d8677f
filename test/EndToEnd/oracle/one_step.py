# ===- one_step.py - A loss and its gradients by one step of descent --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What the tests share that train one step of plain descent with rate 1 in f64: the
loss, and each parameter's gradient (what the step takes off), against those of JAX."""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys

import arrays
import jax
import numpy as np

BAR = 1e-10
# Of losses of samples x on any mesh.
CONFIGURATION = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[[layout]]
input = "*"
dims = [["data"]]
[optimizer]
name = "sgd"
lr = 1.0
[training]
microbatches = 2
precision = "f64"
"""


class Case:
    """A loss with its `parameters` and samples `x`, in a folder of its own."""

    bar = BAR
    model = "model.mlir"
    # The name of the loss: cases of one loss in several forms have its parameters, its samples
    # and what is expected of it.
    loss_name = None

    def takes(self, *settings):
        """Whether the model takes these settings."""
        return True

    def __init__(self, a, name, shapes, samples, configuration):
        self.a, self.name, self.shapes = a, name, shapes
        self.loss_name = self.loss_name or name
        self.folder = a.output / name
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(len(self.loss_name))
        self.parameters = {n: draw.normal(size=s) * 0.5 for n, s in shapes.items()}
        self.x = draw.normal(size=samples)
        np.save(self.folder / "x.npy", self.x)
        arrays.write_safetensors(self.folder / "weights.safetensors", self.parameters)
        (self.folder / "model.toml").write_text(configuration, encoding="utf-8")

    def write_text(self, text):
        (self.folder / "model.mlir").write_text(text, encoding="utf-8")

    def run(self, engine, mesh, *settings):
        """(loss, gradients), or (what was said, None) of a run that ended badly."""
        dump, log = self.folder / "dump", self.folder / "log.jsonl"
        command = [self.a.llmc, engine, self.folder / self.model, "--config", self.folder / "model.toml"]
        command += ["--weights", self.folder / "weights.safetensors", "--steps", 1, "--log", log]
        command += ["--fetch", ",".join(self.shapes), "--dump", dump]
        command += ["--mesh", mesh] if mesh else []
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1], None
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        found = {n: self.parameters[n] - np.load(dump / f"{n}.npy") for n in self.shapes}
        return next(row["loss"] for row in rows if "loss" in row), found


def farthest(loss, gradients, expected):
    """The greatest distance, relative to the greatest element."""
    value, wanted = expected
    apart = [abs(loss - float(value)) / abs(float(value))]
    for name, g in wanted.items():
        g = np.asarray(g)
        apart.append(np.abs(gradients[name] - g).max() / np.abs(g).max())
    # Of Python's own maximum a NaN is no part.
    return float(np.max(apart))


def by_jax(loss, parameters, x, parts=1):
    """The loss and the gradients by JAX: the mean over parts of the samples, of which it compiles one."""
    step = jax.jit(jax.value_and_grad(loss))
    results = [step(parameters, part) for part in np.split(x, parts)]
    return jax.tree.map(lambda *each: sum(each) / parts, *results)


def parse(description, add=lambda p: None):
    """The arguments of a test: those of all, and what `add` adds."""
    p = argparse.ArgumentParser(description=description.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    add(p)
    return p.parse_args()


def check(case, runs, done, failed, expectations=None):
    """Runs a case in all (engine, mesh, settings ...); the numbers of runs and failures, with these.
    What is expected of losses is kept in `expectations`, by their names."""
    expectations = {} if expectations is None else expectations
    if case.loss_name not in expectations:
        expectations[case.loss_name] = case.expect()
    expected = expectations[case.loss_name]
    for engine, mesh, *settings in runs:
        if not case.takes(*settings):
            continue
        loss, gradients = case.run(engine, mesh, *settings)
        done += 1
        apart = farthest(loss, gradients, expected) if gradients else None
        bad = gradients is None or not apart <= case.bar
        failed += bad
        shown = loss if gradients is None else f"{apart:.1e}"
        how = " ".join([engine, mesh or "one device", *settings])
        print(f"{'FAILED' if bad else 'passed'} {case.name} {how}: {shown}", flush=True)
    return done, failed


def main(description, names, make, runs, usual=None, more=()):
    """Runs the cases that `make(arguments, name)` gives in all of `runs`, without `--runs` in the
    first `usual` of them. Those of `more` have to be asked for."""
    a = parse(description, lambda p: (
        p.add_argument("--only", help="these cases alone: names, or patterns of names"),
        p.add_argument("--half", action="store_true", help="of two cases the first, of the next two the second ..."),
        p.add_argument("--runs", type=int, default=usual or len(runs), help="the first so many of each case"),
        p.add_argument("--in-turn", action="store_true", help="each case in one of these runs, in turn")))
    if a.only:
        known = [*names, *more]
        chosen = [fnmatch.filter(known, pattern) for pattern in a.only.split(",")]
        if not all(chosen):
            sys.exit(f"error: expected names or patterns of {', '.join(known)}, got {a.only}")
        names = dict.fromkeys(sum(chosen, []))
    if a.half:  # A text and its derived one stand side by side: both kinds are met.
        names = [name for number, name in enumerate(names) if number % 4 in (0, 3)]

    def runs_of(number, a):
        # A shift after each round: of cases that take turns themselves, all kinds meet all runs.
        turn = (number + number // a.runs) % a.runs
        return runs[turn:turn + 1] if a.in_turn else runs[:a.runs]

    done, failed, expectations = 0, 0, {}
    for number, name in enumerate(names):
        done, failed = check(make(a, name), runs_of(number, a), done, failed, expectations)
    print(f"{len(names)} losses, {done} runs, {failed} failed")
    sys.exit(1 if failed else 0)
