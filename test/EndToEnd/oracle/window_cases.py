# ===- window_cases.py - Convolutions and windows, drawn and listed --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The cases of windows.py."""

import dataclasses
from typing import Callable, Optional

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclasses.dataclass
class Case:
    """`function` is in the text. `by_jax` is what JAX must derive for it, None where it
    cannot; `defined` gives the gradients of the operands and the value, for weights of
    the value. `reversal` says which spatial dims the text's convolution reverses: JAX
    never prints any, so they are put into its text."""

    name: str
    function: Callable
    operands: list
    by_jax: Optional[Callable] = None
    defined: Optional[Callable] = None
    reversal: Optional[list] = None


# ===----------------------------------------------------------------------=== #
# Convolutions
# ===----------------------------------------------------------------------=== #


def draw_groups(g):
    """Feature groups, batch groups, input features of a group, output features."""
    kind = g.choice(["none", "none", "none", "features", "depthwise", "batch"])
    if kind == "features":
        n = int(g.integers(2, 4))
        return n, 1, int(g.integers(2, 4)), n * int(g.integers(1, 3))
    if kind == "depthwise":
        n = int(g.integers(2, 5))
        return n, 1, 1, n * int(g.integers(1, 4))
    if kind == "batch":
        return 1, 2, int(g.integers(1, 4)), 2 * int(g.integers(1, 3))
    return 1, 1, int(g.integers(1, 4)), int(g.integers(1, 4))


def draw_layout(g, letters, rank):
    usual = [letters[0], *map(str, range(rank)), letters[1]]
    order = g.permutation(len(usual)) if g.random() < 0.5 else range(len(usual))
    return "".join(usual[i] for i in order)


def draw_array(g, layout, **sizes):
    return g.standard_normal([sizes[f"_{letter}" if letter.isdigit() else letter] for letter in layout])


def draw_spatial(g, rank):
    """Sizes of the input and of the kernel."""
    most = {0: 1, 1: 12, 2: 7, 3: 4}[rank]
    sizes = [int(g.integers(1, most + 1)) for _ in range(rank)]
    if g.random() < 0.15:
        return sizes, [1] * rank
    # Some kernels have more elements than places.
    return sizes, [int(g.integers(1, min(most, 4) + 1)) if g.random() < 0.85 else size for size in sizes]


def draw_convolution(g, name):
    rank = int(g.choice([0, 1, 1, 2, 2, 2, 3]))
    features, batches, inputs, outputs = draw_groups(g)
    sizes, kernel = draw_spatial(g, rank)
    options = {
        "window_strides": [int(g.choice([1, 1, 2, 3])) for _ in range(rank)],
        "padding": [(int(g.integers(-1, 4)), int(g.integers(-1, 4))) for _ in range(rank)],
        "lhs_dilation": [int(g.choice([1, 1, 1, 2, 3])) for _ in range(rank)],
        "rhs_dilation": [int(g.choice([1, 1, 1, 2, 3])) for _ in range(rank)],
        "feature_group_count": features,
        "batch_group_count": batches,
    }
    layouts = tuple(draw_layout(g, letters, rank) for letters in ("NC", "IO", "NC"))
    batch = batches * int(g.integers(1, 3))
    x = draw_array(g, layouts[0], N=batch, C=features * inputs, **{f"_{d}": n for d, n in enumerate(sizes)})
    w = draw_array(g, layouts[1], I=inputs, O=outputs, **{f"_{d}": n for d, n in enumerate(kernel)})
    numbers = lax.conv_dimension_numbers(x.shape, w.shape, layouts)
    reversal = [bool(g.random() < 0.3) for _ in range(rank)]
    reversed_dims = [d for d, flag in zip(numbers.rhs_spec[2:], reversal) if flag]
    is_empty = g.random() < 0.05

    def function(x, w):
        x = lax.slice_in_dim(x, 0, 0, axis=numbers.lhs_spec[0]) if is_empty else x
        return lax.conv_general_dilated(x, w, dimension_numbers=numbers, **options)

    return Case(name, function, [x, w], lambda x, w: function(x, lax.rev(w, reversed_dims)), reversal=reversal)


