# ===- derivative_cases.py - Functions whose derivatives are compared -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The cases of derivatives.py: for each row of docs/derivatives.md at least one."""

import dataclasses
from functools import partial
from typing import Callable, Optional

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
import printed_ops
from jax import lax

INF, NAN = np.inf, np.nan


@dataclasses.dataclass
class Case:
    """`op` is the row of the table. `points` replaces the grid. `differs` (operand,
    points) says where the gradient is not JAX's: the row gives the reason. `loss` is
    how many times the rounding is allowed, where the derivative itself cancels."""

    name: str
    op: str
    function: Callable
    arity: int = 1
    points: Optional[list] = None
    differs: Optional[Callable] = None
    loss: float = 64


CASES = []


def case(name, op, function, arity=1, points=None, **more):
    CASES.append(Case(name, op, function, arity, points, **more))


def fixed(name, op, function, *points, **more):
    case(name, op, function, len(points), list(points), **more)


MATRIX = [[0.0, -0.0, 1e-3, -1.0], [100.0, -100.0, 88.0, 2.0], [INF, -INF, NAN, 1.0]]
TIES = [[1.0, 2.0, 2.0, 2.0], [0.0, -0.0, -1.0, 0.0], [INF, INF, 1.0, -INF], [NAN, 1.0, 2.0, NAN]]
WEIGHTS = np.arange(1.0, 5.0)
ZEROS = [[1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0, 4.0], [0.0, -0.0, 3.0, 4.0], [INF, 0.0, 1.0, 2.0]]

# One operand.
case("negate", "stablehlo.negate", lambda x: -x)
case("abs", "stablehlo.abs", jnp.abs)
case("sign", "stablehlo.sign", lambda x: jnp.sign(x) + x)
case("ceil", "stablehlo.ceil", lambda x: jnp.ceil(x) + x)
case("floor", "stablehlo.floor", lambda x: jnp.floor(x) + x)
case("cbrt", "stablehlo.cbrt", jnp.cbrt)
case("cosine", "stablehlo.cosine", jnp.cos)
case("sine", "stablehlo.sine", jnp.sin)
case("exp", "stablehlo.exponential", jnp.exp)
case("expm1", "stablehlo.exponential_minus_one", jnp.expm1)
case("log", "stablehlo.log", jnp.log)
case("log1p", "stablehlo.log_plus_one", jnp.log1p)
case("logistic", "stablehlo.logistic", lax.logistic)
case("sqrt", "stablehlo.sqrt", jnp.sqrt)
case("rsqrt", "stablehlo.rsqrt", lax.rsqrt)
case("tanh", "stablehlo.tanh", jnp.tanh)
case("tan", "stablehlo.tan", jnp.tan)
case("round to even", "stablehlo.round_nearest_even", lambda x: jnp.round(x) + x)
case("round away", "stablehlo.round_nearest_afz", lambda x: lax.round(x) + x)
case("reduce_precision", "stablehlo.reduce_precision", lambda x: lax.reduce_precision(x, 5, 3))
for name in "acos acosh asin asinh atan atanh cosh sinh".split():
    case(name, f"chlo.{name}", getattr(lax, name))
case("erf_inv", "chlo.erf_inv", lax.erf_inv, loss=1e4)
case("lgamma", "chlo.lgamma", lax.lgamma, loss=1e4)
case("digamma", "chlo.digamma", lax.digamma, loss=1e5,
     differs=lambda i, x: np.isposinf(x))
case("polygamma", "chlo.polygamma", lambda x: lax.polygamma(jnp.full_like(x, 2), x), loss=1e5,
     differs=lambda i, x: np.isposinf(x))
case("square", "chlo.square", jnp.square)
case("bessel_i1e", "chlo.bessel_i1e", lax.bessel_i1e, loss=1e3)
case("erf", "chlo.erf", lax.erf)
case("erfc", "chlo.erfc", lax.erfc)

