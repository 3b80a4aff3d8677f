# ===- derivatives.py - Derivatives of every op against jax.grad ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Differentiates each row of docs/derivatives.md by llmc and by jax.grad.

One text holds all cases, so that an engine runs once for each element type. A case
is a function of points: the grid below, all pairs of it, or what the case says.
A point enters as a constant to which a parameter of -0.0 is added, since states may
not be infinite; that addition changes no bit.

    python derivatives.py --llmc llmc --table docs/derivatives.md -o out
"""

import argparse
import pathlib
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
from derivative_cases import CASES

GRID = [0.0, -0.0, 1e-3, -1e-3, 0.5, 1.0, -1.0, 2.0, 88.0, -88.0, 100.0, -100.0]
GRID += [np.inf, -np.inf, np.nan]
CONFIGURATION = """[[init]]
match = "*"
draw = "constant"
value = -0.0
[optimizer]
name = "sgd"
lr = 1.0
[training]
steps = 1
"""


def points_of(case, dtype):
    """The operands of a case."""
    if case.points is not None:
        return [np.asarray(p, dtype) for p in case.points]
    grid = np.asarray(GRID, dtype)
    if case.arity == 1:
        return [grid]
    return [p.ravel() for p in np.meshgrid(*[grid] * case.arity, indexing="ij")]


def loss_of(case, points, parameters):
    return jnp.sum(case.function(*[p + x for p, x in zip(points, parameters)]))


def export(cases, dtype):
    """The text with all cases, and the gradients by JAX, by parameter."""
    points = {case.name: points_of(case, dtype) for case in cases}
    zeros = {name: [np.full_like(p, -0.0) for p in ps] for name, ps in points.items()}

    def total(params):
        return sum(loss_of(case, points[case.name], params[case.name]) for case in cases)

    text = jax.jit(total).lower(zeros).as_text(debug_info=True)
    gradients = jax.jit(jax.grad(total))(zeros)
    expected = {f"{n}.{i}": np.asarray(g) for n, gs in gradients.items() for i, g in enumerate(gs)}
    return text, expected, points


def run(*command):
    process = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"FAILED {command[:2]}: {process.stderr[-3000:]}")


def differentiate(a, engine, text, dtype, parameters):
    folder = a.output / f"{engine}-{np.dtype(dtype).name}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.mlir").write_text(text, encoding="utf-8")
    (folder / "model.toml").write_text(CONFIGURATION, encoding="utf-8")
    source = [folder / "model.mlir", "--config", folder / "model.toml", *a.flags.split()]
    dump = ["--dump", folder / "dump"]
    if engine == "interpret":
        run(a.llmc, "interpret", *source, "--fetch", "grad.*", *dump)
    else:
        # The loss is NaN and the run goes on; a step of SGD is minus the gradient.
        run(a.llmc, "compile", *source, "-o", folder / "plan")
        names = ",".join(parameters)
        runner = pathlib.Path(a.llmc).with_name("llmc-run")
        plan = folder / "plan" / "plan.llmc"
        run(runner, plan, "--keep-going", "--steps", 1, "--fetch", names, *dump)
    prefix, sign = ("grad.", 1) if engine == "interpret" else ("", -1)
    return {n: sign * np.load(folder / "dump" / f"{prefix}{n}.npy") for n in parameters}


def differences(actual, expected, loss):
    """Where two gradients differ: not to rounding, and not both NaN or underflown."""
    info = np.finfo(expected.dtype)
    with np.errstate(all="ignore"):
        near = np.abs(actual - expected) <= loss * info.eps * np.abs(expected) + 64 * info.tiny
    return ~(near | (actual == expected) | (np.isnan(actual) & np.isnan(expected)))


def judge(case, i, actual, expected, points, where):
    """Compares one operand's gradient; returns whether it is right, and whether it
    differs where the case says so."""
    wrong = differences(actual, expected, case.loss)
    allowed = np.zeros_like(wrong)
    if case.differs is not None:
        allowed = np.broadcast_to(case.differs(i, *points), wrong.shape)
    differs = bool((wrong & allowed).any())
    wrong &= ~allowed
    shown = []
    for at in map(tuple, np.argwhere(wrong)[:4]):
        x = ", ".join(f"{p[at]:g}" for p in points if p.shape == wrong.shape)
        shown.append(f"at ({x}) {actual[at]:g}, jax {expected[at]:g}")
    if shown:
        print(f"FAILED {where} {case.name} operand {i}: {wrong.sum()} differ:", "; ".join(shown))
    return not shown, differs


def check_table(path, cases):
    """Rows without a case, cases without a row, reasons without a difference."""
    reasons = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `dist."):
            continue  # not in a text of JAX; test/Dialect/Dist/Models
        if match := re.match(r"\| `([^`]+)` \| (.*) \| (.*) ?\|$", line):
            reasons[match[1]] = match[3].strip() if not match[2].startswith("none") else None
    named = {case.op for case in cases} - {"text"}
    faults = [f"row {op}: no case" for op, r in reasons.items() if op not in named and r is not None]
    faults += [f"case of {op}: no row" for op in sorted(named - set(reasons))]
    faults += [f"case {c.name}: differs, and its row has no reason"
               for c in cases if c.differs is not None and not reasons.get(c.op)]
    for fault in faults:
        print("FAILED", fault)
    return len(faults)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--engines", default="interpret,kernels")
    p.add_argument("--only", help="names of cases, by a regular expression")
    p.add_argument("--flags", default="", help="more flags for llmc")
    p.add_argument("--table", type=pathlib.Path)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    cases = [c for c in CASES if not a.only or re.fullmatch(a.only, c.name)]
    failed = check_table(a.table, cases) if a.table else 0
    compared, stale = 0, {case.name for case in cases if case.differs is not None}
    for dtype in (np.float32, np.float64):
        text, expected, points = export(cases, dtype)
        for engine in a.engines.split(","):
            where = f"{engine} {np.dtype(dtype).name}"
            gradients = differentiate(a, engine, text, dtype, expected)
            for case in cases:
                for i, _ in enumerate(points[case.name]):
                    name = f"{case.name}.{i}"
                    of = points[case.name]
                    ok, differs = judge(case, i, gradients[name], expected[name], of, where)
                    failed += not ok
                    stale -= {case.name} if differs else set()
                    compared += 1
    for name in sorted(stale):
        print(f"FAILED {name}: agrees with jax.grad where its row says that it differs")
    print(f"{len(cases)} cases, {compared} gradients, {failed + len(stale)} failed")
    return failed + len(stale) > 0


if __name__ == "__main__":
    sys.exit(main())
