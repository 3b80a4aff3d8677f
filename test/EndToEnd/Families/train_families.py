# ===- train_families.py - Families of models on meshes -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains families of models on meshes and compares each step.

A line of the table is `family: mesh mesh ...` with the meshes of family.py. For
each family, `llmc train` runs 20 steps
    in f64   on one device and on each mesh: loss and gradient norm of each step
             within 1e-10 of one device, so are carried states after the last
    in model precision (f32, in one family bf16 too), on one device and on each
             mesh: losses within the family's bar (1e-5; bf16 2e-3) of JAX, which
             starts from the same weights and is fed what one device was fed

    python train_families.py --llmc llmc -o out table.txt
    python train_families.py --llmc llmc -o out table.txt --only lstm,gru
    python train_families.py --llmc llmc -o out                 every family on every mesh
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "oracle")]

import quick_xla  # noqa: E402

quick_xla.ask()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import arrays  # noqa: E402
import family as families  # noqa: E402
import training  # noqa: E402
from makers import MAKERS  # noqa: E402
from meshes import distance  # noqa: E402

F64_BAR = 1e-10


class Run:
    """One run of `llmc train`: rows of (loss, norm), and what it dumped."""

    def __init__(self, a, out, command):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self.folder = out / "dump"
        command = [a.llmc, "train", *command, "--steps", a.steps, "--threads", 1]
        command += ["--log", out / "log.jsonl"]
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        self.error = None
        if process.returncode:
            lines = [line for line in process.stderr.splitlines() if "error" in line]
            self.error = f"exit code {process.returncode}: {lines[0] if lines else 'no message'}"
            return
        rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
        figures = [(r["loss"], r["grad_norm"]) for r in rows if "loss" in r]
        self.rows = [tuple(math.nan if x is None else x for x in row) for row in figures]


def names_of(tree):
    return [name for name, _ in families.make_gpt.state_names(tree)] if tree else []


class Trainer:
    """All runs of one family."""

    def __init__(self, a, family):
        self.a, self.family = a, family
        self.out = pathlib.Path(a.output) / family.name
        self.out.mkdir(parents=True, exist_ok=True)
        self.model = self.out / "model.mlir"
        self.model.write_text(families.text_of(family), encoding="utf-8")
        self.weights = self.out / "weights.safetensors"
        arrays.write_safetensors(self.weights, families.draw_weights(family))

    def train(self, mesh, precision, fetch=(), more=()):
        config = self.out / f"{mesh}.toml"
        config.write_text(families.configuration(self.family, mesh), encoding="utf-8")
        command = [self.model, "--config", config]
        if families.MESHES[mesh]:
            command += ["--mesh", families.MESHES[mesh]]
        if precision != "model":
            command += ["--set", f'training.precision="{precision}"']
        if precision != "f64":
            command += ["--weights", self.weights]
        if fetch:
            command += ["--fetch", ",".join(fetch), "--dump", self.out / f"{mesh}-{precision}" / "dump"]
            command += ["--fetch-each-step"] if precision == "model" else []
        return Run(self.a, self.out / f"{mesh}-{precision}", [*command, *more])

    def batches(self, run):
        """For each step a tuple of microbatches, as one device was fed."""
        dumped = arrays.read_arrays(run.folder)
        for t in range(self.a.steps):
            parts = []
            for name, (shape, _) in self.family.inputs.items():
                key = f"step-{t}.{name}"
                m = self.family.microbatches
                whole = dumped[key] if key in dumped else np.concatenate([dumped[f"{key}.{i}"] for i in range(m)])
                parts.append(jnp.asarray(whole.reshape(m, *shape), jnp.int32))
            yield tuple(zip(*parts))

    def train_by_jax(self, run):
        """Losses, gradient norms; and the carried states."""
        family = self.family
        settings = training.Settings.from_toml(self.out / "one.toml")
        params = families.unflatten(family.parameters, arrays.read_safetensors(self.weights))
        carried = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), family.carried)
        rows, _, _, carried = training.train_unfused(
            family.loss, family.count, params, carried, self.batches(run), settings
        )
        return rows, dict(families.make_gpt.state_names(carried)) if family.carried else {}