# Two operands.
case("add", "stablehlo.add", jnp.add, 2)
case("subtract", "stablehlo.subtract", jnp.subtract, 2)
case("multiply", "stablehlo.multiply", jnp.multiply, 2)
case("divide", "stablehlo.divide", jnp.divide, 2)
case("remainder", "stablehlo.remainder", lax.rem, 2)
case("atan2", "stablehlo.atan2", lax.atan2, 2)
case("maximum", "stablehlo.maximum", jnp.maximum, 2)
case("maximum_0", "stablehlo.maximum", lambda x: jnp.maximum(x, 0))
case("maximum_0_left", "stablehlo.maximum", lambda x: lax.max(jnp.zeros_like(x), x))
case("minimum", "stablehlo.minimum", jnp.minimum, 2)
case("minimum_0", "stablehlo.minimum", lambda x: jnp.minimum(x, 0))
case("clip", "stablehlo.minimum", lambda x: jnp.clip(x, -1, 1))
case("power", "stablehlo.power", lax.pow, 2,
     differs=lambda i, x, p: (p == 0) & ((x == 0) | np.isnan(x)) & (i == 0))
case("power_0", "stablehlo.power", lambda x: lax.pow(x, jnp.zeros_like(x)),
     differs=lambda i, x: (x == 0) | np.isnan(x))
for exponent in (0.5, 1.0, 1.5, 2.0, 3.0, -1.0, -0.5):
    name = f"power_{exponent}".replace(".", "_").replace("-", "m")
    case(name, "stablehlo.power", lambda x, p=exponent: lax.pow(x, jnp.full_like(x, p)))
case("power_of_2", "stablehlo.power", lambda x: lax.pow(jnp.full_like(x, 2), x))
case("integer_pow", "stablehlo.multiply", lambda x: x**3 + x**2)
case("integer_pow_negative", "stablehlo.divide", lambda x: x**-2,
     differs=lambda i, x: (x == 0) | np.isinf(x))

# Choices.
case("select", "stablehlo.select", lambda x, y: jnp.where(x > y, x, y), 2)
case("select_log", "stablehlo.select", lambda x: jnp.where(x > 0, jnp.log(x), x))
case("clamp", "stablehlo.clamp", lambda x: lax.clamp(jnp.full_like(x, -1), x, jnp.full_like(x, 1)))
case("clamp_scalar", "stablehlo.clamp", lambda x: lax.clamp(x.dtype.type(0), x, x.dtype.type(2)))
case("clamp_crossed", "stablehlo.clamp", lambda x: lax.clamp(x.dtype.type(1), x, x.dtype.type(-1)))
case("clamp_low", "stablehlo.clamp", lambda x, y: lax.clamp(x, y, jnp.full_like(x, 1)), 2)
case("clamp_high", "stablehlo.clamp", lambda x, y: lax.clamp(jnp.full_like(x, -1), x, y), 2)

# Reductions, ties and zeros.
fixed("reduce_add", "stablehlo.reduce", lambda x: jnp.sum(x, 1), MATRIX)
fixed("reduce_max", "stablehlo.reduce", lambda x: jnp.max(x, 1), TIES)
fixed("reduce_max_all", "stablehlo.reduce", lambda x: jnp.max(x), TIES[:2])
fixed("reduce_min", "stablehlo.reduce", lambda x: jnp.min(x, 1), TIES)
fixed("reduce_multiply", "stablehlo.reduce", lambda x: jnp.prod(x, 1), ZEROS,
      differs=lambda i, x: np.isinf(x).any(1, keepdims=True))

# Windows: ties, padding, infinities.
def window(op, init, sizes, strides, padding):
    return lambda x: lax.reduce_window(x, init, op, sizes, strides, padding)


fixed("window_add", "stablehlo.reduce_window", window(lax.add, 0.0, (2, 3), (1, 2), "SAME"), MATRIX)
fixed("window_max", "stablehlo.reduce_window", window(lax.max, -INF, (2, 2), (1, 1), "SAME"), TIES[:3])
fixed("window_min", "stablehlo.reduce_window", window(lax.min, INF, (2, 3), (2, 1), "VALID"), TIES[:3])
fixed("window_max_nan", "stablehlo.reduce_window", window(lax.max, -INF, (1, 2), (1, 1), "VALID"), TIES,
      differs=lambda i, x: np.isnan(x).any(1, keepdims=True))
fixed("window_as_cummax", "stablehlo.reduce_window",
      window(lax.max, -INF, (1, 4), (1, 1), ((0, 0), (3, 0))), TIES[:2], differs=lambda i, x: x == x)
