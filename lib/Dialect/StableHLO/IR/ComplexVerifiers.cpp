//===- ComplexVerifiers.cpp - Complex numbers and transforms --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Dialect/StableHLO/invalid-complex.mlir
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// The element type of numbers, of complex ones that of their parts.
static Type getPartElement(Type tensor) {
  if (RankedTensorType part = graph::getPartType(tensor))
    return part.getElementType();
  return cast<RankedTensorType>(tensor).getElementType();
}

/// The result has the element type of the operand's parts.
static LogicalResult verifyPart(Operation *op) {
  Type operand = op->getOperand(0).getType();
  Type result = op->getResult(0).getType();
  Type wanted = getPartElement(operand);
  if (cast<RankedTensorType>(result).getElementType() == wanted)
    return success();
  return op->emitOpError("expected a result of ")
         << wanted << " of an operand " << operand << ", got " << result;
}

LogicalResult AbsOp::verify() { return verifyPart(*this); }
LogicalResult RealOp::verify() { return verifyPart(*this); }
LogicalResult ImagOp::verify() { return verifyPart(*this); }

LogicalResult ComplexOp::verify() {
  Type wanted = getPartElement(getType());
  for (auto [i, type] : llvm::enumerate(getOperandTypes()))
    if (cast<RankedTensorType>(type).getElementType() != wanted)
      return emitOpError("expected operand #")
             << i << " of " << wanted << ", as the parts of the result are, "
             << "got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// The kind says which side is real.
static LogicalResult verifySides(FftOp op) {
  FftType kind = op.getFftType();
  auto check = [&](StringRef side, Type type, bool isReal) -> LogicalResult {
    if (isFloatTensor(type) == isReal)
      return success();
    return op.emitOpError("expected ")
           << side << " of " << (isReal ? "floats" : "complex numbers")
           << " for " << stringifyFftType(kind) << ", got " << type;
  };
  Type operand = op.getOperand().getType(), result = op.getType();
  if (failed(check("an operand", operand, kind == FftType::RFFT)) ||
      failed(check("a result", result, kind == FftType::IRFFT)))
    return failure();
  Type from = getPartElement(operand), to = getPartElement(result);
  if (from == to && (from.isF32() || from.isF64()))
    return success();
  return op.emitOpError("expected operand and result of f32 or f64 alike, got ")
         << operand << " and " << result;
}

LogicalResult FftOp::verify() {
  ArrayRef<int64_t> lengths = getFftLength();
  auto operand = cast<RankedTensorType>(getOperand().getType());
  int64_t rank = operand.getRank(), count = lengths.size();
  if (count < 1 || count > 3 || count > rank)
    return emitOpError("expected 1 to 3 lengths, not more than the ")
           << rank << " dimensions of the operand, got " << count;
  if (failed(verifySides(*this)))
    return failure();
  // What each side has in the last dimensions.
  SmallVector<int64_t> whole(operand.getShape().drop_back(count));
  for (int64_t length : lengths)
    if (length < 0)
      return emitOpError("expected lengths of at least 0, got ") << length;
    else
      whole.push_back(length);
  SmallVector<int64_t> halved(whole);
  halved.back() = halved.back() == 0 ? 0 : halved.back() / 2 + 1;
  FftType kind = getFftType();
  if (failed(verifyShape(*this, "an operand", operand,
                         kind == FftType::IRFFT ? halved : whole)))
    return failure();
  return verifyShape(*this, "a result", getType(),
                     kind == FftType::RFFT ? halved : whole);
}
