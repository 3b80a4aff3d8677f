# ===- expansions.py - Ops that are written with others, against XLA -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs random uses of ops by XLA and by llmc: those that are written with others (windows,
norms, products of groups), those whose sizes are operands (--cases dynamic), and those
that move, index and contract (--cases structure).

One text for each element type has all its cases. XLA executes them, but for those that
are defined by numpy, since XLA has none or leaves an order open. Operands
are constants behind an optimization_barrier, with ties, NaN, infinities and zeros of
both signs. What selects or moves is equal to the bit, what adds to a few units in the
last place of the greatest element.

    python expansions.py --llmc llmc -o out
"""

import argparse
import pathlib
import sys

import dynamic_cases
import form_cases
import jax
import ml_dtypes
import numpy as np
import structure_cases
from expansion_cases import DTYPES, tensor
from semantics import as_stored, constant, flush, run, run_xla

jax.config.update("jax_enable_x64", True)
MODULES = {"forms": form_cases, "dynamic": dynamic_cases, "structure": structure_cases}


def write_module(found, for_xla=False):
    """The text of all cases, whose results are r0, r1, ..."""
    lines, returned, types = [], [], []
    for number, case in enumerate(found):
        names = [f"c{number}a{i}" for i in range(len(case.operands))]
        shapes = [tensor(a.shape, e) for a, e in zip(case.operands, case.elements)]
        lines += [write_constant(n, a, e) for n, a, e in zip(names, case.operands, case.elements)]
        hidden = ", ".join(f"%h{n}" for n in names)
        if names:
            lines.append(f"  {hidden} = stablehlo.optimization_barrier {', '.join(f'%{n}_c' for n in names)} : {', '.join(shapes)}")
        text = case.for_xla if for_xla and case.for_xla else case.text
        lines.append("  " + text.format(a=f"hc{number}a", r=f"c{number}r"))
        returned += [f"%c{number}r{i}" for i in range(len(case.results))]
        types += case.results
    named = ", ".join(f'{t} {{jax.result_info = "result.r{i}"}}' for i, t in enumerate(types))
    body = "\n".join(lines)
    return (f"module @expansions {{\nfunc.func public @main() -> ({named}) {{\n{body}\n"
            f"  return {', '.join(returned)} : {', '.join(types)}\n}}\n}}\n")


def write_constant(name, array, element):
    if array.size == 0:
        return f"  %{name}_c = stablehlo.constant dense<> : {tensor(array.shape, element)}"
    return constant(name, np.array(array, order="C"), element)


def agree(case, actual, expected):
    if actual.shape != expected.shape:
        return False
    if actual.dtype.kind in "biu":
        return bool((actual == expected).all())
    actual, expected = flush(actual), flush(expected)
    wide, reference = actual.astype(np.float64), expected.astype(np.float64)
    same = (actual.view(f"u{actual.dtype.itemsize}") == expected.view(f"u{actual.dtype.itemsize}"))
    same |= np.isnan(wide) & np.isnan(reference)
    if actual.dtype.name == "bfloat16":
        same |= (wide == 0) & (reference == 0)  # XLA loses their signs
    if case.ulps:
        with np.errstate(all="ignore"):
            finite = np.abs(reference[np.isfinite(reference)])
            bound = case.ulps * float(ml_dtypes.finfo(actual.dtype).eps) * max(finite.max(initial=0), case.least)
            same |= (np.abs(wide - reference) <= bound) | (wide == reference)
    return bool(same.all())


def run_llmc(a, engine, folder, count):
    source = [folder / "model.mlir", "--config", folder / "model.toml", "--entry", "forward"]
    dump = folder / engine
    if engine == "interpreted":
        run(a.llmc, "interpret", *source, "--dump", dump)
    else:
        run(a.llmc, "train", *source, "--steps", 1, "--fetch", "*", "--dump", dump)
    # The first float scalar is taken for the loss.
    files = [dump / f"r{i}.npy" for i in range(count)]
    return [np.load(file if file.exists() else dump / "loss.npy") for file in files]


def check(a, element, found):
    folder = a.output / element
    folder.mkdir(parents=True, exist_ok=True)
    text = write_module(found)
    (folder / "model.mlir").write_text(text, encoding="utf-8")
    (folder / "model.toml").write_text("", encoding="utf-8")
    failed, by_xla = 0, iter(run_xla(write_module([case for case in found if case.expected is None], for_xla=True)))
    expected = [each for case in found for each in case.expected or [next(by_xla) for _ in case.results]]
    for engine in a.engines.split(","):
        actual, at = run_llmc(a, engine, folder, len(expected)), 0
        for case in found:
            for result in case.results:
                kind = result[:-1].rsplit("x", 1)[-1].removeprefix("tensor<")
                one, other = as_stored(actual[at], kind), expected[at]
                at += 1
                if not agree(case, one, other):
                    failed += 1
                    print(f"FAILED {engine} {element} {case.name}:\n{case.text}\n{case.operands}\n{one}\nXLA:\n{other}")
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("--engines", default="interpreted,kernels")
    p.add_argument("--elements", default=",".join(DTYPES))
    p.add_argument("--cases", default="forms", choices=MODULES)
    p.add_argument("--count", type=int, default=8, help="cases of each kind for each element type")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="", help="cases whose names begin so")
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    total = failed = 0
    for element in a.elements.split(","):
        found = [c for c in MODULES[a.cases].cases(element, a.count, a.seed) if c.name.startswith(a.only)]
        failed += check(a, element, found) if found else 0
        total += len(found)
    print(f"{total} cases by {len(a.engines.split(','))} engines, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