fixed("cummax", "stablehlo.reduce_window", lambda x: lax.cummax(x, 1), TIES[:3])
fixed("cummin", "stablehlo.reduce_window", lambda x: lax.cummin(x, 1, reverse=True), TIES[:3])
fixed("cumsum", "stablehlo.reduce_window", lambda x: lax.cumsum(x, 1), MATRIX)
fixed("cumprod", "stablehlo.reduce_window", lambda x: lax.cumprod(x, 1), ZEROS[:3])
fixed("cumlogsumexp", "stablehlo.reduce_window", lambda x: lax.cumlogsumexp(x, 1) * WEIGHTS.astype(x.dtype), TIES)
fixed("cumlogsumexp_reversed", "stablehlo.reduce_window", lambda x: lax.cumlogsumexp(x, 1, reverse=True), TIES)


def pool_gradient(sizes, strides, padding):
    """Of a maximum over windows, by x and by the cotangent."""
    def function(x, g):
        shape = jax.eval_shape(window(lax.max, -INF, sizes, strides, padding), x).shape
        pull = jax.vjp(window(lax.max, -INF, sizes, strides, padding), x)[1]
        return pull(g.reshape(-1)[: int(np.prod(shape))].reshape(shape))[0] * MATRIX_WEIGHTS
    return function


MATRIX_WEIGHTS = np.arange(1.0, 13.0).reshape(3, 4)
fixed("pool_gradient", "stablehlo.select_and_scatter", pool_gradient((2, 2), (1, 1), "VALID"), TIES[:3], MATRIX)
fixed("pool_gradient_same", "stablehlo.select_and_scatter", pool_gradient((3, 2), (2, 2), "SAME"), TIES[:3], MATRIX)

# Norms.
NORM = 2 * np.sin(1.7 * np.arange(12) + 0.3).reshape(3, 4)
FEATURES = [np.cos(1.3 * np.arange(4) + i) for i in range(2)] + [[0.25, 1.0, 0.125, 2.0]]


def weighted(function):
    """The sum of all results times different numbers."""
    return lambda *xs: sum(jnp.sum(y * (jnp.arange(y.size, dtype=y.dtype).reshape(y.shape) * 0.5 - 1))
                           for y in jax.tree.leaves(function(*xs)))


fixed("batch_norm_training", "stablehlo.batch_norm_training", weighted(printed_ops.batch_norm_training(1)),
      NORM, *FEATURES[:2], loss=1e4)
fixed("batch_norm_rows", "stablehlo.batch_norm_training", weighted(printed_ops.batch_norm_training(0)),
      NORM.T, *FEATURES[:2], loss=1e4)
fixed("batch_norm_inference", "stablehlo.batch_norm_inference", weighted(printed_ops.batch_norm_inference(1)),
      NORM, *FEATURES, FEATURES[2], loss=1e4)
fixed("batch_norm_grad", "stablehlo.batch_norm_grad", weighted(printed_ops.batch_norm_grad(1)),
      NORM, *FEATURES, np.cos(2.1 * np.arange(12)).reshape(3, 4), loss=1e4)

# Branches: of what is not taken comes nothing, though its derivative be infinite.
def branches(*choices):
    return lambda x: jnp.stack([lax.switch(jnp.int32(jnp.sign(row[0])) + 1, choices, row) for row in x])


fixed("cond", "stablehlo.case", lambda x: jnp.stack([lax.cond(r[0] > 0, jnp.log, lambda y: y * 2, r) for r in x]),
      [[0.0, 0.0, 1.0], [1.0, 2.0, 3.0], [-1.0, 0.0, INF], [NAN, 0.0, 1.0]])
fixed("cond_weights", "stablehlo.case", lambda x, w: lax.cond(x[0] > 0, lambda: jnp.sqrt(x) @ w, lambda: x @ jnp.log(w)),
      [0.0, 0.0], [[0.0, 1.0], [2.0, 3.0]])
fixed("switch", "stablehlo.case", branches(jnp.sqrt, lambda y: 1 / y, jnp.log),
      [[0.0, 0.0, 1.0], [2.0, 0.0, 3.0], [-1.0, 0.0, 4.0]])
fixed("switch_outside", "stablehlo.case",
      lambda x: lax.switch(jnp.int32(x[0]) + 9, [jnp.sqrt, lambda y: y, jnp.cos], x), [0.0, 1.0, 4.0])

# Products in other forms.
fixed("dot_older", "stablehlo.dot", weighted(printed_ops.dot()), MATRIX[:2], np.transpose(TIES[:2]))
def grouped(sizes, *dims):
    return weighted(lambda x, w: printed_ops.ragged_dot(*dims)(x, w, np.asarray(sizes, np.int32)))


