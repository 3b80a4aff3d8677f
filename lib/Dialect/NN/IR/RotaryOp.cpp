//===- RotaryOp.cpp - Builder and verifier of rotary embeddings -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid-rotary.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

void RotaryOp::build(OpBuilder &builder, OperationState &state, Value operand,
                     Value cosine, Value sine) {
  auto type = cast<RankedTensorType>(operand.getType());
  build(builder, state,
        RankedTensorType::get(type.getShape(), type.getElementType()), operand,
        cosine, sine);
}

/// Each dim of the table is 1 or that of x, the last one x's or half of it.
static bool fitsTable(RankedTensorType table, RankedTensorType x) {
  if (table.getRank() != x.getRank() ||
      table.getElementType() != x.getElementType())
    return false;
  int64_t last = x.getRank() - 1, size = table.getDimSize(last);
  for (int64_t dim = 0; dim < last; ++dim)
    if (table.getDimSize(dim) != 1 &&
        table.getDimSize(dim) != x.getDimSize(dim))
      return false;
  return size == x.getDimSize(last) || 2 * size == x.getDimSize(last);
}

LogicalResult RotaryOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (type.getRank() < 1 || type.getShape().back() % 2 != 0)
    return emitOpError() << "expected an operand whose last dim is even, got "
                         << type;
  RankedTensorType cosine = getCosine().getType(), sine = getSine().getType();
  if (!fitsTable(cosine, type) || cosine.getShape() != sine.getShape() ||
      cosine.getElementType() != sine.getElementType())
    return emitOpError() << "expected tables of one type, with the operand's "
                            "dims or 1 and all or half of its last, got "
                         << cosine << " and " << sine;
  RankedTensorType result = getResult().getType();
  if (result.getShape() != type.getShape() ||
      result.getElementType() != type.getElementType())
    return emitOpError() << "expected a result of shape [" << type.getShape()
                         << "] and element type " << type.getElementType()
                         << ", got " << result;
  return success();
}
