//===- NNOps.cpp - Builders and verifiers of the nn ops -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

/// Verifies the logits' rank and that the value has one element for each row.
static LogicalResult verifyRows(Operation *op, StringRef name, Value value,
                                RankedTensorType logits, bool sameElement) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() != logits.getShape().drop_back())
    return op->emitOpError() << "expected " << name << " of shape ["
                             << logits.getShape().drop_back() << "], got ["
                             << type.getShape() << "]";
  if (sameElement && type.getElementType() != logits.getElementType())
    return op->emitOpError()
           << "expected " << name << " of element type "
           << logits.getElementType() << ", got " << type.getElementType();
  return success();
}

static LogicalResult verifyLogits(Operation *op, RankedTensorType logits) {
  if (logits.getRank() >= 1)
    return success();
  return op->emitOpError() << "expected logits of rank at least 1, got 0";
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

void SoftmaxCrossEntropyOp::build(OpBuilder &builder, OperationState &state,
                                  Value logits, Value targets) {
  auto type = cast<RankedTensorType>(logits.getType());
  auto rows =
      RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  build(builder, state, rows, rows, logits, targets);
}

LogicalResult SoftmaxCrossEntropyOp::verify() {
  RankedTensorType logits = getLogits().getType();
  if (failed(verifyLogits(*this, logits)) ||
      failed(verifyRows(*this, "targets", getTargets(), logits, false)) ||
      failed(verifyRows(*this, "loss", getLoss(), logits, true)))
    return failure();
  return verifyRows(*this, "logsumexp", getLogsumexp(), logits, true);
}

void SoftmaxCrossEntropyGradOp::build(OpBuilder &builder, OperationState &state,
                                      Value logits, Value targets,
                                      Value logsumexp, Value cotangent) {
  build(builder, state, logits.getType(), logits, targets, logsumexp,
        cotangent);
}

LogicalResult SoftmaxCrossEntropyGradOp::verify() {
  RankedTensorType logits = getLogits().getType();
  if (failed(verifyLogits(*this, logits)) ||
      failed(verifyRows(*this, "targets", getTargets(), logits, false)) ||
      failed(verifyRows(*this, "logsumexp", getLogsumexp(), logits, true)) ||
      failed(verifyRows(*this, "cotangent", getCotangent(), logits, true)))
    return failure();
  RankedTensorType result = getResult().getType();
  if (result.getShape() != logits.getShape() ||
      result.getElementType() != logits.getElementType())
    return emitOpError() << "expected a result of shape [" << logits.getShape()
                         << "] and element type " << logits.getElementType()
                         << ", got " << result;
  return success();
}