RAGGED_X, RAGGED_W = np.arange(20.0).reshape(5, 4) - 7, np.arange(24.0).reshape(2, 4, 3) % 7 - 2
fixed("ragged_dot", "chlo.ragged_dot", grouped([1, 3], (1,), (1,), 0, ((), ()), (0,)), RAGGED_X, RAGGED_W)
fixed("ragged_dot_contracted", "chlo.ragged_dot", grouped([2, 1], (0,), (0,), 0), RAGGED_X, RAGGED_X[:, :3] * 2)
fixed("ragged_dot_batch", "chlo.ragged_dot", grouped([2, 1], (2,), (2,), 1, ((0,), (1,)), (0,)),
      RAGGED_W.reshape(2, 3, 4) - 1, np.arange(48.0).reshape(2, 2, 4, 3) % 5 - 2)
fixed("grouped_dot", "nn.grouped_dot", grouped([0, 4], (1,), (1,), 0, ((), ()), (0,)), RAGGED_X, RAGGED_W)
fixed("grouped_dot_contracted", "nn.grouped_dot", grouped([0, 4], (0,), (0,), 0), RAGGED_X, RAGGED_X[:, :3] * 2)
fixed("convolution", "stablehlo.convolution",
      lambda x, w: lax.conv(x.reshape(1, 1, 3, 4), w.reshape(3, 1, 2, 2), (1, 2), "SAME"),
      np.arange(12.0).reshape(3, 4) - 5, np.arange(12.0).reshape(3, 4) % 5 - 2)

# Factors and triangles: SciPy's factor reads one triangle, of which the other one's elements get half of the cotangent.
DEFINITE = np.array([[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 6.0]])
fixed("cholesky", "stablehlo.cholesky", weighted(jnp.linalg.cholesky), DEFINITE)
fixed("cholesky_scipy", "stablehlo.cholesky", weighted(jax.scipy.linalg.cholesky), DEFINITE)
fixed("cholesky_batch", "stablehlo.cholesky", weighted(jnp.linalg.cholesky), [DEFINITE, DEFINITE * 2])
fixed("cholesky_one", "stablehlo.cholesky", weighted(jnp.linalg.cholesky), [[2.0]])
fixed("cholesky_indefinite", "stablehlo.cholesky", weighted(jnp.linalg.cholesky), DEFINITE - 5)
TURNED = np.array([[0.5, 4.0, -2.0], [1.0, -1.0, 5.0], [-3.0, 0.5, 1.0]])
fixed("lu", "stablehlo.lu", weighted(lambda x: lax.linalg.lu(x)[0]), TURNED)
fixed("lu_batch", "stablehlo.lu", weighted(lambda x: lax.linalg.lu(x)[0]), [TURNED, DEFINITE])
fixed("lu_one", "stablehlo.lu", weighted(lambda x: lax.linalg.lu(x)[0]), [[2.0]])
for _number in range(16):
    _left, _lower, _transposed, _unit = (bool(_number >> k & 1) for k in range(4))
    fixed(f"triangular_solve_{_number}", "stablehlo.triangular_solve",
          weighted(partial(lax.linalg.triangular_solve, left_side=_left, lower=_lower, transpose_a=_transposed,
                           unit_diagonal=_unit)),
          DEFINITE - 1.5, np.arange(6.0).reshape((3, 2) if _left else (2, 3)) - 2)
fixed("triangular_solve_singular", "stablehlo.triangular_solve", weighted(lax.linalg.triangular_solve),
      [[1.0, 2.0], [0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]], differs=lambda i, *points: i == 0)

# Movement.
fixed("dot_general", "stablehlo.dot_general", jnp.matmul, MATRIX, np.transpose(TIES))
fixed("broadcast", "stablehlo.broadcast_in_dim", lambda x: jnp.broadcast_to(x[:, None], (4, 3)) * 2,
      [0.0, -INF, NAN, 1.0])
fixed("reshape", "stablehlo.reshape", lambda x: x.reshape(2, 6) * 2, MATRIX)
fixed("transpose", "stablehlo.transpose", lambda x: x.T * jnp.arange(12.0).reshape(4, 3), MATRIX)
fixed("reverse", "stablehlo.reverse", lambda x: x[::-1] * jnp.arange(12.0).reshape(3, 4), MATRIX)
fixed("barrier", "stablehlo.optimization_barrier", lambda x: lax.optimization_barrier(x) * 3, MATRIX)
fixed("convert", "stablehlo.convert",
      lambda x: x.astype(jnp.bfloat16).astype(x.dtype) + x.astype(jnp.float32).astype(x.dtype),
      MATRIX)
