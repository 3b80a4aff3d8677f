# ===- structure_cases.py - Texts of ops that move, index and contract ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Random uses of the ops that every model has, with dimensions of size 0 and 1."""

import numpy as np
from expansion_cases import DTYPES, FLOATS, Case, array_attribute, numbers, tensor, ties, types_of


def draw_shape(g, least=0, most=4, smallest=0):
    return [int(n) for n in g.integers(smallest, 6, int(g.integers(least, most + 1)))]


def listed(values):
    return "[" + ", ".join(map(str, values)) + "]"


def one(name, number, element, op, operands, shape, elements=None, **options):
    """A case of one op; `op` has its types as {t} and its result's as {u}."""
    elements = elements or [element] * len(operands)
    result = tensor(shape, options.pop("made", element))
    text = "%{r}0 = " + op.replace("{t}", ", ".join(types_of(operands, elements))).replace("{u}", result)
    return Case(f"{name}_{number}", text, operands, elements, [result], **options)


# ===----------------------------------------------------------------------=== #
# Shapes
# ===----------------------------------------------------------------------=== #


def transpose(g, number, element):
    shape = draw_shape(g)
    order = [int(d) for d in g.permutation(len(shape))]
    return one("transpose", number, element, f"stablehlo.transpose %{{a}}0, dims = {listed(order)} : ({{t}}) -> {{u}}",
               [ties(g, shape, element)], [shape[d] for d in order])


def reshape(g, number, element):
    shape = draw_shape(g)
    sizes = [n for n in shape if n > 1] if 0 not in shape else shape
    to, left = [], list(sizes)
    while left:  # neighbours are merged, ones are put in
        take = int(g.integers(1, len(left) + 1))
        to.append(int(np.prod(left[:take])))
        left = left[take:]
        to += [1] * int(g.integers(0, 2))
    return one("reshape", number, element, "stablehlo.reshape %{a}0 : ({t}) -> {u}", [ties(g, shape, element)], to)


def broadcast_in_dim(g, number, element):
    to = draw_shape(g, least=1)
    rank = int(g.integers(0, len(to) + 1))
    dims = [int(d) for d in g.permutation(len(to))[:rank]]
    shape = [1 if g.random() < 0.3 else to[d] for d in dims]
    return one("broadcast_in_dim", number, element,
               f"stablehlo.broadcast_in_dim %{{a}}0, dims = {listed(dims)} : ({{t}}) -> {{u}}",
               [ties(g, shape, element)], to)


