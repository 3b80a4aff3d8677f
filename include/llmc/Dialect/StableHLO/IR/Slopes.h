//===- Slopes.h - Derivatives that are one factor ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cotangent of a function of one operand is g * slope. A slope that cancels
// or squares loses what a narrow float has; it is computed in f32 there.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_SLOPES_H
#define LLMC_DIALECT_STABLEHLO_IR_SLOPES_H

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::stablehlo {

/// Sets the cotangent of operand `operand` to g * slope(b, loc, x), for `x` the
/// operand or the result, as the caller chooses: in f32 where its type is
/// narrower.
template <typename Slope>
LogicalResult deriveBySlope(graph::Derivation &d, Value x, Slope slope,
                            unsigned operand = 0) {
  OpBuilder &b = d.builder;
  Type element = graph::getElement(x);
  Type wide = graph::isNarrowFloat(element) ? b.getF32Type() : element;
  Value factor = slope(b, d.loc(), convertTo(b, d.loc(), x, wide));
  Value product =
      mul(b, d.loc(), convertTo(b, d.loc(), d.cotangent, wide), factor);
  d.gradients[operand] = convertTo(b, d.loc(), product, element);
  return llvm::success();
}

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_SLOPES_H
