//===- Builders.h - Graph-level ops from values -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For authors of derivatives and decompositions: each function creates one
// stablehlo op (or, where it says so, two or three) and returns its result.
// Result types follow from the operands and carry no encoding. Operands must
// already agree in shape and element type; nothing is broadcast silently.
//
//   Value g = mul(b, loc, dy, rsqrt(b, loc, var));
//   Value s = reduceAdd(b, loc, g, {0, 1});
//   Value z = constantLike(b, loc, x, 0.0);
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_BUILDERS_H
#define LLMC_DIALECT_STABLEHLO_IR_BUILDERS_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Support/LLVM.h"

namespace llmc::stablehlo {

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

Value add(OpBuilder &b, Location loc, Value x, Value y);
Value sub(OpBuilder &b, Location loc, Value x, Value y);
Value mul(OpBuilder &b, Location loc, Value x, Value y);
Value div(OpBuilder &b, Location loc, Value x, Value y);
Value max(OpBuilder &b, Location loc, Value x, Value y);
Value min(OpBuilder &b, Location loc, Value x, Value y);
Value pow(OpBuilder &b, Location loc, Value x, Value y);
Value neg(OpBuilder &b, Location loc, Value x);
Value abs(OpBuilder &b, Location loc, Value x);
Value sign(OpBuilder &b, Location loc, Value x);
Value exp(OpBuilder &b, Location loc, Value x);
Value log(OpBuilder &b, Location loc, Value x);
Value sqrt(OpBuilder &b, Location loc, Value x);
Value rsqrt(OpBuilder &b, Location loc, Value x);
Value tanh(OpBuilder &b, Location loc, Value x);
Value sine(OpBuilder &b, Location loc, Value x);
Value cosine(OpBuilder &b, Location loc, Value x);
Value logistic(OpBuilder &b, Location loc, Value x);
Value logicalNot(OpBuilder &b, Location loc, Value x);
Value logicalAnd(OpBuilder &b, Location loc, Value x, Value y);

/// i1 tensor; the comparison type follows the element type.
Value compare(OpBuilder &b, Location loc, ComparisonDirection direction,
              Value x, Value y);
/// `pred` has the choices' shape or rank 0.
Value select(OpBuilder &b, Location loc, Value pred, Value onTrue,
             Value onFalse);
/// The operand itself if it already has the element type.
Value convertTo(OpBuilder &b, Location loc, Value x, Type element);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// One element of `type` as an attribute: floats round to nearest, integers
/// truncate, i1 is "not zero".
mlir::TypedAttr elementOf(Type element, double value);
/// A splat of any shape.
Value constantSplat(OpBuilder &b, Location loc, RankedTensorType type,
                    double value);
/// A splat of the type of `x`.
Value constantLike(OpBuilder &b, Location loc, Value x, double value);
/// A scalar.
Value scalar(OpBuilder &b, Location loc, Type element, double value);
/// The element that `max` starts from (-inf, or the smallest integer), as
/// scalar; and the one that `min` starts from.
Value lowestScalar(OpBuilder &b, Location loc, Type element);
Value highestScalar(OpBuilder &b, Location loc, Type element);
/// Position along `dim`.
Value iota(OpBuilder &b, Location loc, RankedTensorType type, int64_t dim);

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Operand dimension i becomes dimension dims[i] of `type` (encoding dropped).
Value broadcastInDim(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                     ArrayRef<int64_t> dims);
/// `x` lacks dimensions `reduced` of `type`: puts them back by repetition.
Value broadcastAlong(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                     ArrayRef<int64_t> reduced);
/// The operand itself if it already has the shape.
Value reshape(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> shape);
/// The operand itself if the permutation is the identity.
Value transpose(OpBuilder &b, Location loc, Value x,
                ArrayRef<int64_t> permutation);
Value reverse(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims);
/// Strides are 1 where none are given.
Value slice(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> starts,
            ArrayRef<int64_t> limits, ArrayRef<int64_t> strides = {});
/// `value` is a scalar; interior padding is 0 where none is given.
Value pad(OpBuilder &b, Location loc, Value x, Value value,
          ArrayRef<int64_t> low, ArrayRef<int64_t> high,
          ArrayRef<int64_t> interior = {});
Value concatenate(OpBuilder &b, Location loc, ValueRange xs, int64_t dim);

//===----------------------------------------------------------------------===//
// Contraction, reduction, indexing
//===----------------------------------------------------------------------===//

/// Batch, free of the left, free of the right. `element` null: the left
/// operand's.
Value dotGeneral(OpBuilder &b, Location loc, Value lhs, Value rhs,
                 DotDimensionNumbersAttr dims, Type element = Type());
DotDimensionNumbersAttr dotDims(MLIRContext *context,
                                ArrayRef<int64_t> lhsBatch,
                                ArrayRef<int64_t> rhsBatch,
                                ArrayRef<int64_t> lhsContract,
                                ArrayRef<int64_t> rhsContract);

/// Reduces dimensions away, starting from the kind's neutral element (a
/// constant, created before). Without dimensions: the operand itself.
Value reduce(OpBuilder &b, Location loc, ReductionKind kind, Value x,
             ArrayRef<int64_t> dims);
Value reduceAdd(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims);
Value reduceMax(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims);
/// Kind of a combination of two operands; nothing for any other op.
std::optional<ReductionKind> combinationKindOf(Operation *op);
/// Kind of a reduce or scatter body: one op on both arguments, returned.
/// Nothing for any other body.
std::optional<ReductionKind> reduceKindOf(Region &body);
/// What changes nothing when it is combined: an infinity for extremes where the
/// type has one, else its last value. Assumes integers for bits.
mlir::TypedAttr getNeutralElement(ReductionKind kind, Type element);
/// The same as scalar.
Value neutralScalar(OpBuilder &b, Location loc, ReductionKind kind,
                    Type element);
/// The element that all elements of `value` have (a constant that may be
/// broadcast), or null.
Attribute getSplatElement(Value value);
/// Every element of `value` is the neutral one; zeros of both signs count.
bool isNeutral(Value value, ReductionKind kind);

Value gather(OpBuilder &b, Location loc, RankedTensorType type, Value operand,
             Value indices, GatherDimensionNumbersAttr dims,
             ArrayRef<int64_t> sliceSizes, bool sorted = false);
/// Scatter that combines an update with the element there by `kind`.
Value scatter(OpBuilder &b, Location loc, ReductionKind kind, Value input,
              Value indices, Value updates, ScatterDimensionNumbersAttr dims,
              bool sorted = false, bool unique = false);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_BUILDERS_H
