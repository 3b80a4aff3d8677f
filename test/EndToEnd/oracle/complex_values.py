# ===- complex_values.py - Functions of complex numbers against NumPy --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compares each function of complex numbers with NumPy, by the interpreter and by kernels: at random numbers, at both
sides of the branch cuts (zeros of both signs), near 0 and 1, and where a square overflows or vanishes.

    python complex_values.py --llmc llmc -o out
"""

import argparse
import itertools
import pathlib
import subprocess
import sys

import numpy as np

DTYPES = {"f64": np.float64, "f32": np.float32}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3e-5, -1e-9]
# Far apart: their squares overflow, or vanish. exp, sin and tan do not take them.
FAR = {"f64": [1e200, -3e180, 2e-200, -1e-170], "f32": [1e30, -3e25, 2e-30, -1e-25]}


def unary(name, function, far=False, ulps=16):
    return name, f"stablehlo.{name} %x : {{Z}}", lambda x, y: function(x), far, ulps


def binary(name, function, far=False, ulps=16):
    return name, f"stablehlo.{name} %x, %y : {{Z}}", function, far, ulps


def chlo(name, function, ulps=16):
    return name, f"chlo.{name} %x : {{Z}} -> {{Z}}", lambda x, y: function(x), False, ulps


def cube_root(x):
    return np.where(x == 0, 0, np.cbrt(np.abs(x)) * np.exp(1j * np.angle(x) / 3))


def sign(x):
    return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))


def log1p(x):
    """NumPy's loses digits of the real part."""
    a, b = x.real.astype(np.longdouble), x.imag.astype(np.longdouble)
    excess = a * (2 + a) + b * b
    real = np.where(np.abs(excess) < 0.5, np.log1p(excess) / 2, np.log(np.hypot(1 + a, b)))
    return (real + 1j * np.arctan2(b, 1 + a)).astype(x.dtype)


def power(x, y):
    """NumPy's loses digits."""
    root = np.log(np.where(x == 0, 1, x).astype(np.clongdouble))
    value = np.exp(y.astype(np.clongdouble) * root)
    none = np.where(y == 0, 1, np.where(y.real > 0, 0, np.nan * (1 + 1j)))
    return np.where(x == 0, none, value).astype(x.dtype)


# Name, text, NumPy's function, whether the far numbers are asked for, units in the last place of the absolute value.
CASES = [
    binary("add", np.add, True, 0), binary("subtract", np.subtract, True, 0), binary("multiply", np.multiply),
    binary("divide", np.divide, True), binary("power", power, ulps=64),
    ("abs", "stablehlo.abs %x : ({Z}) -> {T}", lambda x, y: np.abs(x), True, 2),
    ("real", "stablehlo.real %x : ({Z}) -> {T}", lambda x, y: x.real, True, 0),
    ("imag", "stablehlo.imag %x : ({Z}) -> {T}", lambda x, y: x.imag, True, 0),
    unary("negate", np.negative, True, 0), unary("sign", sign, True), unary("sqrt", np.sqrt, True),
    unary("rsqrt", lambda x: 1 / np.sqrt(x)), unary("cbrt", cube_root), unary("log", np.log, True),
    unary("log_plus_one", log1p), unary("exponential", np.exp), unary("exponential_minus_one", np.expm1),
    unary("sine", np.sin), unary("cosine", np.cos), unary("tan", np.tan), unary("tanh", np.tanh),
    chlo("sinh", np.sinh), chlo("cosh", np.cosh), chlo("square", np.square),
    chlo("asin", np.arcsin), chlo("acos", np.arccos), chlo("atan", np.arctan),
    chlo("asinh", np.arcsinh), chlo("acosh", np.arccosh), chlo("atanh", np.arctanh),
    unary("logistic", lambda x: 1 / (1 + np.exp(-x)), ulps=64),
]


def numbers(element, far):
    random = np.random.default_rng(5)
    parts = EDGES + (FAR[element] if far else [])
    grid = [complex(a, b) for a, b in itertools.product(parts, parts)]
    drawn = random.normal(size=64) * 3 + 1j * random.normal(size=64) * 3
    x = np.concatenate([grid, drawn]).astype(np.complex128 if element == "f64" else np.complex64)
    return x, np.roll(x, 29)


def constant(name, array, element):
    return f'  %{name} = stablehlo.constant dense<"0x{array.tobytes().hex().upper()}"> : tensor<{array.size}x{element}>'


