# ===- expansion_cases.py - Texts of ops that are written with others ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The cases of expansions.py, drawn from a generator of random numbers."""

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
    what XLA makes of the text."""

    name: str
    text: str
    operands: list
    elements: list
    results: list
    ulps: float = 0
    least: float = 1e-3
    expected: Optional[list] = None


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


# ===----------------------------------------------------------------------=== #
# Batch normalization
# ===----------------------------------------------------------------------=== #


def norms(g, number, element, kind):
    rank = int(g.integers(1, 5))
    shape = [int(g.integers(1, 6)) for _ in range(rank)]
    feature = int(g.integers(0, rank))
    x, like = numbers(g, shape, element), (lambda: numbers(g, shape[feature:feature + 1], element))
    variance = np.abs(numbers(g, shape[feature:feature + 1], np.dtype(DTYPES["f64"]) and "f64")).astype(DTYPES[element])
    if g.random() < 0.2 and element in ("f64", "f32"):
        x = np.broadcast_to(x.flat[0], shape).copy()  # no variance
    operands = {"training": [x, like(), like()], "inference": [x, like(), like(), like(), variance],
                "grad": [x, like(), like(), variance, numbers(g, shape, element)]}[kind]
    types = types_of(operands, [element] * len(operands))
    each = tensor(shape[feature:feature + 1], element)
    results = [types[0]] if kind == "inference" else [types[0], each, each]
    epsilon = g.choice(["1.000000e-03", "1.000000e-05", "5.000000e-01"])
    text = (f"{', '.join(f'%{{r}}{i}' for i in range(len(results)))} = "
            f'"stablehlo.batch_norm_{kind}"({", ".join(f"%{{a}}{i}" for i in range(len(operands)))}) '
            f"<{{{{epsilon = {epsilon} : f32, feature_index = {feature} : i64}}}}> : "
            f"({', '.join(types)}) -> ({', '.join(results)})")
    # Narrow floats are rounded once by us. Without a variance all is rounding, over the root of epsilon.
    most = float(np.abs(x.astype(np.float64)).max())
    least = most**2 + (most / float(epsilon) ** 0.5 if np.ptp(x.astype(np.float64)) == 0 else 0)
    return Case(f"batch_norm_{kind}_{number}", text, operands, [element] * len(operands), results,
                ulps=64 if element in ("f64", "f32") else 16, least=least)


# ===----------------------------------------------------------------------=== #
# Other forms
# ===----------------------------------------------------------------------=== #


def dots(g, number, element):
    left, right = int(g.integers(1, 3)), int(g.integers(1, 3))
    m, k, n = (int(g.integers(0, 6)) for _ in range(3))
    x = numbers(g, [m, k][2 - left:], element) if element in FLOATS else ties(g, [m, k][2 - left:], element)
    w = numbers(g, [k, n][:right], element) if element in FLOATS else ties(g, [k, n][:right], element)
    result = tensor([m][:left - 1] + [n][:right - 1], element)
    types = types_of([x, w], [element] * 2)
    text = f"%{{r}}0 = stablehlo.dot %{{a}}0, %{{a}}1 : ({', '.join(types)}) -> {result}"
    return Case(f"dot_{number}", text, [x, w], [element] * 2, [result], ulps=8, least=5.0)


def ragged_dots(g, number, element):
    """By definition: XLA has none on processors."""
    groups, m, k, n, b = (int(g.integers(1, 5)) for _ in range(5))
    kind = str(g.choice(["free", "contracted", "batch"]))
    along = {"free": m, "contracted": k, "batch": b}[kind]
    sizes = g.multinomial(int(g.integers(0, along + 1)), [1 / groups] * groups).astype(np.int32)
    x, w = numbers(g, [b, m, k], "f64"), numbers(g, [groups, b, k, n] if kind == "free" else [b, k, n], "f64")
    if element not in FLOATS:
        x, w = np.trunc(4 * x), np.trunc(4 * w)
        x, w = (np.abs(x), np.abs(w)) if element == "ui8" else (x, w)
    x, w = x.astype(DTYPES[element]), w.astype(DTYPES[element])
    wide, weights = x.astype(np.float64), w.astype(np.float64)
    ends = np.cumsum(sizes)
    owner = (np.arange(along)[None] >= (ends - sizes)[:, None]) & (np.arange(along)[None] < ends[:, None])
    if kind == "free":
        expected = np.einsum("gm,bmk,gbkn->bmn", owner, wide, weights)
    elif kind == "contracted":
        expected = np.einsum("gk,bmk,bkn->gbmn", owner, wide, weights)
    else:
        expected = np.einsum("bmk,bkn->bmn", wide, weights)
    shift = 1 if kind == "free" else 0
    ragged = {"free": 1, "contracted": 2, "batch": 0}[kind]
    group = ", rhs_group_dimensions = [0]" if kind == "free" else ""
    types = types_of([x, w, sizes], [element, element, "i32"])
    result = tensor(expected.shape, element)
    text = (f'%{{r}}0 = "chlo.ragged_dot"(%{{a}}0, %{{a}}1, %{{a}}2) <{{{{ragged_dot_dimension_numbers = '
            f"#chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [{shift}], "
            f"lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [{1 + shift}], "
            f"lhs_ragged_dimensions = [{ragged}]{group}>}}}}> : ({', '.join(types)}) -> {result}")
    with np.errstate(all="ignore"):
        rounded = expected.astype(np.int64).astype(DTYPES[element]) if element not in FLOATS else expected.astype(DTYPES[element])
    return Case(f"ragged_dot_{number}_{kind}", text, [x, w, sizes], [element, element, "i32"], [result], ulps=8,
                least=5.0, expected=[rounded])


MAPS = {
    "maximum of squares": (2, ["%s = stablehlo.multiply %p, %p : {S}", "%v = stablehlo.maximum %s, %q : {S}"]),
    "constant": (1, ["%c = stablehlo.constant dense<2> : {S}", "%v = stablehlo.add %p, %c : {S}"]),
    "unread": (2, ["%v = stablehlo.add %q, %q : {S}"]),
    "first": (2, []),
}


def maps(g, number, element):
    kind = str(g.choice(list(MAPS)))
    count, ops = MAPS[kind]
    shape = [int(g.integers(0, 5)) for _ in range(int(g.integers(0, 4)))]
    operands = [ties(g, shape, element) for _ in range(count)]
    types, scalar = types_of(operands, [element] * count), f"tensor<{element}>"
    constant = "2.0" if element in FLOATS else "2"
    inner = "\n".join("    " + op.format(S=scalar).replace("dense<2>", f"dense<{constant}>") for op in ops)
    arguments = ", ".join(f"%{name}: {scalar}" for name in "pq"[:count])
    value = "%v" if ops else "%p"
    region = f"({{\n  ^bb0({arguments}):\n{inner}\n    stablehlo.return {value} : {scalar}\n  }})"
    text = (f'%{{r}}0 = "stablehlo.map"({", ".join(f"%{{a}}{i}" for i in range(count))}) '
            f"<{{{{dimensions = {array_attribute(range(len(shape)))}}}}}> "
            + region.replace("{", "{{").replace("}", "}}") + f" : ({', '.join(types)}) -> {types[0]}")
    return Case(f"map_{number}_{kind}", text, operands, [element] * count, [types[0]])


def integers(values):
    """A constant of the text, which import knows."""
    values = list(values)
    shown = f"[{', '.join(map(str, values))}]" if values else ""
    return f"stablehlo.constant dense<{shown}> : tensor<{len(values)}xi32>"


def forms(g, number, element):
    """Sizes as operands, older forms, sizes as results."""
    kind = str(g.choice(["reshape", "broadcast_in_dim", "iota", "pad", "slice", "gather", "size", "same", "older"]))
    shape = [int(g.integers(1, 5)) for _ in range(int(g.integers(1, 4)))]
    rank, x = len(shape), ties(g, shape, element)
    own, sizes = tensor(shape, element), f"tensor<{rank}xi32>"
    operands = [x]
    if kind == "reshape":
        to = [int(np.prod(shape)), 1]
        lines = [f"%{{r}}s = {integers(to)}",
                 f"%{{r}}0 = stablehlo.dynamic_reshape %{{a}}0, %{{r}}s : ({own}, tensor<2xi32>) -> {tensor(to, element)}"]
    elif kind == "broadcast_in_dim":
        to = [2, *shape]
        dims = ", ".join(str(d + 1) for d in range(rank))
        lines = [f"%{{r}}s = {integers(to)}",
                 f"%{{r}}0 = stablehlo.dynamic_broadcast_in_dim %{{a}}0, %{{r}}s, dims = [{dims}] : "
                 f"({own}, tensor<{rank + 1}xi32>) -> {tensor(to, element)}"]
    elif kind == "iota":
        to, numeric = shape, "i32" if element == "i1" else element
        lines = [f"%{{r}}s = {integers(to)}",
                 f"%{{r}}0 = stablehlo.dynamic_iota %{{r}}s, dim = {rank - 1} : ({sizes}) -> {tensor(to, numeric)}"]
    elif kind == "pad":
        low = [int(g.integers(-1, 3)) for _ in shape]
        high = [int(g.integers(0, 3)) for _ in shape]
        inner = [int(g.integers(0, 3)) for _ in shape]
        to = [l + h + (n - 1) * (i + 1) + 1 for n, l, h, i in zip(shape, low, high, inner)]
        operands.append(np.asarray(ties(g, [], element)))
        lines = [f"%{{r}}l = {integers(low)}", f"%{{r}}h = {integers(high)}", f"%{{r}}i = {integers(inner)}",
                 f"%{{r}}0 = stablehlo.dynamic_pad %{{a}}0, %{{a}}1, %{{r}}l, %{{r}}h, %{{r}}i : "
                 f"({own}, tensor<{element}>, {sizes}, {sizes}, {sizes}) -> {tensor(to, element)}"]
    elif kind == "slice":
        start = [int(g.integers(0, n + 1)) for n in shape]
        limit = [int(g.integers(s, n + 1)) for s, n in zip(start, shape)]
        step = [int(g.integers(1, 3)) for _ in shape]
        to = [-(-(l - s) // k) for s, l, k in zip(start, limit, step)]
        lines = [f"%{{r}}b = {integers(start)}", f"%{{r}}e = {integers(limit)}", f"%{{r}}k = {integers(step)}",
                 f"%{{r}}0 = stablehlo.real_dynamic_slice %{{a}}0, %{{r}}b, %{{r}}e, %{{r}}k : "
                 f"({own}, {sizes}, {sizes}, {sizes}) -> {tensor(to, element)}"]
    elif kind == "gather":
        rows, to = g.integers(-1, shape[0] + 1, 3).astype(np.int32), [3, *shape[1:]]
        operands.append(rows)
        offsets = ", ".join(str(d) for d in range(1, rank))
        lines = [f"%{{r}}s = {integers([1, *shape[1:]])}",
                 f'%{{r}}0 = "stablehlo.dynamic_gather"(%{{a}}0, %{{a}}1, %{{r}}s) <{{{{dimension_numbers = '
                 f"#stablehlo.gather<offset_dims = [{offsets}], collapsed_slice_dims = [0], start_index_map = [0], "
                 f"index_vector_dim = 1>, indices_are_sorted = false}}}}> : ({own}, tensor<3xi32>, {sizes}) -> "
                 f"{tensor(to, element)}"]
    elif kind == "size":
        to = []
        lines = [f"%{{r}}0 = stablehlo.get_dimension_size %{{a}}0, dim = {rank - 1} : ({own}) -> tensor<i32>"]
    elif kind == "same":
        to = shape
        lines = [f"%{{r}}s = stablehlo.constant dense<{shape[0]}> : tensor<i32>",
                 f"%{{r}}0 = stablehlo.set_dimension_size %{{a}}0, %{{r}}s, dim = 0 : ({own}, tensor<i32>) -> {own}"]
    else:
        to = [2, 0, *shape] if g.random() < 0.2 else [3, *shape]
        lines = [f"%{{r}}0 = stablehlo.broadcast %{{a}}0, sizes = {to[:len(to) - rank]} : ({own}) -> {tensor(to, element)}"]
    kinds = [element] * len(operands)
    if kind == "gather":
        kinds[1] = "i32"
    made = "i32" if kind == "size" or (kind == "iota" and element == "i1") else element
    return Case(f"form_{number}_{kind}", "\n  ".join(lines), operands, kinds, [tensor(to, made)])


def cases(element, count, seed):
    """`count` of each kind."""
    g = np.random.default_rng([seed, list(DTYPES).index(element)])
    found = []
    for i in range(count):
        if element != "i1":
            found += [selection(g, i, element), window_body(g, i, element), dots(g, i, element), maps(g, i, element)]
            found.append(ragged_dots(g, i, element))
        if element in FLOATS:
            found += [norms(g, i, element, kind) for kind in ("training", "inference", "grad")]
        found.append(forms(g, i, element))
    return found
