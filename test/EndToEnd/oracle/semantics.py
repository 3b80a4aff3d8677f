# ===- semantics.py - Values of ops against XLA --------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs one text by XLA, by the interpreter and by kernels, and compares each element.

The text has a function for each element type, with every element-wise op on edge
values and on random ones: operands are constants behind an optimization_barrier, so
that nobody computes them beforehand. Integers, and floats of ops that round once, are
equal to the bit (a NaN equals a NaN); other functions to `ulps` units in the last place
of the result. Where the language leaves the value open, or XLA is known to lose digits,
a case says so by `open`.

    python semantics.py --llmc llmc -o out
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
from typing import Callable, Optional

import quick_xla

quick_xla.ask(quick_xla.EIGHT_BITS)

import jax
import ml_dtypes
import numpy as np
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)

DTYPES = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
          "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "i1": np.bool_,
          "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
          "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
          "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4}
FLOATS, NARROW = ["f64", "f32"], ["bf16", "f16"]
SIGNED = ["i8", "i16", "i32", "i64"]
INTEGERS = SIGNED + ["ui8", "ui16", "ui32", "ui64"]
SMALL, FOUR = [t for t in DTYPES if t.startswith("f8")], ["i4", "ui4"]


@dataclasses.dataclass
class Case:
    """`text` of one op on %x, %y and %p (i1), with {T} for their type and {B} for i1 of
    their shape. `open(x, y)` is where no value is asked for; `ulps` 0: equal to the bit."""

    name: str
    text: str
    types: list
    result: Optional[str] = None  # element type; null: that of the operands
    ulps: float = 0
    open: Optional[Callable] = None
    parts: Optional[int] = None  # a new last dimension


CASES = []


def unary(names, types, ulps=0, dialect="stablehlo", open=None):
    for name in names.split():
        arrow = " -> {T}" if dialect == "chlo" else ""
        CASES.append(Case(name, f"{dialect}.{name} %x : {{T}}{arrow}", types, ulps=ulps, open=open))


def binary(names, types, ulps=0, dialect="stablehlo", open=None):
    for name in names.split():
        types_of = "{T}, {T} -> {T}" if dialect == "chlo" else "{T}"
        CASES.append(Case(name, f"{dialect}.{name} %x, %y : {types_of}", types, ulps=ulps, open=open))


ALL = FLOATS + NARROW
unary("abs negate sign", ALL + SIGNED)
unary("ceil floor round_nearest_even round_nearest_afz", ALL)
unary("sqrt", FLOATS, 1)
unary("cbrt cosine sine exponential exponential_minus_one log log_plus_one logistic rsqrt tanh", FLOATS, 8)
unary("tan", FLOATS, 8, open=lambda x, y: np.abs(x) > 1e6)
unary("not popcnt count_leading_zeros", INTEGERS)
unary("not", ["i1"])
unary("acos acosh asin asinh atan atanh cosh sinh erf erfc", FLOATS, 64, "chlo")
unary("bessel_i1e", FLOATS, 64, "chlo")
unary("erf_inv", FLOATS, 32, "chlo")
unary("lgamma digamma", FLOATS, 1e4, "chlo",
      open=lambda x, y: ((x < 0) & (x > -2)) | (x == 1) | (x == 2))
binary("polygamma", FLOATS, 1e5, "chlo", open=lambda n, x: (n > 20) | (x <= 0) | np.isposinf(x))
unary("square", FLOATS, 0, "chlo")
binary("add subtract multiply maximum minimum", ALL + INTEGERS + ["i1"][:0])
binary("add multiply maximum minimum and or xor", ["i1"])
binary("divide remainder", FLOATS)
binary("divide remainder", INTEGERS, open=lambda x, y: (y == 0) | ((y == -1) & (x < 0)))
binary("power", FLOATS, 64)
binary("atan2", FLOATS, 8)
binary("and or xor shift_left shift_right_logical shift_right_arithmetic", INTEGERS)
binary("mulhi", ["i32", "ui32", "i64", "ui64"], 0, "chlo")
binary("next_after", FLOATS, 0, "chlo")
for direction in "EQ NE GE GT LE LT".split():
    CASES.append(Case(f"compare {direction}", f"stablehlo.compare {direction}, %x, %y : ({{T}}, {{T}}) -> {{B}}",
                      ALL + INTEGERS, "i1"))
    CASES.append(Case(f"compare {direction} in total order",
                      f"stablehlo.compare {direction}, %x, %y, TOTALORDER : ({{T}}, {{T}}) -> {{B}}", ALL, "i1"))
CASES.append(Case("is_finite", "stablehlo.is_finite %x : ({T}) -> {B}", ALL, "i1"))
CASES.append(Case("select", "stablehlo.select %p, %x, %y : {B}, {T}", ALL + INTEGERS))
CASES.append(Case("clamp", "stablehlo.clamp %y, %x, %y : {T}", ALL + INTEGERS,
                  open=lambda x, y: (x == 0) & (y == 0)))
