# ===- train_steps.py - Steps that JAX has differentiated itself ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Whole training steps as JAX prints them, and losses with their gradients.

A step is (states, batch) -> (states, loss and metrics), with its optimizer written out.
It is printed, trained for some steps by llmc, and run in JAX on the same rows: the loss
of each step and all states after the last. In f64 both agree to 1e-10 on every mesh and with
several microbatches; in f32 one device to 1e-4 of JAX, and a mesh to 2e-5 of one device. A
step whose gradients are no sums over its batch is refused with several microbatches.

    python train_steps.py --llmc llmc -o out
    python train_steps.py --llmc llmc -o out --only gpt,conv --dtypes f64
"""

import argparse
import json
import pathlib
import subprocess
import sys
from functools import partial

import jax
import numpy as np

import arrays
import loop_step_cases
import nested_step_cases
import train_step_cases
from train_step_cases import STEPS, clip, sgd

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

CASES = {**train_step_cases.CASES, **loop_step_cases.CASES, **nested_step_cases.CASES}
MESHES = ["", "data=2", "pipe=2", "pipe=2,data=2", "data=2,tensor=2"]


def convert(tree, dtype):
    return jax.tree.map(lambda a: np.asarray(a, dtype) if np.asarray(a).dtype == np.float64 else np.asarray(a), tree)


def names_of(step, states):
    """llmc's names of the states: paths without the argument, or with it where two are equal."""
    parameters = list(step.__wrapped__.__code__.co_varnames if hasattr(step, "__wrapped__") else step.__code__.co_varnames)
    names = []
    for root, state in zip(parameters, states):
        for path, _ in jax.tree_util.tree_flatten_with_path(state)[0]:
            steps = [str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", None)))) for k in path]
            names.append((root, ".".join(steps)))
    shown = [path or root for root, path in names]
    return [root + "." + path if path and shown.count(path) > 1 else path or root for root, path in names]


class Case:
    def __init__(self, a, name, dtype):
        self.a, self.name, self.dtype = a, name, dtype
        self.example = example = CASES[name](np.random.default_rng(len(name)))
        self.states, self.inputs = convert(example.states, dtype), convert(example.inputs, dtype)
        self.folder = a.output / f"{name}-{np.dtype(dtype).name}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.names = names_of(example.step, self.states)
        self.rows = len(next(iter(self.inputs.values()))) // STEPS
        shape = partial(jax.tree.map, lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype))
        batch = {n: jax.ShapeDtypeStruct((self.rows, *x.shape[1:]), x.dtype) for n, x in self.inputs.items()}
        donated = tuple(range(len(self.states))) if example.donate else ()
        self.jitted = jax.jit(example.step, donate_argnums=donated)
        text = self.jitted.lower(*shape(self.states), **batch).as_text(debug_info=True)
        (self.folder / "model.mlir").write_text(text, encoding="utf-8")
        arrays.write_safetensors(self.folder / "weights.safetensors", dict(zip(self.names, jax.tree.leaves(self.states))))
        config = '[mesh]\naxes = ["pipe", "data", "tensor"]\npipeline = "pipe"\n[[layout]]\ninput = "*"\ndims = [["data"]]\n'
        for n, x in self.inputs.items():
            np.save(self.folder / f"{n}.npy", x)
            config += f'[data.{n}]\nkind = "array"\nfile = "{n}.npy"\nshuffle = false\n'
        (self.folder / "model.toml").write_text(config + example.layout + example.extra, encoding="utf-8")

    def batch(self, t):
        return {n: x[t * self.rows : (t + 1) * self.rows] for n, x in self.inputs.items()}

    def expect_step(self, states, t):
        """New states and the loss."""
        out = jax.jit(self.example.step)(*states, **self.batch(t))
        if self.example.order:
            return self.example.order(out)
        loss = out[len(states)]
        return out[: len(states)], loss["loss"] if isinstance(loss, dict) else loss

    def expect_gradients(self, params, velocity, times):
        """The same of llmc's momentum and clipping, on the mean over microbatches."""
        parts = [jax.jit(self.example.step)(params, **self.batch(t)) for t in times]
        loss, g = jax.tree.map(lambda *each: sum(each) / len(each), *parts)
        velocity = jax.tree.map(lambda v, g: 0.875 * v + g, velocity, clip(g, 0.5)[0])
        return sgd(params, velocity, 0.0625), velocity, loss

    def expect(self, microbatches=1):
        states, losses = self.states, []
        velocity = jax.tree.map(np.zeros_like, states[0])
        for t in range(0, STEPS, microbatches if self.example.gradients else 1):
            if self.example.gradients:
                params, velocity, loss = self.expect_gradients(states[0], velocity, range(t, t + microbatches))
                states = (params,)
            else:
                states, loss = self.expect_step(states, t)
            losses.append(float(loss))
        return losses, [np.asarray(leaf) for leaf in jax.tree.leaves(states)]

    def run(self, engine, mesh, microbatches):
        steps = STEPS // microbatches if self.example.gradients else STEPS
        dump, log = self.folder / "dump", self.folder / "log.jsonl"
        command = [self.a.llmc, engine, self.folder / "model.mlir", "--config", self.folder / "model.toml"]
        command += ["--weights", self.folder / "weights.safetensors", "--steps", steps, "--log", log]
        command += ["--fetch", ",".join(self.names), "--dump", dump, "--set", f"training.microbatches={microbatches}"]
        command += ["--mesh", mesh] if mesh else []
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip() or "no message").splitlines()[-1]
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines() if '"loss"' in line]
        return losses, [np.load(dump / f"{n}.npy") for n in self.names]


