//===- NormVerifiers.cpp - Verifiers of batch normalization ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and results have the operand's shape, or one element for each
// feature.
// Test: test/Dialect/StableHLO/invalid-forms.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
/// What is the case for all three ops.
struct NormShape {
  Operation *op;
  RankedTensorType whole;
  int64_t dim;

  LogicalResult verifyDim() const {
    return verifyDistinctDims(op, "feature_index", dim, whole.getRank());
  }
  LogicalResult verifyType(StringRef what, Type type,
                           ArrayRef<int64_t> shape) const {
    if (!haveSameElement(type, whole))
      return op->emitOpError("expected ")
             << what << " of the operand's element type, "
             << whole.getElementType() << ", got " << type;
    return verifyShape(op, what, type, shape);
  }
  LogicalResult verifyWhole(StringRef what, Type type) const {
    return verifyType(what, type, whole.getShape());
  }
  /// After `verifyDim`.
  LogicalResult verifyFeatures(StringRef what, TypeRange types) const {
    for (Type type : types)
      if (failed(verifyType(what, type, whole.getDimSize(dim))))
        return failure();
    return success();
  }
};
} // namespace

template <typename Op> static NormShape getNormShape(Op op) {
  return {op, op.getOperand().getType(),
          static_cast<int64_t>(op.getFeatureIndex())};
}

LogicalResult BatchNormTrainingOp::verify() {
  NormShape shape = getNormShape(*this);
  if (failed(shape.verifyDim()) ||
      failed(shape.verifyFeatures("scale and offset",
                                  TypeRange(getOperandTypes()).drop_front())) ||
      failed(shape.verifyWhole("an output", getOutput().getType())))
    return failure();
  return shape.verifyFeatures("mean and variance",
                              TypeRange(getResultTypes()).drop_front());
}

LogicalResult BatchNormInferenceOp::verify() {
  NormShape shape = getNormShape(*this);
  if (failed(shape.verifyDim()) ||
      failed(shape.verifyFeatures("scale, offset, mean and variance",
                                  TypeRange(getOperandTypes()).drop_front())))
    return failure();
  return shape.verifyWhole("a result", getType());
}

LogicalResult BatchNormGradOp::verify() {
  NormShape shape = getNormShape(*this);
  if (failed(shape.verifyDim()) ||
      failed(shape.verifyFeatures("scale, mean and variance",
                                  TypeRange(getOperandTypes()).slice(1, 3))) ||
      failed(shape.verifyWhole("a cotangent", getGradOutput().getType())) ||
      failed(shape.verifyWhole("a result", getGradOperand().getType())))
    return failure();
  return shape.verifyFeatures("results for scale and offset",
                              TypeRange(getResultTypes()).drop_front());
}
