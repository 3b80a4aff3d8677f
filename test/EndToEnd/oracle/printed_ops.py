# ===- printed_ops.py - Functions that JAX prints as one op ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""JAX functions whose text is an op that JAX itself never prints on processors.

Values and derivatives are those of a function in jax.numpy, which states the op.
"""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo
from jaxlib.mlir.dialects import stablehlo as hlo


# XLA has no ragged_dot on processors: where JAX runs a function, it is to print what states it.
executed = False


@contextlib.contextmanager
def executing():
    global executed
    executed = True
    yield
    executed = False


def printed_as(reference, lower):
    """`reference`, whose text is what `lower(operands, types of the results)` builds."""
    primitive = Primitive(f"printed_{reference.__name__}")
    primitive.multiple_results = True
    primitive.def_impl(lambda *xs: jax.tree.leaves(jax.jit(reference)(*xs)))

    def abstract(*xs):
        shapes = jax.eval_shape(reference, *[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in xs])
        return [jax.core.ShapedArray(s.shape, s.dtype) for s in jax.tree.leaves(shapes)]

    def push(primals, tangents):
        moved = [i for i, t in enumerate(tangents) if type(t) is not ad.Zero]

        def of_moved(*some):
            xs = list(primals)
            for i, x in zip(moved, some):
                xs[i] = x
            return jax.tree.leaves(reference(*xs))

        _, slopes = jax.jvp(of_moved, [primals[i] for i in moved], [tangents[i] for i in moved])
        return primitive.bind(*primals), slopes

    primitive.def_abstract_eval(abstract)
    ad.primitive_jvps[primitive] = push

    def to_text(context, *xs):
        if executed:
            return mlir.lower_fun(lambda *ys: jax.tree.leaves(reference(*ys)), multiple_results=True)(context, *xs)
        return lower(xs, [mlir.aval_to_ir_type(context.module_context, a) for a in context.avals_out])

    mlir.register_lowering(primitive, to_text)

    def function(*xs):
        results = primitive.bind(*map(jnp.asarray, xs))
        return results if len(results) > 1 else results[0]

    return function


# ===----------------------------------------------------------------------=== #
# Batch normalization
# ===----------------------------------------------------------------------=== #

EPSILON = 1e-3


def spread(features, x, dim):
    return lax.broadcast_in_dim(features, x.shape, (dim,))


def normalize(x, scale, offset, mean, variance, dim):
    # The op's epsilon is a float of 32 bits.
    deviation = jnp.sqrt(variance + np.asarray(np.float32(EPSILON), x.dtype))
    return spread(scale, x, dim) * ((x - spread(mean, x, dim)) / spread(deviation, x, dim)) + spread(offset, x, dim)


def batch_norm_training(dim):
    def training(x, scale, offset):
        others = [d for d in range(x.ndim) if d != dim]
        count = x.size // x.shape[dim]
        mean = jnp.sum(x, others) / count
        centered = x - spread(mean, x, dim)
        variance = jnp.sum(centered * centered, others) / count
        return normalize(x, scale, offset, mean, variance, dim), mean, variance

    return printed_as(training, lambda xs, types: hlo.BatchNormTrainingOp(
        *xs, ir.FloatAttr.get(ir.F32Type.get(), EPSILON), mlir.i64_attr(dim)).results)


def batch_norm_inference(dim):
    def inference(x, scale, offset, mean, variance):
        return normalize(x, scale, offset, mean, variance, dim)

    return printed_as(inference, lambda xs, types: hlo.BatchNormInferenceOp(
        *xs, ir.FloatAttr.get(ir.F32Type.get(), EPSILON), mlir.i64_attr(dim)).results)


def batch_norm_grad(dim):
    def grad(x, scale, mean, variance, g):
        others = [d for d in range(x.ndim) if d != dim]
        count = x.size // x.shape[dim]
        shifted = variance + np.asarray(np.float32(EPSILON), x.dtype)
        deviation, centered = jnp.sqrt(shifted), x - spread(mean, x, dim)
        slope = jnp.sum(g * centered, others)
        inner = g * count - spread(jnp.sum(g, others), x, dim) - spread(slope, x, dim) * centered / spread(shifted, x, dim)
        of_x = spread(scale, x, dim) / spread(deviation, x, dim) / count * inner
        return of_x, jnp.sum(g * centered / spread(deviation, x, dim), others), jnp.sum(g, others)

    return printed_as(grad, lambda xs, types: hlo.BatchNormGradOp(
        *xs, ir.FloatAttr.get(ir.F32Type.get(), EPSILON), mlir.i64_attr(dim)).results)


# ===----------------------------------------------------------------------=== #
# Products
# ===----------------------------------------------------------------------=== #


def dot():
    def product(x, w):
        return jnp.dot(x, w)

    return printed_as(product, lambda xs, types: hlo.DotOp(types[0], *xs).results)


RAGGED = """#chlo.ragged_dot<{batching}lhs_contracting_dimensions = {lhs}, rhs_contracting_dimensions = {rhs},
lhs_ragged_dimensions = {ragged}{group}>"""


def ragged_dot(lhs, rhs, ragged, batching=((), ()), group=()):
    """Of both sides, of which `lhs` and `rhs` are contracted, and the sizes of groups along
    `ragged`."""

    def grouped(x, w, sizes):
        # JAX has no derivative of all that it can print.
        rows, ends = lax.broadcasted_iota(jnp.int32, x.shape, ragged), jnp.cumsum(sizes)
        parts = [jnp.where((rows >= ends[i] - sizes[i]) & (rows < ends[i]), x, 0) for i in range(len(sizes))]
        if ragged in lhs:
            return jnp.stack([lax.dot_general(part, w, ((lhs, rhs), batching)) for part in parts])
        return sum(lax.dot_general(part, lax.index_in_dim(w, i, group[0], keepdims=False),
                                   ((lhs, [d - (d > group[0]) for d in rhs]),
                                    (batching[0], [d - (d > group[0]) for d in batching[1]])))
                   for i, part in enumerate(parts))

    def lower(xs, types):
        b = f"lhs_batching_dimensions = {list(batching[0])}, rhs_batching_dimensions = {list(batching[1])}, "
        text = RAGGED.format(batching=b if batching[0] else "", lhs=list(lhs), rhs=list(rhs), ragged=[ragged],
                             group=f", rhs_group_dimensions = {list(group)}" if group else "")
        return chlo.RaggedDotOp(types[0], *xs, ir.Attribute.parse(text)).results

    return printed_as(grouped, lower)
