//===- CountTotals.cpp - Counts of the data of a whole step ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountTotals.h.
//
// Test: test/Transforms/Training/sum-loss-counts.mlir
//===----------------------------------------------------------------------===//

#include "CountTotals.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using Kind = BatchState::Kind;

Value CountTotals::scale(OpBuilder &builder, Value value, int exponent) {
  if (exponent == 0 || microbatches == 1)
    return value;
  // A division by a whole number rounds once.
  double factor = std::pow(static_cast<double>(microbatches),
                           static_cast<double>(std::abs(exponent)));
  Value number =
      stablehlo::constantLike(builder, value.getLoc(), value, factor);
  return exponent > 0 ? stablehlo::mul(builder, value.getLoc(), value, number)
                      : stablehlo::div(builder, value.getLoc(), value, number);
}

/// The op of `value` on what its operands are for the step. A linear function
/// of totals has the degree of the totals; one that is not takes its operands
/// as the text would have them for the whole batch.
Value CountTotals::clone(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  bool isLinear = sums.get(value).kind == Kind::Linear;
  IRMapping operands;
  for (Value operand : op->getOperands()) {
    const BatchState &state = sums.get(operand);
    Value total = build(builder, operand);
    if (!isLinear && state.kind == Kind::Linear)
      total = scale(builder, total, state.pickDegree() - 1);
    operands.map(operand, total);
  }
  return builder.clone(*op, operands)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

Value CountTotals::build(OpBuilder &builder, Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value result = clone(builder, value);
  mapping.map(value, result);
  return result;
}

Value CountTotals::buildScale(OpBuilder &builder, Value value) {
  const BatchState &state = sums.get(value);
  Value total = build(builder, value);
  return scale(builder, total,
               state.kind == Kind::Linear ? -1 : -state.pickDegree());
}

Value training::toScalar(OpBuilder &builder, Value value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  if (element && element.getWidth() < 32)
    value = stablehlo::convertTo(builder, value.getLoc(), value,
                                 builder.getF32Type());
  return stablehlo::reshape(builder, value.getLoc(), value, {});
}