fixed("slice", "stablehlo.slice", lambda x: x[1:, ::2] * 3, MATRIX)
fixed("pad", "stablehlo.pad",
      lambda x: lax.pad(x, x.dtype.type(0), ((1, -1, 1), (-1, 2, 0))) * 3, MATRIX)
fixed("concatenate", "stablehlo.concatenate",
      lambda x, y: jnp.concatenate([x, y, x]) * jnp.arange(40.0).reshape(10, 4), MATRIX, TIES)


def starts(x, *numbers):
    """Numbers that the import does not know, since they depend on x[0, 0], which is 0."""
    return [jnp.int32(n) + jnp.isnan(x[0, 0]).astype(jnp.int32) for n in numbers]


fixed("dynamic_slice", "stablehlo.dynamic_slice",
      lambda x: lax.dynamic_slice(x, starts(x, 2, -3), (2, 2)) * 3, MATRIX)
fixed("dynamic_slice_known", "stablehlo.slice",
      lambda x: lax.dynamic_slice(x, (jnp.int32(2), jnp.int32(-3)), (2, 2)) * 3, MATRIX)
fixed("dynamic_update_slice", "stablehlo.dynamic_update_slice",
      lambda x, y: lax.dynamic_update_slice(x, y, starts(x, 9, 1)) * 3,
      MATRIX, [[1.0, INF], [NAN, 0.0]])
fixed("dynamic_update_slice_known", "stablehlo.concatenate",
      lambda x, y: lax.dynamic_update_slice(x, y, (jnp.int32(9), jnp.int32(1))) * 3,
      MATRIX, [[1.0, INF], [NAN, 0.0]])
OUTSIDE = np.array([0, 2, 2, -1, 7, -9])
fixed("gather_clip", "stablehlo.gather", lambda x: x.at[OUTSIDE].get(mode="clip") * 3, MATRIX)
fixed("gather_fill", "stablehlo.gather", lambda x: x.at[OUTSIDE].get(mode="fill", fill_value=0) * 3,
      MATRIX)
fixed("scatter_add", "stablehlo.scatter", lambda x, y: x.at[OUTSIDE].add(y, mode="drop") * 3,
      [0.0, 1.0, INF], [1.0, 2.0, NAN, INF, 0.0, 5.0])
fixed("scatter_set", "stablehlo.scatter", lambda x, y: x.at[np.array([0, 2, 1])].set(y) * 3,
      [0.0, 1.0, INF, 2.0], [1.0, NAN, INF])
fixed("scatter_max", "stablehlo.scatter", lambda x, y: x.at[OUTSIDE].max(y, mode="drop") * 3,
      [0.0, -INF, 1.0, 5.0], [-0.0, 1.0, 1.0, INF, 0.0, 5.0])
fixed("scatter_min", "stablehlo.scatter", lambda x, y: x.at[OUTSIDE].min(y, mode="drop") * 3,
      [0.0, INF, -1.0, 5.0], [0.0, -2.0, -2.0, INF, 0.0, 5.0])
fixed("scatter_mul", "stablehlo.scatter",
      lambda x, y: x.at[np.array([0, 2, 1])].multiply(y, unique_indices=True) * 3,
      [0.0, 1.0, -2.0, INF], [3.0, -0.0, 2.0])

# Losses.
TARGETS = np.array([1, 0, 3])
LOGITS = [[1.0, 1.0, 1.0, 1.0], [0.0, 100.0, -100.0, 88.0], [-INF, 1.0, 2.0, -1e-3]]
fixed("cross_entropy", "nn.softmax_cross_entropy",
      lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x), TARGETS[:, None], 1), LOGITS)