for kept in "e8m23 e8m7 e8m0 e5m10 e5m2 e4m3 e2m1 e11m52".split():
    CASES.append(Case(f"reduce_precision {kept}", f"stablehlo.reduce_precision %x, format = {kept} : {{T}}", ALL))


def open_conversion(to):
    """A float that does not fit in an integer has no value."""
    if DTYPES[to] == np.bool_ or to in ALL + SMALL:
        return None
    info = ml_dtypes.iinfo(DTYPES[to])
    return lambda x, y: ~((x > float(info.min) - 1) & (x < float(info.max) + 1) & np.isfinite(x))


for to in ALL + INTEGERS + ["i1"]:
    CASES.append(Case(f"convert to {to}", f"stablehlo.convert %x : ({{T}}) -> {{R}}", ALL, to, open=open_conversion(to)))
    CASES.append(Case(f"convert to {to}", f"stablehlo.convert %x : ({{T}}) -> {{R}}", INTEGERS + ["i1"], to))
# Types that numbers are stored in: what is computed in them is computed in wider ones and rounded.
for to in SMALL + FOUR:
    CASES.append(Case(f"convert to {to}", "stablehlo.convert %x : ({T}) -> {R}", ALL + SMALL, to, open=open_conversion(to)))
    CASES.append(Case(f"convert to {to}", "stablehlo.convert %x : ({T}) -> {R}", INTEGERS + ["i1"] + FOUR, to))
for to in ALL + INTEGERS + ["i1"]:
    CASES.append(Case(f"convert to {to}", "stablehlo.convert %x : ({T}) -> {R}", SMALL, to, open=open_conversion(to)))
    CASES.append(Case(f"convert to {to}", "stablehlo.convert %x : ({T}) -> {R}", FOUR, to))
binary("add subtract multiply maximum minimum", SMALL + FOUR)
unary("negate abs", SMALL)
for direction in ("EQ", "LT"):
    CASES.append(Case(f"compare {direction}", f"stablehlo.compare {direction}, %x, %y : ({{T}}, {{T}}) -> {{B}}", SMALL + FOUR, "i1"))
CASES.append(Case("select", "stablehlo.select %p, %x, %y : {B}, {T}", SMALL + FOUR))
for to, width in (("ui8", 8), ("i16", 16), ("ui32", 32), ("ui64", 64)):
    for bits in (8, 16, 32, 64):
        if bits >= width:
            types = [t for t in ALL + INTEGERS if np.dtype(DTYPES[t]).itemsize * 8 == bits]
            CASES.append(Case(f"bitcast_convert to {to}", "stablehlo.bitcast_convert %x : ({T}) -> {R}", types, to,
                              parts=bits // width if bits > width else None))


def edge_values(name, random):
    """Numbers at which ops change their mind, and some drawn ones."""
    dtype = DTYPES[name]
    if name == "i1":
        return np.array([False, True])
    if name in FOUR:
        return np.arange(16).astype(dtype) if name == "ui4" else np.arange(-8, 8).astype(dtype)
    if name in SMALL:
        return np.arange(0, 256, 5, dtype=np.uint8).view(dtype)
    if name in INTEGERS:
        info, width = np.iinfo(dtype), np.iinfo(dtype).bits
        values = [0, 1, 2, 3, 7, width - 1, width, width + 1, info.max, info.max - 1, info.min, info.min + 1]
        values += [] if info.min == 0 else [-1, -2, -7, -width]
        drawn = random.integers(info.min, info.max, 4, dtype=dtype, endpoint=True)
        return np.concatenate([np.array(values, dtype), drawn])
    info = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.49, 1e-3, 10.0, 88.0, -88.0, 100.0, 300.0,
              -3e4, float(info.max), float(info.min), float(info.smallest_normal), np.inf, -np.inf, np.nan]
    # Beside and between floats of eight bits, also the least and the largest ones.
    values += [448, 464, 465, -248, 30, 31, 57344, 61440, 61441, -(2.0**-10), 2.0**-11, 3 * 2.0**-11, 2.0**-17, 1.0625, -1.1875]
    values = np.concatenate([np.array(values).astype(dtype), random.normal(size=4).astype(dtype)])
    return np.concatenate([values, [np.nextafter(np.asarray(0.5, dtype), np.asarray(0, dtype))]]).astype(dtype)


def tensor(shape, element):
    return "tensor<" + "x".join([*map(str, shape), element]) + ">"


def constant(name, array, element):
    if element == "i1":
        shown = str(array.tolist()).lower()
    else:
        shown = '"0x' + array.tobytes().hex().upper() + '"'
    return f"  %{name}_c = stablehlo.constant dense<{shown}> : {tensor(array.shape, element)}"


def write_module(element, cases, x, y, p):
    """The text, and the type of each result."""
    lines = [constant("x", x, element), constant("y", y, element), constant("p", p, "i1")]
    own, boolean = tensor(x.shape, element), tensor(x.shape, "i1")
    lines.append(f"  %x, %y, %p = stablehlo.optimization_barrier %x_c, %y_c, %p_c : {own}, {own}, {boolean}")
    results = []
    for i, case in enumerate(cases):
        shape = x.shape + ((case.parts,) if case.parts else ())
        results.append(tensor(shape, case.result or element))
        lines.append(f"  %r{i} = " + case.text.format(T=own, B=boolean, R=results[-1]))
    names = ", ".join(f"%r{i}" for i in range(len(cases)))
    types = ", ".join(f'{t} {{jax.result_info = "result.r{i}"}}' for i, t in enumerate(results))
    body = "\n".join(lines)
    return (f"module @semantics {{\nfunc.func public @main() -> ({types}) {{\n{body}\n"
            f"  return {names} : {', '.join(results)}\n}}\n}}\n")


def run_xla(text):
    device = jax.local_devices()[0]
    program = device.client.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return [np.asarray(a) for a in program.execute([])]


def run(*command):
    process = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"FAILED {command[:2]}: {process.stderr[-3000:]}")


