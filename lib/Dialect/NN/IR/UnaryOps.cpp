//===- UnaryOps.cpp - Verifiers of ops whose results are as operands ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations and softmax. Types are compared without their encodings: layouts
// are the business of the rule. Tested by test/Dialect/NN/invalid-unary.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

/// Every operand and the result have the first operand's type.
static LogicalResult verifyOneType(Operation *op) {
  auto wanted = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<Value> values(op->getOperands().drop_front());
  values.push_back(op->getResult(0));
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() != wanted.getShape() ||
        type.getElementType() != wanted.getElementType())
      return op->emitOpError()
             << "expected shape [" << wanted.getShape() << "] and element type "
             << wanted.getElementType() << ", got " << type;
  }
  return success();
}

static LogicalResult verifyAlongDim(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dim >= rank)
    return op->emitOpError()
           << "expected dim less than rank " << rank << ", got " << dim;
  return verifyOneType(op);
}

LogicalResult GeluOp::verify() { return verifyOneType(*this); }
LogicalResult GeluGradOp::verify() { return verifyOneType(*this); }
LogicalResult SiluOp::verify() { return verifyOneType(*this); }
LogicalResult SiluGradOp::verify() { return verifyOneType(*this); }
LogicalResult SoftmaxOp::verify() { return verifyAlongDim(*this, getDim()); }
LogicalResult SoftmaxGradOp::verify() {
  return verifyAlongDim(*this, getDim());
}
LogicalResult LogSoftmaxOp::verify() { return verifyAlongDim(*this, getDim()); }
LogicalResult LogSoftmaxGradOp::verify() {
  return verifyAlongDim(*this, getDim());
}