# JAX's functions.
case("relu", "relu", jax.nn.relu)
case("relu6", "relu6", lambda x: jax.nn.relu6(x) + jax.nn.relu6(x + 5))
case("softplus", "logaddexp", jax.nn.softplus)
case("logaddexp", "logaddexp", jnp.logaddexp, 2)
case("logaddexp2", "logaddexp2", jnp.logaddexp2, 2)
case("sigmoid", "sigmoid", jax.nn.sigmoid)
case("silu", "nn.silu", jax.nn.silu)
case("sinc", "sinc", jnp.sinc, loss=1e6)
fixed("slogdet", "slogdet", lambda x: jnp.linalg.slogdet(x)[1], TURNED)
fixed("slogdet_sign", "slogdet", lambda x: jnp.prod(jnp.stack(jnp.linalg.slogdet(x))), [TURNED, DEFINITE])
fixed("det", "det", jnp.linalg.det, np.pad(TURNED, (0, 1), constant_values=2.0))
fixed("det_three", "det", jnp.linalg.det, TURNED)
case("xlogy", "xlogy", special.xlogy, 2)
case("xlog1py", "xlog1py", special.xlog1py, 2)
case("entr", "xlogx", special.entr)
case("logit", "logit", special.logit)
case("log_ndtr", "log_ndtr", special.log_ndtr)
case("log1mexp", "log1mexp", jax.nn.log1mexp)
# x/y - 1 and such are 0 to rounding.
case("kl_div", "xlogy", lambda x, y: special.kl_div(x, y) + 4 * y, 2)
case("rel_entr", "xlogx", special.rel_entr, 2)
case("celu", "stablehlo.maximum", jax.nn.celu, differs=lambda i, x: np.isnan(x))
case("gelu", "nn.gelu", jax.nn.gelu, loss=2e4)
case("gelu erf", "nn.gelu", lambda x: jax.nn.gelu(x, approximate=False), loss=2e4)
for name in ("elu", "selu", "mish", "log_sigmoid", "hard_sigmoid", "hard_swish", "hard_tanh",
             "leaky_relu", "squareplus", "sparse_plus", "sparse_sigmoid", "soft_sign"):
    case(name, "logaddexp" if name == "log_sigmoid" else "text", getattr(jax.nn, name), loss=2e4)
NUMBERS = np.arange(12.0).reshape(3, 4)
fixed("softmax", "nn.softmax", lambda x: jax.nn.softmax(x) * NUMBERS, LOGITS, loss=1e6)
fixed("log_softmax", "nn.log_softmax", lambda x: jax.nn.log_softmax(x) * NUMBERS, LOGITS)
ROWS = [[1.0, 1.0, 1.0, 1.0], [0.0, 3.0, -1.0, 2.0], [INF, 1.0, 2.0, -1e-3], [NAN, 1.0, 2.0, 3.0]]
fixed("layer norm", "nn.layer_norm", lambda x: jax.nn.standardize(x) * NUMBERS[:1], ROWS)
fixed("rms norm", "nn.rms_norm", lambda x: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * NUMBERS[:1], ROWS)
fixed("batch norm", "nn.batch_norm", lambda x: jax.nn.standardize(x, axis=0) * np.sin(NUMBERS), [*ROWS[:2], [INF, 0.5, 5.0, NAN]])
fixed("rotary", "nn.rotary", lambda x, t: x * jnp.cos(t) + jnp.concatenate([-x[:, 2:], x[:, :2]], 1) * jnp.sin(t), ROWS,
      [[0.0, 1.0, -2.0, 3.0]])
KEYS = [[1.0, -1.0, 0.5, 2.0], [0.0, 88.0, -100.0, 1.0]]
fixed("attention", "nn.attention", lambda q, k, v: jax.nn.softmax(q @ k.T) @ v, ROWS, KEYS, MATRIX[:2],
      loss=1e6)
fixed("masked attention", "nn.attention", lambda q, k, v: jax.nn.softmax(jnp.where(
    np.tri(3, 2, dtype=bool), q @ k.T, -INF)) @ v, MATRIX, KEYS, LOGITS[:2])
fixed("logsumexp", "nn.log_sum_exp", lambda x: special.logsumexp(x, 1), [*LOGITS, 4 * [-INF], [INF, 0.0, NAN, 1.0]])

# Orders: the cotangent goes back to where an element stood, among equal ones to the one that stood first.
fixed("sort", "stablehlo.gather", lambda x: jnp.sort(x, axis=-1) * WEIGHTS.astype(x.dtype), TIES)
fixed("sort falling", "stablehlo.gather", lambda x: jnp.sort(x, axis=-1, descending=True) * WEIGHTS.astype(x.dtype), TIES)
fixed("argsort", "nn.argsort", lambda x: jnp.argsort(x, axis=-1).astype(x.dtype) * x, TIES)
fixed("top_k", "stablehlo.gather", lambda x: lax.top_k(x, 2)[0] * WEIGHTS[:2].astype(x.dtype), TIES)