def run_llmc(a, engine, folder, count):
    source = [folder / "model.mlir", "--config", folder / "model.toml"]
    dump = folder / engine
    if engine == "interpreted":
        run(a.llmc, "interpret", *source, "--entry", "forward", "--dump", dump)
    else:
        run(a.llmc, "train", *source, "--entry", "forward", "--steps", 1, "--fetch", "*", "--dump", dump)
    return [np.load(dump / f"r{i}.npy") for i in range(count)]


def as_stored(array, element):
    """numpy has no bf16: it is dumped as f32, or as the bits."""
    dtype = np.dtype(DTYPES[element])
    is_bits = array.dtype.itemsize == dtype.itemsize and element not in FOUR
    return array.view(dtype) if is_bits else array.astype(dtype)


def flush(array):
    """XLA flushes subnormal numbers to zeros of their sign, on processors too; not those of eight bits."""
    if array.dtype.kind in "biu" or array.dtype.itemsize == 1:
        return array
    with np.errstate(all="ignore"):
        tiny = np.abs(array) < ml_dtypes.finfo(array.dtype).smallest_normal
    return np.where(tiny, np.copysign(array.dtype.type(0), array), array).astype(array.dtype)


def differences(case, actual, expected, x, y):
    if actual.dtype.kind in "biu":
        wrong = actual != expected
    else:
        actual, expected = flush(actual), flush(expected)
        bits = f"u{actual.dtype.itemsize}"
        same = actual.view(bits) == expected.view(bits)
        both = np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64))
        wide, reference = actual.astype(np.float64), expected.astype(np.float64)
        with np.errstate(all="ignore"):
            info = ml_dtypes.finfo(actual.dtype)
            bound = case.ulps * float(info.eps) * np.abs(reference) + (4 * float(info.tiny) if case.ulps else 0)
            near = (np.abs(wide - reference) <= bound) if case.ulps else np.zeros_like(same)
        wrong = ~(same | both | near)
    if case.open is not None:
        with np.errstate(all="ignore"):
            free = case.open(x.astype(np.float64) if x.dtype.kind not in "biu" else x, y)
        wrong &= ~np.broadcast_to(free, wrong.shape)
    return wrong


def judge(case, element, engine, actual, expected, x, y):
    wrong = differences(case, actual, expected, x, y)
    if not wrong.any():
        return True
    shown = [f"({x[at[:1]]}, {y[at[:1]]}): {actual[at]}, xla {expected[at]}" for at in map(tuple, np.argwhere(wrong)[:4])]
    print(f"FAILED {engine} {case.name} of {element}: {wrong.sum()} of {wrong.size} differ:", "; ".join(shown))
    return False


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kernels", default=",".join(DTYPES), help="element types by kernels too")
    a = p.parse_args()
    random = np.random.default_rng(a.seed)
    compared = failed = values = 0
    for element in DTYPES:
        cases = [case for case in CASES if element in case.types]
        grid = edge_values(element, random)
        x, y = (v.ravel().copy() for v in np.meshgrid(grid, grid, indexing="ij"))
        condition = random.integers(0, 2, x.shape).astype(bool)
        folder = a.output / element
        folder.mkdir(parents=True, exist_ok=True)
        text = write_module(element, cases, x, y, condition)
        (folder / "model.mlir").write_text(text, encoding="utf-8")
        (folder / "model.toml").write_text("", encoding="utf-8")
        expected = run_xla(text)
        for engine in ("interpreted", "kernels") if element in a.kernels.split(",") else ("interpreted",):
            actual = run_llmc(a, engine, folder, len(cases))
            for case, one, other in zip(cases, actual, expected):
                one = as_stored(one, case.result or element)
                if (case.result or element) in FOUR:
                    one, other = one.astype(np.int8), other.astype(np.int8)
                failed += not judge(case, element, engine, one, other, x, y)
                compared, values = compared + 1, values + one.size
    print(f"{compared} ops of {len(DTYPES)} element types, {values} values, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
