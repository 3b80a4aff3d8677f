//===- GraphTensor.cpp - The tensors that graph-level ops compute on ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicates on types, and the two checks that element-wise ops share. Types
// come from user text, so sizes are multiplied with overflow checks.
// Tests: test/Dialect/StableHLO/invalid-elementwise.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/GraphTensor.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc {

bool isGraphElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return integer.isSignless();
    return !integer.isSigned() && width <= 64 && llvm::isPowerOf2_32(width);
  }
  auto real = dyn_cast<FloatType>(type);
  return real && real.getWidth() <= 64 && !isa<FloatTF32Type>(real);
}

static Type graphElement(Type type) {
  return isGraphTensor(type) ? cast<RankedTensorType>(type).getElementType()
                             : Type();
}

/// Whether `type` is a tensor of static shape whose bytes can be counted, at
/// `bytes` for each element.
static bool isCountedTensor(Type type, int64_t bytes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  for (int64_t size : tensor.getShape())
    if (size != 0 && llvm::MulOverflow(bytes, size, bytes))
      return false;
  return true;
}

bool isGraphTensor(Type type) {
  return isCountedTensor(type, /*bytes=*/8) && // no element is wider
         isGraphElement(cast<RankedTensorType>(type).getElementType());
}

bool isComplexElement(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex && isa<Float32Type, Float64Type>(complex.getElementType());
}

bool isComplexTensor(Type type) {
  return isCountedTensor(type, /*bytes=*/16) &&
         isComplexElement(cast<RankedTensorType>(type).getElementType());
}

bool isScalarOrComplexTensor(Type type) {
  return (isGraphTensor(type) || isComplexTensor(type)) &&
         cast<RankedTensorType>(type).getRank() == 0;
}

bool isBoolTensor(Type type) {
  Type element = graphElement(type);
  return element && element.isInteger(1);
}

bool isBoolOrIntTensor(Type type) {
  return isa_and_nonnull<IntegerType>(graphElement(type));
}

bool isIntTensor(Type type) {
  return isBoolOrIntTensor(type) && !isBoolTensor(type);
}

bool isFloatTensor(Type type) {
  return isa_and_nonnull<FloatType>(graphElement(type));
}

bool isNumberTensor(Type type) {
  return isIntTensor(type) || isFloatTensor(type);
}

bool isSignedTensor(Type type) {
  return isNumberTensor(type) && !graphElement(type).isUnsignedInteger();
}

bool isScalarTensor(Type type) {
  return isGraphTensor(type) && cast<RankedTensorType>(type).getRank() == 0;
}

bool isIndexScalar(Type type) {
  return isIntTensor(type) && isScalarTensor(type);
}

RankedTensorType withoutEncoding(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

bool haveSameShape(Type lhs, Type rhs) {
  auto a = dyn_cast<RankedTensorType>(lhs);
  auto b = dyn_cast<RankedTensorType>(rhs);
  return a && b && a.getShape() == b.getShape();
}

bool haveSameElement(Type lhs, Type rhs) {
  auto a = dyn_cast<RankedTensorType>(lhs);
  auto b = dyn_cast<RankedTensorType>(rhs);
  return a && b && a.getElementType() == b.getElementType();
}

static LogicalResult
verifyAgainstResult(Operation *op, bool (*agree)(Type, Type), StringRef what) {
  Type wanted = op->getResult(0).getType();
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (!agree(type, wanted))
      return op->emitOpError("expected operand #")
             << i << " to have the " << what << " of the result, " << wanted
             << ", got " << type;
  return success();
}

LogicalResult detail::verifyElementwiseShape(Operation *op) {
  return verifyAgainstResult(op, haveSameShape, "shape");
}

LogicalResult detail::verifyUniformElement(Operation *op) {
  return verifyAgainstResult(op, haveSameElement, "element type");
}

} // namespace llmc
