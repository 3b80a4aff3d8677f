//===- ClipGradients.cpp - Bounds of gradients ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClipGradients.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;

Value training::broadcastTo(OpBuilder &builder, Location loc, Value scalar,
                            Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  scalar = stablehlo::convertTo(builder, loc, scalar, type.getElementType());
  return type.getRank() == 0
             ? scalar
             : stablehlo::broadcastInDim(builder, loc, scalar, type, {});
}

Value training::getClipFactor(OpBuilder &builder, Location loc, Value norm,
                              double bound) {
  Value quotient = stablehlo::div(
      builder, loc, stablehlo::constantLike(builder, loc, norm, bound), norm);
  return stablehlo::min(
      builder, loc, stablehlo::constantLike(builder, loc, norm, 1.0), quotient);
}

Value training::clipByValue(OpBuilder &builder, Location loc, Value gradient,
                            double bound) {
  auto like = [&](double number) {
    return stablehlo::constantLike(builder, loc, gradient, number);
  };
  Value below = stablehlo::min(builder, loc, gradient, like(bound));
  return stablehlo::max(builder, loc, below, like(-bound));
}