def slice(g, number, element):
    shape = draw_shape(g)
    start = [int(g.integers(0, n + 1)) for n in shape]
    limit = [int(g.integers(s, n + 1)) for s, n in zip(start, shape)]
    step = [int(g.integers(1, 4)) for _ in shape]
    shown = ", ".join(f"{s}:{l}" + (f":{k}" if k > 1 else "") for s, l, k in zip(start, limit, step))
    return one("slice", number, element, f"stablehlo.slice %{{a}}0 [{shown}] : ({{t}}) -> {{u}}",
               [ties(g, shape, element)], [-(-(l - s) // k) for s, l, k in zip(start, limit, step)])


def pad(g, number, element):
    while True:
        shape = draw_shape(g)
        low, high = ([int(g.integers(-2, 3)) for _ in shape] for _ in range(2))
        inner = [int(g.choice([0, 0, 1, 2])) for _ in shape]
        to = [l + h + n + max(n - 1, 0) * i for n, l, h, i in zip(shape, low, high, inner)]
        if min(to, default=0) >= 0:
            break
    op = f"stablehlo.pad %{{a}}0, %{{a}}1, low = {listed(low)}, high = {listed(high)}, interior = {listed(inner)}"
    return one("pad", number, element, op + " : ({t}) -> {u}",
               [ties(g, shape, element), np.asarray(ties(g, [], element))], to)


def concatenate(g, number, element):
    shape = draw_shape(g, least=1)
    dim, count = int(g.integers(0, len(shape))), int(g.integers(1, 5))
    parts = [shape[:dim] + [int(g.integers(0, 4))] + shape[dim + 1:] for _ in range(count)]
    names = ", ".join(f"%{{a}}{i}" for i in range(count))
    return one("concatenate", number, element, f"stablehlo.concatenate {names}, dim = {dim} : ({{t}}) -> {{u}}",
               [ties(g, part, element) for part in parts], shape[:dim] + [sum(p[dim] for p in parts)] + shape[dim + 1:])


def reverse(g, number, element):
    shape = draw_shape(g)
    dims = [d for d in range(len(shape)) if g.random() < 0.6]
    return one("reverse", number, element, f"stablehlo.reverse %{{a}}0, dims = {listed(dims)} : {{t}}",
               [ties(g, shape, element)], shape)


def iota(g, number, element):
    shape = draw_shape(g, least=1)
    made = "i32" if element == "i1" else element
    # A use of the operand, so that the case is like the others.
    case = one("iota", number, element, f"stablehlo.iota dim = {int(g.integers(0, len(shape)))} : {{u}}",
               [ties(g, [2], element)], shape, made=made)
    return case


def select(g, number, element):
    shape = draw_shape(g)
    condition = ties(g, [] if g.random() < 0.3 else shape, "i1")
    operands = [np.asarray(condition), ties(g, shape, element), ties(g, shape, element)]
    op = f"stablehlo.select %{{a}}0, %{{a}}1, %{{a}}2 : {tensor(operands[0].shape, 'i1')}, {{u}}"
    return one("select", number, element, op, operands, shape, ["i1", element, element])


def clamp(g, number, element):
    if element == "i1":
        return select(g, number, element)
    shape = draw_shape(g)
    bounds = [np.asarray(ties(g, [] if g.random() < 0.5 else shape, element, special=False)) for _ in range(2)]
    x = numbers(g, shape, element) if element in FLOATS else ties(g, shape, element)
    return one("clamp", number, element, "stablehlo.clamp %{a}0, %{a}1, %{a}2 : ({t}) -> {u}",
               [bounds[0], x, bounds[1]], shape)


# ===----------------------------------------------------------------------=== #
# Indices
# ===----------------------------------------------------------------------=== #


def draw_starts(g, shape):
    """Scalars, some of which lie outside."""
    kind = str(g.choice(["i32", "i64", "ui8"]))
    low = 0 if kind == "ui8" else -3
    return [np.asarray(g.integers(low, n + 3)).astype(DTYPES[kind]) for n in shape], [kind] * len(shape)


def dynamic_slice(g, number, element):
    shape = draw_shape(g, smallest=1)
    sizes = [int(g.integers(0, n + 1)) for n in shape]
    starts, kinds = draw_starts(g, shape)
    names = ", ".join(["%{a}0"] + [f"%{{a}}{i + 1}" for i in range(len(shape))])
    return one("dynamic_slice", number, element,
               f"stablehlo.dynamic_slice {names}, sizes = {listed(sizes)} : ({{t}}) -> {{u}}",
               [ties(g, shape, element), *starts], sizes, [element, *kinds])


def dynamic_update_slice(g, number, element):
    shape = draw_shape(g, smallest=1)
    sizes = [int(g.integers(0, n + 1)) for n in shape]
    starts, kinds = draw_starts(g, shape)
    names = ", ".join(f"%{{a}}{i}" for i in range(len(shape) + 2))
    return one("dynamic_update_slice", number, element,
               f"stablehlo.dynamic_update_slice {names} : ({{t}}) -> {{u}}",
               [ties(g, shape, element), ties(g, sizes, element), *starts], shape, [element, element, *kinds])


class Indexing:
    """The numbers of a gather, or of a scatter, whose windows lie in `shape`."""

    def __init__(self, g):
        self.shape = draw_shape(g, least=1, smallest=1)
        dims = [int(d) for d in g.permutation(len(self.shape))]
        count = int(g.choice([0, 0, 0, 1])) if len(dims) > 1 else 0
        self.batching, rest = sorted(dims[:count]), dims[count:]
        self.mapped = rest[:int(g.integers(1, len(rest) + 1))]
        self.dropped = sorted(d for d in rest if g.random() < 0.4)
        self.window = [1 if d in self.batching + self.dropped else int(g.integers(1, n + 1))
                       for d, n in enumerate(self.shape)]
        self.kept = [d for d in range(len(self.shape)) if d not in self.batching + self.dropped]
        # Positions: some, and one for each index of a batch.
        places = [int(n) for n in g.integers(1, 4, int(g.integers(0, 3)))] + [self.shape[d] for d in self.batching]
        at = [int(i) for i in g.permutation(len(places))]
        places, batch = [places[i] for i in at], [at.index(len(places) - count + i) for i in range(count)]
        self.vector = int(g.integers(0, len(places) + 1))
        self.indices_shape = places[:self.vector] + [len(self.mapped)] + places[self.vector:]
        self.indices_batching = [d + (d >= self.vector) for d in batch]
        if len(self.mapped) == 1 and g.random() < 0.4:  # no dimension of its own
            self.indices_shape, self.vector, self.indices_batching = places, len(places), batch
        rank = len(places) + len(self.kept)
        self.offsets = sorted(int(d) for d in g.permutation(rank)[:len(self.kept)])
        windows, positions = iter(self.window[d] for d in self.kept), iter(places)
        self.result = [next(windows) if d in self.offsets else next(positions) for d in range(rank)]
        self.indices = self.draw_indices(g)

    def draw_indices(self, g):
        indices = g.integers(-1, 6, self.indices_shape)
        return indices.astype(DTYPES[str(g.choice(["i32", "i64"]))])

    def kind(self):
        return "i32" if self.indices.dtype == np.int32 else "i64"


def gather(g, number, element):
    i = Indexing(g)
    batching = (f"operand_batching_dims = {listed(i.batching)}, start_indices_batching_dims = "
                f"{listed(i.indices_batching)}, " if i.batching else "")
    op = (f'"stablehlo.gather"(%{{a}}0, %{{a}}1) <{{{{dimension_numbers = #stablehlo.gather<offset_dims = '
          f"{listed(i.offsets)}, collapsed_slice_dims = {listed(i.dropped)}, {batching}start_index_map = "
          f"{listed(i.mapped)}, index_vector_dim = {i.vector}>, indices_are_sorted = false, slice_sizes = "
          f"{array_attribute(i.window)}}}}}> : ({{t}}) -> {{u}}")
    return one("gather", number, element, op, [ties(g, i.shape, element), i.indices], i.result, [element, i.kind()])


def define_scatter(i, x, updates, combine):
    """An update outside is left out, element by element; XLA leaves out its whole window."""
    result, wide = x.copy(), i.indices.astype(np.int64)
    places = [d for d in range(updates.ndim) if d not in i.offsets]
    for at in np.ndindex(*updates.shape):
        place = [at[d] for d in places]
        vector = wide[tuple(place[:i.vector])]
        start = np.atleast_1d(vector[(slice_all,) + tuple(place[i.vector:])] if vector.ndim > len(place) - i.vector
                              else vector[tuple(place[i.vector:])])
        full = [0] * x.ndim
        for d, value in zip(i.mapped, start):
            full[d] += int(value)
        for d, source in zip(i.batching, i.indices_batching):
            full[d] += place[source - (source > i.vector)]
        for d, offset in zip(i.kept, i.offsets):
            full[d] += at[offset]
        if all(0 <= f < n for f, n in zip(full, x.shape)):
            result[tuple(full)] = combine(result[tuple(full)], updates[at])
    return result


COMBINE = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "or": np.logical_or, "and": np.logical_and}
slice_all = np.s_[:]


def scatter(g, number, element):
    """Sums of small integers, which no order changes."""
    i = Indexing(g)
    combine = str(g.choice(["add", "maximum", "minimum"] if element != "i1" else ["or", "and"]))
    batching = (f"input_batching_dims = {listed(i.batching)}, scatter_indices_batching_dims = "
                f"{listed(i.indices_batching)}, " if i.batching else "")
    scalar = f"tensor<{element}>"
    op = (f'"stablehlo.scatter"(%{{a}}0, %{{a}}1, %{{a}}2) <{{{{scatter_dimension_numbers = #stablehlo.scatter<'
          f"update_window_dims = {listed(i.offsets)}, inserted_window_dims = {listed(i.dropped)}, {batching}"
          f"scatter_dims_to_operand_dims = {listed(i.mapped)}, index_vector_dim = {i.vector}>, indices_are_sorted = "
          f"false, unique_indices = false}}}}> ({{{{\n  ^bb0(%p: {scalar}, %q: {scalar}):\n"
          f"    %v = stablehlo.{combine} %p, %q : {scalar}\n    stablehlo.return %v : {scalar}\n  }}}}) : "
          f"({{t}}) -> {{u}}")
    x, updates = (ties(g, shape, element, special=False) + DTYPES[element](element != "i1")
                  for shape in (i.shape, i.result))
    x, updates = x.astype(DTYPES[element]), updates.astype(DTYPES[element])
    return one("scatter", number, element, op, [x, i.indices, updates], i.shape, [element, i.kind(), element],
               expected=[define_scatter(i, x, updates, COMBINE[combine])])


# ===----------------------------------------------------------------------=== #
# Sums
# ===----------------------------------------------------------------------=== #


def dot_general(g, number, element):
    batch, contracted, left, right = (int(g.integers(0, n)) for n in (3, 3, 3, 3))
    sizes = {name: int(g.integers(0 if g.random() < 0.1 else 1, 6))
             for name in [*(f"b{i}" for i in range(batch)), *(f"k{i}" for i in range(contracted)),
                          *(f"m{i}" for i in range(left)), *(f"n{i}" for i in range(right))]}

    def side(free):
        names = [n for n in sizes if n[0] in "bk" + free]
        return [names[i] for i in g.permutation(len(names))]

    a, b = side("m"), side("n")
    shared = [n for n in sizes if n[0] == "b"], [n for n in sizes if n[0] == "k"]
    pairs = [f"{listed(map(a.index, names))} x {listed(map(b.index, names))}" for names in shared]
    batching = f"batching_dims = {pairs[0]}, " if shared[0] else ""
    op = f"stablehlo.dot_general %{{a}}0, %{{a}}1, {batching}contracting_dims = {pairs[1]} : ({{t}}) -> {{u}}"
    draw = numbers if element in FLOATS else ties
    operands = [draw(g, [sizes[n] for n in names], element) for names in (a, b)]
    result = shared[0] + [n for n in a if n[0] == "m"] + [n for n in b if n[0] == "n"]
    return one("dot_general", number, element, op, operands, [sizes[n] for n in result], ulps=8, least=5.0)


def neutral(kind, element):
    """How often another start enters a reduction is open."""
    if kind in ("maximum", "minimum"):
        low = kind == "maximum"
        if element in FLOATS:
            return -np.inf if low else np.inf
        return getattr(np.iinfo(DTYPES[element]), "min" if low else "max")
    return {"add": 0, "multiply": 1, "or": 0, "xor": 0}.get(kind, 1 if element == "i1" else np.array(-1).astype(DTYPES[element]))


def reduce(g, number, element):
    shape = draw_shape(g)
    dims = [d for d in range(len(shape)) if g.random() < 0.5]
    if element == "i1":
        kind = str(g.choice(["or", "and"]))
    else:
        kind = str(g.choice(["add", "maximum", "minimum"] + (["multiply", "xor", "and"] if element not in FLOATS else [])))
    start = np.asarray(neutral(kind, element)).astype(DTYPES[element])
    x = numbers(g, shape, element) if element in FLOATS else ties(g, shape, element)
    if element in FLOATS and kind != "add" and x.size and g.random() < 0.3:
        x.flat[int(g.integers(0, x.size))] = g.choice([np.nan, np.inf, -np.inf])
    op = (f"stablehlo.reduce(%{{a}}0 init: %{{a}}1) applies stablehlo.{kind} across dimensions = {listed(dims)} : "
          "({t}) -> {u}")
    return one("reduce", number, element, op, [x, start], [n for d, n in enumerate(shape) if d not in dims],
               ulps=16 if kind == "add" else 0, least=5.0)


# ===----------------------------------------------------------------------=== #
# Element types
# ===----------------------------------------------------------------------=== #


def convert(g, number, element):
    shape, to = draw_shape(g), str(g.choice([e for e in DTYPES if e != element]))
    x = ties(g, shape, element, special=to in FLOATS)
    if to.startswith("ui"):
        x = np.abs(x.astype(np.float64)).astype(DTYPES[element])
    return one("convert", number, element, "stablehlo.convert %{a}0 : ({t}) -> {u}", [x], shape, made=to)


WIDTHS = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i32": 4, "i64": 8, "ui8": 1}


def bitcast_convert(g, number, element):
    if element == "i1":
        return convert(g, number, element)
    to = str(g.choice([e for e in WIDTHS if e != element]))
    own, other, shape = WIDTHS[element], WIDTHS[to], draw_shape(g, most=3)
    made = list(shape)
    if own > other:
        made = shape + [own // other]
    elif own < other:
        shape = shape + [other // own]
    bits = g.integers(0, 256, [*shape, own]).astype(np.uint8)
    x = np.ascontiguousarray(bits).view(DTYPES[element])[..., 0].reshape(shape)
    if to in FLOATS or element in FLOATS:  # no NaN, whose bits a load may change
        x = (np.zeros(shape, np.uint8) + g.integers(0, 60, shape).astype(np.uint8)).astype(DTYPES[element])
    return one("bitcast_convert", number, element, "stablehlo.bitcast_convert %{a}0 : ({t}) -> {u}", [x], made, made=to)


KINDS = [transpose, reshape, broadcast_in_dim, slice, pad, concatenate, reverse, iota, select, clamp, dynamic_slice,
         dynamic_update_slice, gather, scatter, dot_general, reduce, convert, bitcast_convert]


def cases(element, count, seed):
    """`count` of each kind."""
    g = np.random.default_rng([seed, 7, list(DTYPES).index(element)])
    return [kind(g, i, element) for i in range(count) for kind in KINDS if not (element == "i1" and kind is dot_general)]
