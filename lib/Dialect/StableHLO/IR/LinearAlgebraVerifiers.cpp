//===- LinearAlgebraVerifiers.cpp - Verifiers of factors and solutions ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Dialect/StableHLO/invalid-linear-algebra.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// The last two dimensions are equal.
static LogicalResult verifySquare(Operation *op, RankedTensorType type) {
  int64_t rank = type.getRank();
  if (rank >= 2 && type.getDimSize(rank - 1) == type.getDimSize(rank - 2))
    return success();
  return op->emitOpError("expected an operand a of rank 2 or more whose last "
                         "two dimensions are equal, got ")
         << type;
}

static LogicalResult verifyResult(Operation *op, RankedTensorType expected,
                                  RankedTensorType result) {
  if (!haveSameElement(expected, result))
    return op->emitOpError("expected a result of ")
           << expected.getElementType() << ", got " << result;
  return verifyShape(op, "a result", result, expected.getShape());
}

LogicalResult CholeskyOp::verify() {
  RankedTensorType a = getA().getType();
  if (failed(verifySquare(*this, a)))
    return failure();
  return verifyResult(*this, a, getType());
}

LogicalResult TriangularSolveOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  if (failed(verifySquare(*this, a)))
    return failure();
  if (!haveSameElement(a, b))
    return emitOpError("expected operands of one element type, got ")
           << a.getElementType() << " and " << b.getElementType();
  if (a.getRank() != b.getRank())
    return emitOpError("expected operands of one rank, got ")
           << a.getRank() << " and " << b.getRank();
  SmallVector<int64_t> shape(a.getShape());
  int64_t free = getLeftSide() ? b.getRank() - 1 : b.getRank() - 2;
  shape[free] = b.getDimSize(free);
  if (failed(verifyShape(*this, "an operand b", b, shape)))
    return failure();
  return verifyResult(*this, b, getType());
}

LogicalResult LuOp::verify() {
  RankedTensorType a = getA().getType();
  if (failed(verifySquare(*this, a)) ||
      failed(verifyResult(*this, a, getFactors().getType())))
    return failure();
  RankedTensorType numbers = RankedTensorType::get(
      a.getShape().drop_back(), IntegerType::get(getContext(), 32));
  for (Value result : {getPivots(), getPermutation()})
    if (failed(verifyResult(*this, numbers,
                            cast<RankedTensorType>(result.getType()))))
      return failure();
  return success();
}

LogicalResult LuInPlaceOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  if (shape.size() >= 2 && shape.back() >= 1 &&
      shape[shape.size() - 2] > shape.back())
    return success();
  return emitOpError("expected an operand of rank 2 or more with more rows "
                     "than columns, of which it has at least one, got ")
         << getType();
}
