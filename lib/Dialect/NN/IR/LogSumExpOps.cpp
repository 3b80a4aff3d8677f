//===- LogSumExpOps.cpp - Builders and verifiers of log-sum-exp -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid-log-sum-exp.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

/// One number for each row, in the type in which rows are computed.
static RankedTensorType getSumType(RankedTensorType type,
                                   ArrayRef<int64_t> dims) {
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(type.getContext());
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
  return RankedTensorType::get(shape, element);
}

static LogicalResult verifyDims(Operation *op, int64_t rank,
                                ArrayRef<int64_t> dims) {
  bool isRising = llvm::is_sorted(dims, std::less_equal<int64_t>());
  if (!dims.empty() && isRising && dims.front() >= 0 && dims.back() < rank)
    return success();
  return op->emitOpError()
         << "expected dims in rising order, each less than rank " << rank
         << ", got [" << dims << "]";
}

static LogicalResult verifyTensor(Operation *op, StringRef name, Value value,
                                  RankedTensorType wanted) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == wanted.getShape() &&
      type.getElementType() == wanted.getElementType())
    return success();
  return op->emitOpError() << "expected " << name << " of shape ["
                           << wanted.getShape() << "] and element type "
                           << wanted.getElementType() << ", got " << type;
}

void LogSumExpOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, ArrayRef<int64_t> dims, bool safe) {
  auto type = cast<RankedTensorType>(operand.getType());
  build(builder, state, getSumType(type, dims), operand, dims, safe);
}

LogicalResult LogSumExpOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (failed(verifyDims(*this, type.getRank(), getDims())))
    return failure();
  return verifyTensor(*this, "a result", getResult(),
                      getSumType(type, getDims()));
}

LogicalResult LogSumExpGradOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (failed(verifyDims(*this, type.getRank(), getDims())))
    return failure();
  RankedTensorType sums = getSumType(type, getDims());
  if (failed(verifyTensor(*this, "a log-sum-exp", getOutput(), sums)) ||
      failed(verifyTensor(*this, "a cotangent", getCotangent(), sums)))
    return failure();
  return verifyTensor(*this, "a result", getResult(), type);
}