def farthest(ours, theirs):
    """Of arrays by name: the greatest distance relative to the array's norm."""
    if sorted(ours) != sorted(theirs):
        return math.inf
    apart = [0.0]
    for name, x in theirs.items():
        x = np.asarray(x, np.float64)
        apart.append(float(np.linalg.norm(ours[name] - x) / max(np.linalg.norm(x), 1e-30)))
    return float(np.max(apart))


def losses(rows):
    return [row[:1] for row in rows]


class Judge:
    """Counts and prints verdicts."""

    def __init__(self):
        self.cases = self.failed = 0
        self.lock = threading.Lock()

    def note(self, name, run, measure):
        """`measure` gives (what, value, bar) of a run that ended well."""
        found = [] if run.error else measure(run)
        bad = run.error or any(not value <= bar for _, value, bar in found)
        text = run.error or ", ".join(f"{what} {value:.1e} (bar {bar:.0e})" for what, value, bar in found)
        with self.lock:
            self.cases += 1
            self.failed += bool(bad)
            print(f"{'FAILED' if bad else 'passed'}  {name}: {text}", flush=True)


def check(a, family, meshes, judge):
    trainer, carried = Trainer(a, family), names_of(family.carried)
    exact = trainer.train("one", "f64", carried)
    fed = trainer.train("one", "model", list(family.inputs) + carried)
    for run, precision in ((exact, "f64"), (fed, "model")):
        if run.error:
            judge.note(f"{family.name} one {precision}", run, lambda run: [])
    theirs, states = ([], {}) if fed.error else trainer.train_by_jax(fed)
    wanted = arrays.read_arrays(exact.folder) if carried and not exact.error else {}
    last = f"step-{a.steps - 1}."

    def against_one(run):
        found = [("losses and norms", distance(run.rows, exact.rows), F64_BAR)]
        if carried:
            found.append(("carried states", farthest(arrays.read_arrays(run.folder), wanted), F64_BAR))
        return found

    def against_jax(run):
        found = [("losses", distance(losses(run.rows), losses(theirs)), family.bar)]
        if carried and run.folder.exists():
            dumped = arrays.read_arrays(run.folder)
            named = {name: dumped[last + name] for name in carried}
            found.append(("carried states", farthest(named, states), family.bar))
        return found

    if not fed.error:
        first, end = theirs[0][0], theirs[-1][0]
        print(f"{family.name}: {family.microbatches} microbatches, loss {first:.4f} to {end:.4f}")
        judge.note(f"{family.name} one model", fed, against_jax)
    for mesh in meshes:
        if not exact.error:
            judge.note(f"{family.name} {mesh} f64", trainer.train(mesh, "f64", carried), against_one)
        if not fed.error:
            judge.note(f"{family.name} {mesh} model", trainer.train(mesh, "model", carried), against_jax)


def read_table(path, every):
    """Family -> meshes; each family and each mesh must occur."""
    table = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        name, _, rest = line.split("#")[0].partition(":")
        if name.strip():
            table[name.strip()] = rest.split()
    met = sorted({mesh for meshes in table.values() for mesh in meshes})
    for what, found, wanted in (("families", table, MAKERS), ("meshes", met, every)):
        if sorted(found) != sorted(wanted):
            sys.exit(f"error: expected the {what} {', '.join(sorted(wanted))}, got {', '.join(sorted(found))}")
    return table


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--jobs", type=int, default=1, help="families at a time")
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", help="these meshes alone")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("table", nargs="?", help="without one every family meets every mesh")
    a = p.parse_args()
    every = [mesh for mesh in families.MESHES if mesh != "one"]
    table = read_table(a.table, every) if a.table else {name: every for name in MAKERS}
    names = a.only.split(",") if a.only else list(table)
    judge, start = Judge(), time.time()

    def work(name):
        check(a, MAKERS[name](), a.meshes.split(",") if a.meshes else table[name], judge)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(work, names))
    print(f"{len(names)} families, {judge.cases} cases, {judge.failed} failed, {time.time() - start:.0f} s")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
