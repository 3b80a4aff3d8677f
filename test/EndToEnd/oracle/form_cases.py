# ===- form_cases.py - Texts of norms, products and other forms ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Cases of expansions.py beside those of windows, drawn from a generator of random numbers."""

import numpy as np
from expansion_cases import (DTYPES, FLOATS, Case, array_attribute, numbers, selection, tensor, ties, types_of,
                             window_body)

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
    # Narrow floats are rounded once by us. XLA's variance is the difference of two means, of which small ones keep little.
    wide = np.moveaxis(x.astype(np.float64), feature, 0).reshape(shape[feature], -1)
    most = float(np.abs(wide).max())
    least = most**2 * (1 + 1 / float((wide.var(axis=1) + float(epsilon)).min()))
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


def cases(element, count, seed):
    """`count` of each kind."""
    g = np.random.default_rng([seed, list(DTYPES).index(element)])
    found = []
    for i in range(count):
        if element != "i1":
            found += [selection(g, i, element), window_body(g, i, element)]
            found += [dots(g, i, element), maps(g, i, element)]
            found.append(ragged_dots(g, i, element))
        if element in FLOATS:
            found += [norms(g, i, element, kind) for kind in ("training", "inference", "grad")]
    return found
