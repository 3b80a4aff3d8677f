# ===- expansion_cases.py - Texts of windows that select and combine ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The cases of expansions.py that have windows, and what all cases are made of."""

import dataclasses
import itertools
from typing import Optional

import ml_dtypes
import numpy as np

DTYPES = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
          "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "i1": np.bool_}
FLOATS = ["f64", "f32", "bf16", "f16"]


@dataclasses.dataclass
class Case:
    """`text` makes {r}0, {r}1, .. of {a}0, {a}1, ..: names that are put in. `operands`
    are arrays, with their element types in `elements`; `results` are the types. `ulps`
    of the result's type, times the greatest element of the result or `least`, what the
    terms of its sums are; 0: equal to the bit. `expected`, where it is given, stands for
    what XLA makes of the text; `for_xla` is the same in ops that XLA has."""

    name: str
    text: str
    operands: list
    elements: list
    results: list
    ulps: float = 0
    least: float = 1e-3
    expected: Optional[list] = None
    for_xla: Optional[str] = None


def tensor(shape, element):
    return "tensor<" + "x".join([*map(str, shape), element]) + ">"


def types_of(arrays, elements):
    return [tensor(a.shape, e) for a, e in zip(arrays, elements)]


def array_attribute(values):
    values = list(values)
    return "array<i64" + (": " if values else "") + ", ".join(map(str, values)) + ">"


def ties(g, shape, element, special=True):
    """Few different numbers; of floats NaN, infinities and zeros of both signs too."""
    dtype = DTYPES[element]
    if element == "i1":
        return g.integers(0, 2, shape).astype(bool)
    low = 0 if element.startswith("ui") else -3
    x = g.integers(low, 4, shape).astype(np.float64)
    if special and element in FLOATS:
        odd = g.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5], shape)
        x = np.where(g.integers(0, 4, shape) == 0, odd, x)
    return x.astype(dtype)


def numbers(g, shape, element):
    return g.standard_normal(shape).astype(DTYPES[element])


# ===----------------------------------------------------------------------=== #
# Windows
# ===----------------------------------------------------------------------=== #


def draw_window(g, most):
    """Shape, window, strides, padding, places; `most` has the greatest size by rank."""
    while True:
        rank = int(g.choice(list(most)))
        shape = [int(g.integers(1, most[rank] + 1)) for _ in range(rank)]
        window = [int(g.integers(1, min(n, 4) + 1)) if g.random() < 0.8 else n for n in shape]
        strides = [int(g.choice([1, 1, 2, 3])) for _ in range(rank)]
        padding = [(int(g.integers(-1, 3)), int(g.integers(-1, 3))) if g.random() < 0.5 else (0, 0)
                   for _ in range(rank)]
        places = [(n + low + high - w) // s + 1 if n + low + high >= w else 0
                  for n, w, s, (low, high) in zip(shape, window, strides, padding)]
        # Where a window sees padding alone the language leaves the selection open.
        inside = all(max(i * s - low, 0) < min(i * s - low + w, n)
                     for n, w, s, (low, _), p in zip(shape, window, strides, padding, places) for i in range(p))
        if inside and min(places, default=1) > 0:
            return shape, window, strides, padding, places


def window_attributes(window, strides, padding):
    rank = len(window)
    edges = "[" + ", ".join(f"[{low}, {high}]" for low, high in padding) + "]" if rank else ""
    return (f"padding = dense<{edges}> : tensor<{rank}x2xi64>, window_dimensions = {array_attribute(window)}, "
            f"window_strides = {array_attribute(strides)}")


# Selections of (%p, %q); the last ones are no comparisons of both.
SELECTIONS = {
    "GE": ["%h = stablehlo.compare GE, %p, %q : ({S}, {S}) -> tensor<i1>"],
    "GT": ["%h = stablehlo.compare GT, %p, %q : ({S}, {S}) -> tensor<i1>"],
    "LE": ["%h = stablehlo.compare LE, %p, %q : ({S}, {S}) -> tensor<i1>"],
    "LT": ["%h = stablehlo.compare LT, %p, %q : ({S}, {S}) -> tensor<i1>"],
    "swapped": ["%h = stablehlo.compare LE, %q, %p : ({S}, {S}) -> tensor<i1>"],
    "not": ["%l = stablehlo.compare LT, %p, %q : ({S}, {S}) -> tensor<i1>", "%h = stablehlo.not %l : tensor<i1>"],
    "squares": ["%s = stablehlo.multiply %p, %p : {S}", "%t = stablehlo.multiply %q, %q : {S}",
                "%h = stablehlo.compare GE, %s, %t : ({S}, {S}) -> tensor<i1>"],
    "always": ["%h = stablehlo.compare EQ, %p, %p : ({S}, {S}) -> tensor<i1>"],
    "total": ["%h = stablehlo.compare GE, %p, %q, TOTALORDER : ({S}, {S}) -> tensor<i1>"],
}
SCATTERS = {
    "add": ["%v = stablehlo.add %p, %q : {S}"],
    "max": ["%v = stablehlo.maximum %p, %q : {S}"],
    "last": ["%v = stablehlo.maximum %q, %q : {S}"],
    "mixed": ["%w = stablehlo.add %p, %p : {S}", "%v = stablehlo.add %w, %q : {S}"],
}