def write(element, cases, x, y):
    n = x.size
    lines, results = [], []
    for name, z in ("x", x), ("y", y):
        lines += [constant(f"{name}_a", z.real.copy(), element), constant(f"{name}_b", z.imag.copy(), element)]
        kept = f"tensor<{n}x{element}>"
        lines.append(f"  %{name}_r, %{name}_i = stablehlo.optimization_barrier %{name}_a, %{name}_b : {kept}, {kept}")
        lines.append(f"  %{name} = stablehlo.complex %{name}_r, %{name}_i : tensor<{n}xcomplex<{element}>>")
    types = {"Z": f"tensor<{n}xcomplex<{element}>>", "T": f"tensor<{n}x{element}>"}
    for name, text, *_ in cases:
        lines.append(f"  %r_{name} = " + text.format(**types))
        parts = [name] if text.endswith("{T}") else [f"{name}_real", f"{name}_imag"]
        if len(parts) == 2:
            for part in ("real", "imag"):
                lines.append(f"  %r_{name}_{part} = stablehlo.{part} %r_{name} : ({types['Z']}) -> {types['T']}")
        results += parts
    names = ", ".join(f"%r_{part}" for part in results)
    shown = ", ".join(f'{types["T"]} {{jax.result_info = "result.r_{part}"}}' for part in results)
    body = "\n".join(lines)
    return (f"module @values {{\nfunc.func public @main() -> ({shown}) {{\n{body}\n"
            f"  return {names} : {', '.join([types['T']] * len(results))}\n}}\n}}\n")


def run(a, engine, folder):
    source, dump = [folder / "model.mlir", "--config", folder / "model.toml"], folder / engine
    command = [a.llmc, engine, *source, "--entry", "forward", "--dump", dump]
    command += ["--steps", 1, "--fetch", "*"] if engine == "train" else []
    done = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"FAILED {engine}: {done.stderr[-3000:]}")
    return dump


def read(dump, name):
    parts = [dump / f"r_{name}_{part}.npy" for part in ("real", "imag")]
    if not parts[0].exists():
        return np.load(dump / f"r_{name}.npy")
    result = np.empty(np.load(parts[0]).shape, np.complex128)
    result.real, result.imag = (np.load(part) for part in parts)
    return result


def same_side(actual, expected):
    """Zeros have the same sign, and what is NaN or infinite is so in both."""
    is_open = np.isnan(expected)
    zeros = (actual == 0) & (expected == 0) & (np.signbit(actual) != np.signbit(expected))
    return is_open | ~zeros


def judge(name, element, engine, actual, expected, x, y, ulps):
    eps, tiny = np.finfo(DTYPES[element]).eps, np.finfo(DTYPES[element]).tiny
    with np.errstate(all="ignore"):
        apart = np.abs(actual.astype(np.complex128) - expected.astype(np.complex128))
        close = apart <= ulps * eps * np.abs(expected.astype(np.complex128)) + 4 * tiny
    finite = np.isfinite(expected)
    # Where NumPy has no finite number ours may be another that is not finite.
    wrong = np.where(finite, ~close, np.isfinite(actual))
    if name in ("sqrt", "log", "negate"):
        for part in ("real", "imag"):
            wrong |= finite & ~same_side(getattr(actual, part), getattr(expected, part))
    for at in np.flatnonzero(wrong)[:4]:
        print(f"FAILED {engine} {name} of {element} at {x[at]}, {y[at]}: {actual[at]}, numpy {expected[at]}")
    return wrong.any()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    compared = failed = 0
    for element, far in itertools.product(DTYPES, (False, True)):
        cases = [c for c in CASES if c[3] or not far]
        x, y = numbers(element, far)
        folder = a.output / f"{element}-{'far' if far else 'near'}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(write(element, cases, x, y), encoding="utf-8")
        (folder / "model.toml").write_text("", encoding="utf-8")
        for engine in ("interpret", "train"):
            dump = run(a, engine, folder)
            for name, _, function, _, ulps in cases:
                with np.errstate(all="ignore"):
                    wide = function(x.astype(np.complex128), y.astype(np.complex128))
                    expected = wide.astype(np.complex64 if element == "f32" else np.complex128)
                failed += judge(name, element, engine, read(dump, name), expected, x, y, ulps)
                compared += 1
    print(f"{compared} functions, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
