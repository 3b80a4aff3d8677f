# ===- windows.py - Convolutions and windows against JAX ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Values and gradients of random convolutions and windows, against JAX.

In f64; in f32 (`--float`) convolutions are those of the library. One text holds many
cases. A case f adds sum(u * f(x)) to the loss, and u is a parameter as x is: its gradient is
the value of f. Points
enter as constants to which a parameter of -0.0 is added, as in derivatives.py.

    python windows.py --llmc llmc -o out
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import quick_xla

quick_xla.ask()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import window_cases  # noqa: E402

# Of a difference relative to the greatest element.
BARS = {"f64": 1e-11, "f32": 2e-5}
TYPES = {"f64": np.float64, "f32": np.float32}
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


class Program:
    """All cases as one loss."""

    def __init__(self, cases, dtype):
        self.cases, self.points, g = cases, {}, np.random.default_rng(0)
        for case in cases:
            shape = jax.eval_shape(case.function, *case.operands).shape
            # A sum of no elements has no weights.
            points = case.operands + ([g.standard_normal(shape)] if np.prod(shape) else [])
            self.points[case.name] = [np.asarray(p, dtype) for p in points]
        self.zeros = {name: [np.full_like(p, -0.0) for p in ps] for name, ps in self.points.items()}

    def term(self, case, function, parameters):
        values = [p + x for p, x in zip(self.points[case.name], parameters)]
        result = function(*values[: len(case.operands)])
        return jnp.sum(result * values[-1]) if len(values) > len(case.operands) else jnp.sum(result)

    def text(self):
        def total(params):
            return sum(self.term(case, case.function, params[case.name]) for case in self.cases)

        text = jax.jit(total).lower({n: z for n, z in self.zeros.items() if z}).as_text(debug_info=True)
        flags = iter([case.reversal for case in self.cases if case.reversal is not None])

        def reverse(match):
            shown = ", ".join("true" if flag else "false" for flag in next(flags))
            return f"{match[1]}reverse = [{shown}]"

        text = re.sub(r"(= stablehlo\.convolution\(.*)reverse = \[[^\]]*\]", reverse, text)
        if next(flags, None) is not None:
            sys.exit("error: expected one convolution in the text for each case, got fewer")
        return text

    def by_jax(self):
        """Parameter -> gradient, of the cases that JAX derives."""
        cases = [case for case in self.cases if case.by_jax]

        def total(params):
            return sum(self.term(case, case.by_jax, params[case.name]) for case in cases)

        found = jax.jit(jax.grad(total))({case.name: self.zeros[case.name] for case in cases})
        return self.named(found)

    def defined(self):
        """The same of the cases with a definition."""
        cases = [case for case in self.cases if case.defined]
        return self.named({case.name: case.defined(self.weights(case)) for case in cases})

    def weights(self, case):
        points = self.points[case.name]
        return points[-1] if len(points) > len(case.operands) else 1.0

    def named(self, found):
        return {f"{n}.{i}": np.asarray(x) for n, xs in found.items() for i, x in enumerate(xs[: len(self.points[n])])}


def run(*command):
    process = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"FAILED {command[:2]}: {process.stderr[-3000:]}")


def differentiate(a, engine, place, names):
    folder = place / engine
    folder.mkdir(parents=True, exist_ok=True)
    source = [place / "model.mlir", "--config", place / "model.toml", *a.flags.split()]
    dump = ["--dump", folder]
    if engine == "interpret":
        run(a.llmc, "interpret", *source, "--fetch", "grad.*", *dump)
    else:
        run(a.llmc, "compile", *source, "-o", folder / "plan")
        runner = pathlib.Path(a.llmc).with_name("llmc-run")
        # The loss may be NaN; a step of SGD is minus the gradient.
        run(runner, folder / "plan" / "plan.llmc", "--keep-going", "--steps", 1, "--fetch", ",".join(names), *dump)
    prefix, sign = ("grad.", 1) if engine == "interpret" else ("", -1)
    return {name: sign * np.load(folder / f"{prefix}{name}.npy") for name in names}


def compare(what, actual, expected, least):
    """The number of arrays that differ by more than `least`, which are shown."""
    failed = 0
    for name, theirs in expected.items():
        ours, finite = actual[name], np.abs(theirs[np.isfinite(theirs)])
        bar = least * max(float(np.max(finite, initial=0)), 1e-3)
        with np.errstate(invalid="ignore"):
            wrong = ~((np.abs(ours - theirs) <= bar) | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)))
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0]))
            shown = f"at {at} {ours[at]:.17g}, expected {theirs[at]:.17g}"
            print(f"FAILED {what} {name}: {wrong.sum()} of {wrong.size} differ, {shown}")
            failed += 1
    return failed


def check(a, number, cases):
    """The numbers of gradients, of those that were found twice, and of failures."""
    program, place = Program(cases, TYPES[a.float]), a.output / str(number)
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.mlir").write_text(program.text(), encoding="utf-8")
    (place / "model.toml").write_text(CONFIGURATION, encoding="utf-8")
    by_jax, defined = program.by_jax(), program.defined()
    expected, both = {**by_jax, **defined}, defined.keys() & by_jax.keys()
    bar = BARS[a.float]
    failed = compare("jax", by_jax, {name: defined[name] for name in sorted(both)}, bar)
    for engine in a.engines.split(","):
        failed += compare(engine, differentiate(a, engine, place, list(expected)), expected, bar)
    return len(expected), len(both), failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--engines", default="interpret,kernels")
    p.add_argument("--float", choices=BARS, default="f64")
    p.add_argument("--convolutions", type=int, default=64)
    p.add_argument("--windows", type=int, default=44)
    p.add_argument("--size", type=int, default=20, help="cases of one text")
    p.add_argument("--only", help="names of cases, by a regular expression")
    p.add_argument("--flags", default="", help="more flags for llmc")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    cases = window_cases.convolutions(a.convolutions) + window_cases.windows(a.windows)
    cases = [case for case in cases if not a.only or re.fullmatch(a.only, case.name)]
    parts = [cases[i : i + a.size] for i in range(0, len(cases), a.size)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda part: check(a, *part), enumerate(parts)))
    gradients, both, failed = map(sum, zip(*found))
    print(f"{len(cases)} cases, {gradients} gradients, {both} of them by JAX and by definition, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