def farthest(found, expected):
    """Of losses each by itself, of states relative to the greatest element; counters are equal."""
    losses = [abs(a - b) / abs(b) for a, b in zip(found[0], expected[0], strict=True)]
    for a, b in zip(found[1], expected[1], strict=True):
        if np.issubdtype(b.dtype, np.floating):
            losses.append(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-3))
        else:
            losses.append(0.0 if a.dtype == b.dtype and np.array_equal(a, b) else np.inf)
    return float(np.max(losses))


def runs_of(case, dtype, some):
    """(engine, mesh, microbatches), one device first. Beside gradients the batch is one microbatch."""
    if some:
        return [("train", "", 1), ("interpret", "", 1), ("train", "pipe=2", 2), ("train", MESHES[-1], 2)]
    runs = [("train", mesh, 1) for mesh in MESHES]
    if dtype == "f64":
        runs += [("interpret", "", 1), ("train", "", 2), ("train", "data=2,tensor=2", 2), ("interpret", "", 2)]
    return runs


def judge(case, found, expected, bar, isRefused):
    """Whether it is as expected, and what to show."""
    if isinstance(found, str):
        return isRefused and case.example.refusal in found, found
    apart = farthest(found, expected)
    return not isRefused and apart <= bar, f"{apart:.1e}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", help="these cases alone")
    p.add_argument("--dtypes", default="f32,f64")
    p.add_argument("--some", action="store_true", help="one device, two stages and one mesh with two microbatches")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    count = failed = 0
    for name in a.only.split(",") if a.only else CASES:
        for dtype in a.dtypes.split(","):
            case = Case(a, name, {"f32": np.float32, "f64": np.float64}[dtype])
            expected, bar = case.expect(), 1e-10 if dtype == "f64" else 1e-4
            for engine, mesh, microbatches in runs_of(case, dtype, a.some):
                found = case.run(engine, mesh, microbatches)
                if case.example.gradients and microbatches > 1:
                    expected = case.expect(microbatches)
                isRefused = microbatches > 1 and bool(case.example.refusal)
                good, shown = judge(case, found, expected, bar, isRefused)
                count, failed = count + 1, failed + (not good)
                print(f"{'passed' if good else 'FAILED'} {name} {dtype} {engine} {mesh or 'one device'}, "
                      f"{microbatches} microbatches: {shown}", flush=True)
                if dtype == "f32" and not mesh and not isinstance(found, str):
                    expected, bar = found, 2e-5
    print(f"{count} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