def body(lines, value, scalar):
    inner = "\n".join("    " + line.format(S=scalar) for line in lines)
    kind = "tensor<i1>" if value == "%h" else scalar
    return f"({{\n  ^bb0(%p: {scalar}, %q: {scalar}):\n{inner}\n    stablehlo.return {value} : {kind}\n  }}"


def bits(x):
    """Floats in total order."""
    width = x.dtype.itemsize * 8
    pattern = int(x.view(f"u{x.dtype.itemsize}"))
    return -(pattern - (1 << (width - 1))) - 1 if pattern >> (width - 1) else pattern


STAYS = {"GE": lambda p, q: p >= q, "GT": lambda p, q: p > q, "LE": lambda p, q: p <= q, "LT": lambda p, q: p < q,
         "swapped": lambda p, q: q <= p, "not": lambda p, q: not p < q, "squares": lambda p, q: p * p >= q * q,
         "always": lambda p, q: p == p, "total": lambda p, q: bits(p) >= bits(q)}
COMBINED = {"add": lambda p, q: p + q, "max": np.maximum, "last": lambda p, q: q, "mixed": lambda p, q: p + p + q}


def define_selection(x, source, init, window, strides, padding, stays, combine):
    """select_and_scatter by its definition, one element after another in row-major order.
    XLA's walk over a window on processors is at times another one, which ties and NaN show."""
    result = np.broadcast_to(init, x.shape).copy()
    with np.errstate(all="ignore"):
        for place in np.ndindex(*source.shape):
            chosen = None
            for offset in itertools.product(*map(range, window)):
                at = tuple(p * s + o - low for p, s, o, (low, _) in zip(place, strides, offset, padding))
                if all(0 <= i < n for i, n in zip(at, x.shape)) and (chosen is None or not stays(x[chosen], x[at])):
                    chosen = at
            result[chosen] = combine(result[chosen], source[place])
    return result


def selection(g, number, element):
    shape, window, strides, padding, places = draw_window(g, {1: 16, 2: 7, 3: 4})  # XLA aborts at rank 0
    select = str(g.choice([s for s in SELECTIONS if s != "total" or element in FLOATS]))
    scatter = str(g.choice(["add", "add", *SCATTERS]))
    tied = number % 2 == 0 or element not in FLOATS or select in ("total", "always")
    x = ties(g, shape, element) if tied else numbers(g, shape, element)
    source = numbers(g, places, element) if element in FLOATS else ties(g, places, element)
    init = np.asarray(g.choice([0.0, 0.0, 3.0])).astype(DTYPES[element])
    scalar = f"tensor<{element}>"
    operands = [x, source, init]
    types = types_of(operands, [element] * 3)
    text = (f'%{{r}}0 = "stablehlo.select_and_scatter"(%{{a}}0, %{{a}}1, %{{a}}2) <{{{{'
            f"{window_attributes(window, strides, padding)}}}}}> "
            + body(SELECTIONS[select], "%h", scalar).replace("{", "{{").replace("}", "}}") + ", {{"
            + body(SCATTERS[scatter], "%v", scalar)[2:].replace("{", "{{").replace("}", "}}")
            + f") : ({', '.join(types)}) -> {types[0]}")
    narrow = element in ("bf16", "f16") and scatter in ("add", "mixed")
    wide = [a.astype(np.float32) if narrow else a for a in operands[1:]]
    expected = define_selection(x, *wide, window, strides, padding, STAYS[select], COMBINED[scatter])
    return Case(f"select_and_scatter_{number}_{select}_{scatter}", text, operands, [element] * 3, [types[0]],
                ulps=4 if narrow else 0, expected=[expected.astype(x.dtype)] if tied else None)


