# ===- dynamic_cases.py - Texts of ops whose sizes are operands ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Random uses of the dynamic ops, of sizes as values and of `broadcast`, with dimensions of size 0 and 1."""

import numpy as np
from expansion_cases import DTYPES, Case, array_attribute, numbers, tensor, ties, types_of


def known(name, values, shape=None):
    """A constant of the text, which the import knows."""
    values = np.asarray(list(values), dtype=np.int32).reshape(shape or [-1])
    shown = str(values.tolist()) if values.size else ""
    return f"%{{r}}{name} = stablehlo.constant dense<{shown}> : {tensor(values.shape, 'i32')}"


def draw_shape(g, least=0):
    return [int(n) for n in g.integers(0, 5, int(g.integers(least, 4)))]


def case(name, number, element, lines, op, operands, to, elements=None, **options):
    """`lines`, then `op` with the types of its operands as {t} and that of its result as {u}."""
    elements = elements or [element] * len(operands)
    result = tensor(to, options.pop("made", element))
    op = op.replace("{t}", ", ".join(types_of(operands, elements))).replace("{u}", result)
    return Case(f"{name}_{number}", "\n  ".join([*lines, "%{r}0 = " + op]), operands, elements, [result], **options)


def reshape(g, number, element):
    shape = draw_shape(g)
    to = [int(np.prod(shape)), 1][:int(g.integers(1, 3))]
    return case("dynamic_reshape", number, element, [known("s", to)],
                f"stablehlo.dynamic_reshape %{{a}}0, %{{r}}s : ({{t}}, tensor<{len(to)}xi32>) -> {{u}}",
                [ties(g, shape, element)], to)


def broadcast_in_dim(g, number, element):
    to = draw_shape(g, 1)
    dims = sorted(int(d) for d in g.permutation(len(to))[:int(g.integers(0, len(to) + 1))])
    shape = [1 if g.random() < 0.3 else to[d] for d in dims]
    return case("dynamic_broadcast_in_dim", number, element, [known("s", to)],
                f"stablehlo.dynamic_broadcast_in_dim %{{a}}0, %{{r}}s, dims = {dims} : ({{t}}, tensor<{len(to)}xi32>) -> {{u}}",
                [ties(g, shape, element)], to)


def iota(g, number, element):
    to, made = draw_shape(g, 1), "i32" if element == "i1" else element
    return case("dynamic_iota", number, element, [known("s", to)],
                f"stablehlo.dynamic_iota %{{r}}s, dim = {int(g.integers(0, len(to)))} : (tensor<{len(to)}xi32>) -> {{u}}",
                [], to, made=made)


def pad(g, number, element):
    shape = draw_shape(g)
    inner = [int(n) for n in g.integers(0, 3, len(shape))]
    low = [int(n) for n in g.integers(-1, 3, len(shape))]
    spread = [n + max(n - 1, 0) * i for n, i in zip(shape, inner)]
    high = [int(g.integers(max(-1, -(n + edge)), 3)) for n, edge in zip(spread, low)]
    sizes = f"tensor<{len(shape)}xi32>"
    return case("dynamic_pad", number, element, [known("l", low), known("h", high), known("i", inner)],
                f"stablehlo.dynamic_pad %{{a}}0, %{{a}}1, %{{r}}l, %{{r}}h, %{{r}}i : ({{t}}, {sizes}, {sizes}, {sizes}) -> {{u}}",
                [ties(g, shape, element), np.asarray(ties(g, [], element))], [n + e + h for n, e, h in zip(spread, low, high)])


