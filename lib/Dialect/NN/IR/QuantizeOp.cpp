//===- QuantizeOp.cpp - Verifier of scaled floats -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid-quantize.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

LogicalResult QuantizeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType(),
                   scale = getScale().getType();
  if (scale.getRank() != 0 || !scale.getElementType().isF32())
    return emitOpError() << "expected a scale of type tensor<f32>, got "
                         << scale;
  if (to.getElementTypeBitWidth() != 8 || from.getElementTypeBitWidth() <= 8)
    return emitOpError() << "expected elements of eight bits from wider ones, "
                            "got "
                         << to.getElementType() << " from "
                         << from.getElementType();
  if (from.getShape() != to.getShape())
    return emitOpError() << "expected a result of shape [" << from.getShape()
                         << "], got " << to;
  return success();
}