def convolutions_of_kinds(g):
    """Elements that are not f64: whole numbers, which are constants."""
    kinds = ((jnp.bfloat16, jnp.float32), (jnp.float32, jnp.float64), (jnp.int32, None), (jnp.int8, jnp.int32))
    for kind, wide in kinds:
        for groups in (1, 4):
            x = g.integers(-3, 4, (2, 5, 6, 4))
            w = g.integers(-3, 4, (3, 2, 4 // groups, 8))

            def function(kind=kind, wide=wide, groups=groups, x=x, w=w):
                y = lax.conv_general_dilated(
                    jnp.asarray(x, kind), jnp.asarray(w, kind), (1, 2), "SAME", feature_group_count=groups,
                    dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=wide)
                return y.astype(jnp.float64)

            yield Case(f"conv_{np.dtype(kind).name}_{groups}", function, [], function, reversal=[False, False])


def convolutions(count):
    g = np.random.default_rng(1)
    cases = []
    while len(cases) < count:
        case = draw_convolution(g, f"conv_{len(cases)}")
        try:
            jax.eval_shape(case.function, *case.operands)
            cases.append(case)
        except ValueError:
            pass  # JAX crops no more than there is
    return cases + list(convolutions_of_kinds(g))


# ===----------------------------------------------------------------------=== #
# Windows, by their definition
# ===----------------------------------------------------------------------=== #

NEUTRAL = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}
LAX = {"add": lax.add, "mul": lax.mul, "max": lax.max, "min": lax.min,
       "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor}


@dataclasses.dataclass
class Window:
    sizes: list
    strides: list
    padding: list
    base: list
    dilations: list

    def arguments(self):
        return self.sizes, self.strides, self.padding, self.base, self.dilations

    def count_places(self, shape):
        places = []
        for n, w, s, (low, high), b, d in zip(shape, *self.arguments()):
            size, reach = low + high + ((n - 1) * b + 1 if n else 0), (w - 1) * d + 1
            places.append((size - reach) // s + 1 if size > 0 and reach <= size else 0)
        return places

    def elements(self, x, init):
        """[places.., elements of the window in row-major order]: the elements, and the
        place of each in x, -1 for padding."""
        shape = [max(low + high + ((n - 1) * b + 1 if n else 0), 0)
                 for n, (low, high), b in zip(x.shape, self.padding, self.base)]
        padded, origin = np.full(shape, init, np.float64), np.full(shape, -1)
        at = [low + np.arange(n) * b for n, (low, _), b in zip(x.shape, self.padding, self.base)]
        kept = [(each >= 0) & (each < size) for each, size in zip(at, shape)]
        inside = np.ix_(*[each[keep] for each, keep in zip(at, kept)])
        padded[inside] = x[np.ix_(*kept)]
        origin[inside] = np.arange(x.size).reshape(x.shape)[np.ix_(*kept)]
        places, rank, index = self.count_places(x.shape), x.ndim, []
        for i, (p, w, s, d) in enumerate(zip(places, self.sizes, self.strides, self.dilations)):
            shape = [1] * (2 * rank)
            shape[i], shape[rank + i] = p, w
            index.append((np.arange(p)[:, None] * s + np.arange(w) * d).reshape(shape))
        index = tuple(index)
        shape = [*places, int(np.prod(self.sizes))]
        return padded[index].reshape(shape), origin[index].reshape(shape)

    def is_cumulative(self, shape):
        """Maxima share ties in another way there, as lax.cummax."""
        long = [i for i, w in enumerate(self.sizes) if w > 1 or tuple(self.padding[i]) != (0, 0)]
        if len(long) != 1 or max(self.strides) > 1 or max(self.base) > 1 or self.dilations[long[0]] > 1:
            return False
        n = shape[long[0]]
        return self.sizes[long[0]] == n and sorted(self.padding[long[0]]) == [0, n - 1]


def define(kind, x, window, init, weights):
    """Gradients of x and of the initial value, and the value. Each window starts with
    `init`, which is in no maximum where it is neutral; a maximum is the first of all
    elements that are greatest."""
    elements, origin = window.elements(x, init)
    if init != NEUTRAL[kind]:
        elements = np.concatenate([np.full((*elements.shape[:-1], 1), init), elements], -1)
        origin = np.concatenate([np.full((*origin.shape[:-1], 1), -1), origin], -1)
    if kind in ("max", "min"):
        first = np.argmax(elements, -1) if kind == "max" else np.argmin(elements, -1)
        slope = first[..., None] == np.arange(elements.shape[-1])
        value = np.take_along_axis(elements, first[..., None], -1)[..., 0]
    elif kind == "add":
        value, slope = np.sum(elements, -1), np.ones_like(elements)
    else:
        others = [np.prod(np.delete(elements, i, -1), -1) for i in range(elements.shape[-1])]
        value, slope = np.prod(elements, -1), np.stack(others, -1)
    spread = np.broadcast_to(weights, value.shape)[..., None] * slope
    gradient = np.zeros(x.size + 1)
    np.add.at(gradient, origin, spread)  # -1 is the last
    return gradient[:-1].reshape(x.shape), gradient[-1:].reshape(()), value


# ===----------------------------------------------------------------------=== #
# Windows, drawn
# ===----------------------------------------------------------------------=== #


def draw_window(g):
    rank = int(g.integers(1, 4))
    most = {1: 24, 2: 8, 3: 5}[rank]
    draw = lambda choices: [int(g.choice(choices)) for _ in range(rank)]
    shape = [int(g.integers(1, most + 1)) for _ in range(rank)]
    sizes = [int(g.integers(1, min(size, 4) + 1)) if g.random() < 0.75 else size for size in shape]
    lowest = 0 if g.random() < 0.4 else -1
    padding = [(int(g.integers(lowest, 4)), int(g.integers(lowest, 4))) for _ in range(rank)]
    dilations = [1] if g.random() < 0.5 else [1, 1, 2, 3]
    return shape, Window(sizes, draw([1, 1, 2, 3]), padding, draw(dilations), draw(dilations))


def has_derivative(kind, window):
    """JAX's own: of maxima not under dilated windows and not where padding crops, of
    products never."""
    extremes = max(window.dilations) == 1 and np.min(window.padding) >= 0
    return kind == "add" or (kind in ("max", "min") and extremes)


def window_case(name, kind, x, window, init=None):
    start = NEUTRAL[kind] if init is None else init
    function = lambda x: lax.reduce_window(x, start, LAX[kind], *window.arguments())
    defined = lambda u: define(kind, x, window, start, u)[::2]
    return Case(name, function, [x], function if init is None and has_derivative(kind, window) else None, defined)


def random_windows(g, count):
    while count:
        kind = str(g.choice(["add", "mul", "max", "max", "max", "min"]))
        shape, window = draw_window(g)
        if kind in ("max", "min") and window.is_cumulative(shape):
            continue
        x = g.integers(-2, 3, shape) / 2.0  # ties are the rule
        init = float(g.integers(1, 4)) if g.random() < 0.1 else None
        yield window_case(f"window_{count}_{kind}", kind, x, window, init)
        count -= 1


def long_windows(g):
    line = g.integers(-2, 3, (2, 40)) / 2.0
    for kind in ("add", "mul", "max", "min"):
        for width, stride in ((9, 1), (16, 3), (27, 2), (40, 1)):
            edges = (2, 1) if width < 40 else (0, 0)
            window = Window((1, width), (1, stride), ((0, 0), edges), (1, 1), (1, 1))
            yield window_case(f"long_{kind}_{width}", kind, line * 1.5, window)
    yield window_case("long_dilated", "max", line, Window((1, 11), (1, 2), ((0, 0), (3, 3)), (1, 1), (1, 3)))
    yield window_case("no_place", "add", line, Window((1, 41), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)))


def windows_of_kinds():
    """Integers and booleans, which are constants."""
    kinds = [(kind, dtype) for dtype in (np.int32, np.uint8) for kind in LAX]
    kinds += [(kind, np.bool_) for kind in ("and", "or", "xor")]
    for kind, dtype in kinds:
        limits = (False, True) if dtype == np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        start = {"mul": 1, "max": limits[0], "min": limits[1], "and": -1}.get(kind, 0)
        for sizes in ((2, 3), (1, 11)):

            def function(kind=kind, dtype=dtype, start=start, sizes=sizes):
                x = jnp.asarray(np.arange(96).reshape(8, 12) * 37 % 11 % 4 - (3 if dtype == np.int32 else 0), dtype)
                y = lax.reduce_window(x, np.asarray(start).astype(dtype), LAX[kind], sizes, (1, 2), ((1, 1), (0, 2)), (1, 2), (2, 1))
                return y.astype(jnp.float64)

            yield Case(f"{np.dtype(dtype).name}_{kind}_{sizes[1]}", function, [], function)


def several_windows(g):
    """Several inputs, and an initial value that is no constant."""
    window = Window((2, 3), (1, 2), ((1, 0), (0, 1)), (1, 1), (1, 1))
    x, y, start = g.standard_normal((5, 7)), g.integers(-2, 3, (5, 7)) / 2.0, np.asarray(0.75)

    def both(x, y):
        combine = lambda a, b: (lax.add(a[0], b[0]), lax.max(b[1], a[1]))
        return jnp.concatenate(lax.reduce_window((x, y), (0.0, -np.inf), combine, *window.arguments()))

    def both_defined(u):
        dx, _, sums = define("add", x, window, 0.0, u[: len(u) // 2])
        dy, _, most = define("max", y, window, -np.inf, u[len(u) // 2 :])
        return dx, dy, np.concatenate([sums, most])

    yield Case("two_inputs", both, [x, y], None, both_defined)
    yield Case("parameter_init", lambda x, c: lax.reduce_window(x, c, lax.add, *window.arguments()),
               [x, start], None, lambda u: define("add", x, window, float(start), u))


def other_windows(g):
    """NaN, infinities, no elements, narrow floats."""
    window = Window((2, 3), (1, 2), ((1, 0), (0, 1)), (1, 1), (1, 1))
    y = g.integers(-2, 3, (5, 7)) / 2.0
    # JAX's derivative knows no NaN.
    nan = window_case("not_a_number", "max", np.where(g.random((5, 7)) < 0.1, np.nan, y), window)
    yield dataclasses.replace(nan, by_jax=None)
    yield window_case("infinities", "max", np.where(g.random((5, 7)) < 0.4, -np.inf, y), window)
    yield window_case("infinities_min", "min", np.where(g.random((5, 7)) < 0.2, np.inf, y), window)
    empty = lambda x: lax.reduce_window(x[:0], 0.0, lax.add, (1, 2), (1, 1), "VALID")
    yield Case("empty_batch", empty, [y], empty)
    yield Case("only_padding", lambda x: lax.reduce_window(x[:, :0], 1.5, lax.add, (1, 2), (1, 1), ((0, 0), (2, 2))),
               [y], None, lambda u: (np.zeros((5, 7)), np.full((5, 3), 4.5)))
    # In bf16 1 + 2^-9 is 1: the sums of 24 of them are kept in f32.
    small = np.full((2, 24), 2.0**-9)
    small[:, 0] = 1.0
    for name, window in (("narrow_sum", Window((1, 24), (1, 1), ((0, 0), (23, 0)), (1, 1), (1, 1))),
                         ("narrow_long", Window((1, 20), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)))):
        half = lambda x: jnp.asarray(x, jnp.bfloat16)
        yield Case(name, lambda x, w=window: lax.reduce_window(half(x), half(0), lax.add, *w.arguments()).astype(x.dtype),
                   [small], None, lambda u, w=window: narrow(half, w, small, u))


def narrow(half, window, x, u):
    """Sums of bf16; the cotangent has bf16 too."""
    rounded = np.asarray(half(u), np.float64)
    gradient, _, value = define("add", x, window, 0.0, rounded)
    return np.asarray(half(gradient), np.float64), np.asarray(half(value), np.float64)


def cumulative_windows(g):
    for function in (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin):
        for n, reverse in ((2, False), (7, True), (8, False), (13, True)):
            x = g.integers(-2, 3, (2, n, 3)) / 2.0
            f = lambda x, f=function, r=reverse: f(x, axis=1, reverse=r)
            yield Case(f"{function.__name__}_{n}", f, [x], f)


def windows(count):
    g = np.random.default_rng(2)
    cases = [*random_windows(g, count), *long_windows(g), *windows_of_kinds()]
    return cases + [*several_windows(g), *other_windows(g), *cumulative_windows(g)]