def slice(g, number, element):
    shape = draw_shape(g)
    start = [int(g.integers(0, n + 1)) for n in shape]
    limit = [int(g.integers(s, n + 1)) for s, n in zip(start, shape)]
    step = [int(n) for n in g.integers(1, 4, len(shape))]
    sizes = f"tensor<{len(shape)}xi32>"
    return case("real_dynamic_slice", number, element, [known("b", start), known("e", limit), known("k", step)],
                f"stablehlo.real_dynamic_slice %{{a}}0, %{{r}}b, %{{r}}e, %{{r}}k : ({{t}}, {sizes}, {sizes}, {sizes}) -> {{u}}",
                [ties(g, shape, element)], [-(-(e - s) // k) for s, e, k in zip(start, limit, step)])


def gather(g, number, element):
    shape = [int(g.integers(1, 5)), *draw_shape(g)]
    count = int(g.integers(0, 4))
    taken = [int(g.integers(0, n + 1)) for n in shape[1:]]
    rows = g.integers(-1, shape[0] + 1, count).astype(np.int32)
    return case("dynamic_gather", number, element, [known("s", [1, *taken])],
                f'"stablehlo.dynamic_gather"(%{{a}}0, %{{a}}1, %{{r}}s) <{{{{dimension_numbers = #stablehlo.gather<'
                f"offset_dims = {list(range(1, len(shape)))}, collapsed_slice_dims = [0], start_index_map = [0], "
                f"index_vector_dim = 1>, indices_are_sorted = false}}}}> : ({{t}}, tensor<{len(shape)}xi32>) -> {{u}}",
                [ties(g, shape, element), rows], [count, *taken], [element, "i32"])


def convolution(g, number, element):
    """One or two places; the sizes of the input are made so that a window fits."""
    rank, element = int(g.integers(1, 3)), "f32" if element == "i1" else element
    window = [int(n) for n in g.integers(1, 4, rank)]
    strides, spread = ([int(n) for n in g.integers(1, 3, rank)] for _ in range(2))
    edges = g.integers(0, 3, [rank, 2])
    reach = [(k - 1) * d + 1 for k, d in zip(window, spread)]
    size = [max(int(r - e.sum()), 1) + int(g.integers(0, 4)) for r, e in zip(reach, edges)]
    to = [(n + int(e.sum()) - r) // s + 1 for n, e, r, s in zip(size, edges, reach, strides)]
    batch, features, filters = (int(n) for n in g.integers(1, 4, 3))
    x, w = numbers(g, [batch, *size, features], "f64"), numbers(g, [*window, features, filters], "f64")
    scale = 1 if element[0] in "bf" else 4
    x, w = (np.abs(scale * each) if element.startswith("ui") else scale * each for each in (x, w))
    places = ", ".join(map(str, range(rank)))
    attributes = (f"batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, {places}, f]x[{places}, i, o]->"
                  f"[b, {places}, f]>, feature_group_count = 1 : i64, rhs_dilation = {array_attribute(spread)}, "
                  f"window_strides = {array_attribute(strides)}")
    made = case("dynamic_conv", number, element, [known("p", edges.ravel(), [rank, 2])],
                f'"stablehlo.dynamic_conv"(%{{a}}0, %{{a}}1, %{{r}}p) <{{{{{attributes}}}}}> : '
                f"({{t}}, tensor<{rank}x2xi32>) -> {{u}}",
                [x.astype(DTYPES[element]), w.astype(DTYPES[element])], [batch, *to, filters], [element] * 2,
                made=element, ulps=16 if element[0] in "bf" else 0, least=5.0)
    # XLA's translator has no dynamic_conv.
    padding = f"padding = dense<{edges.tolist()}> : tensor<{rank}x2xi64>"
    made.for_xla = (f'%{{r}}0 = "stablehlo.convolution"(%{{a}}0, %{{a}}1) <{{{{{attributes}, {padding}}}}}> : '
                    f"({', '.join(types_of(made.operands, made.elements))}) -> {made.results[0]}")
    return made


def get_size(g, number, element):
    shape = draw_shape(g, 1)
    return case("get_dimension_size", number, element, [],
                f"stablehlo.get_dimension_size %{{a}}0, dim = {int(g.integers(0, len(shape)))} : ({{t}}) -> {{u}}",
                [ties(g, shape, element)], [], made="i32")


def set_size(g, number, element):
    shape = draw_shape(g, 1)
    dim = int(g.integers(0, len(shape)))
    return case("set_dimension_size", number, element, [f"%{{r}}s = stablehlo.constant dense<{shape[dim]}> : tensor<i32>"],
                f"stablehlo.set_dimension_size %{{a}}0, %{{r}}s, dim = {dim} : ({{t}}, tensor<i32>) -> {{u}}",
                [ties(g, shape, element)], shape)


def broadcast(g, number, element):
    shape, more = draw_shape(g), [int(n) for n in g.integers(0, 4, int(g.integers(0, 3)))]
    return case("broadcast", number, element, [], f"stablehlo.broadcast %{{a}}0, sizes = {more} : ({{t}}) -> {{u}}",
                [ties(g, shape, element)], [*more, *shape])


KINDS = [reshape, broadcast_in_dim, iota, pad, slice, gather, convolution, get_size, set_size, broadcast]


def cases(element, count, seed):
    """`count` of each kind."""
    g = np.random.default_rng([seed, 11, list(DTYPES).index(element)])
    return [kind(g, i, element) for i in range(count) for kind in KINDS]