# Bodies of windows of several inputs or ops: (inputs, ops, values, initial values).
BODIES = {
    "argmax": (2, ["%h = stablehlo.compare GE, %p0, %q0 : ({S0}, {S0}) -> tensor<i1>",
                   "%v0 = stablehlo.select %h, %p0, %q0 : tensor<i1>, {S0}",
                   "%v1 = stablehlo.select %h, %p1, %q1 : tensor<i1>, {S1}"], [-np.inf, -1]),
    "extremes": (2, ["%v0 = stablehlo.maximum %p0, %q0 : {S0}", "%n = stablehlo.negate %p1 : {S1}",
                     "%m = stablehlo.negate %q1 : {S1}", "%x = stablehlo.maximum %n, %m : {S1}",
                     "%v1 = stablehlo.negate %x : {S1}"], [-np.inf, np.inf]),
    "affine": (2, ["%v0 = stablehlo.multiply %p0, %q0 : {S0}", "%c = stablehlo.multiply %p1, %q0 : {S1}",
                   "%v1 = stablehlo.add %c, %q1 : {S1}"], [1, 0]),
    "logaddexp": (1, ["%m = stablehlo.maximum %p0, %q0 : {S0}", "%d = stablehlo.subtract %p0, %q0 : {S0}",
                      "%n = stablehlo.compare NE, %d, %d : ({S0}, {S0}) -> tensor<i1>",
                      "%s = stablehlo.add %p0, %q0 : {S0}", "%a = stablehlo.abs %d : {S0}",
                      "%e = stablehlo.negate %a : {S0}", "%x = stablehlo.exponential %e : {S0}",
                      "%l = stablehlo.log_plus_one %x : {S0}", "%b = stablehlo.add %m, %l : {S0}",
                      "%v0 = stablehlo.select %n, %s, %b : tensor<i1>, {S0}"], [-np.inf]),
}


def window_body(g, number, element):
    shape, window, strides, padding, places = draw_window(g, {0: 1, 1: 20, 2: 7, 3: 4})
    kind = str(g.choice(list(BODIES) if element in FLOATS else ["affine"]))
    if g.random() < 0.3 and shape:  # all elements up to each, or from each on
        window, strides, places = [shape[0]] + [1] * (len(shape) - 1), [1] * len(shape), shape
        edge = (shape[0] - 1, 0) if g.random() < 0.5 else (0, shape[0] - 1)
        padding = [edge] + [(0, 0)] * (len(shape) - 1)
    count, ops, starts = BODIES[kind]
    second = "i32" if kind == "argmax" else element
    elements = [element, second][:count]
    if kind == "argmax":
        inputs = [ties(g, shape, element), np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)]
        # XLA walks from one element to the next: NaN is a matter of the order. And it leaves out
        # the initial value, which would be the first of equal ones.
        wide = inputs[0].astype(np.float64)
        inputs[0] = np.where(np.isnan(wide) | np.isneginf(wide), 0, inputs[0]).astype(DTYPES[element])
    else:
        inputs = [ties(g, shape, e, special=kind in ("logaddexp", "extremes")) for e in elements]
    if kind == "affine" and (sum(w > 1 for w in window) > 1 or max(window, default=1) > 16):
        return window_body(g, number, element)  # not commutative: XLA's order is its own
    inits = [np.asarray(s).astype(DTYPES[e]) for s, e in zip(starts, elements)]
    scalars = {f"S{i}": f"tensor<{e}>" for i, e in enumerate(elements)}
    arguments = ", ".join(f"%{s}{i}: tensor<{e}>" for s in "pq" for i, e in enumerate(elements))
    inner = "\n".join("    " + op.format(**scalars) for op in ops)
    values = ", ".join(f"%v{i}" for i in range(count))
    operands, types = inputs + inits, types_of(inputs + inits, elements * 2)
    results = [tensor(places, e) for e in elements]
    region = (f"({{\n  ^bb0({arguments}):\n{inner}\n    stablehlo.return {values} : "
              f"{', '.join(scalars.values())}\n  }})").replace("{", "{{").replace("}", "}}")
    named = ", ".join(f"%{{r}}{i}" for i in range(count))
    text = (f'{{many}} = "stablehlo.reduce_window"({", ".join(f"%{{a}}{i}" for i in range(2 * count))}) <{{{{'
            f"{window_attributes(window, strides, padding)}}}}}> {region} : ({', '.join(types)}) -> "
            f"({', '.join(results)})").replace("{many}", named)
    ulps = {"logaddexp": 16, "affine": 1e3 if element in FLOATS else 0}.get(kind, 0)
    return Case(f"window_{number}_{kind}", text, operands, elements * 2, results, ulps)
