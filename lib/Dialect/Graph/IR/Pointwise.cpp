//===- Pointwise.cpp - The five answers of an element-wise op -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all element-wise ops share (Pointwise.h).
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

graph::ShardingRule
graph::detail::getPointwiseRule(Operation *op,
                                const PointwiseAnswers &answers) {
  graph::ShardingRule rule = graph::ShardingRule::elementwise(op);
  if (answers.carries)
    answers.carries(op, rule);
  return rule;
}

LogicalResult graph::detail::buildPointwiseDerivative(
    Operation *op, const PointwiseAnswers &answers, OpBuilder &builder,
    ValueRange cotangents, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &gradients) {
  if (!answers.derive || !cotangents[0])
    return success();
  Derivation derivation{builder, op, cotangents[0], needed, gradients};
  return answers.derive(derivation);
}

Value graph::detail::emitPointwise(Operation *op,
                                   const PointwiseAnswers &answers,
                                   OpBuilder &builder, Location loc,
                                   ValueRange indices,
                                   graph::ElementSource source) {
  SmallVector<Value> elements;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isScalar =
        cast<RankedTensorType>(operand.get().getType()).getRank() == 0;
    elements.push_back(
        source(operand.getOperandNumber(), isScalar ? ValueRange() : indices));
  }
  return answers.emit(builder, loc, op, elements);
}

/// Scalars beside tensors stay scalars where they do not vary.
LogicalResult graph::detail::buildPointwiseBatched(BatchForm &form) {
  auto type = cast<RankedTensorType>(form.op->getResult(0).getType());
  DeviceAxes axes = form.getAxes();
  SmallVector<Value> operands;
  for (Value operand : form.op->getOperands()) {
    DeviceValue value = form.getValue(operand);
    bool isBeside = cast<RankedTensorType>(operand.getType()).getRank() == 0 &&
                    type.getRank() != 0;
    if (!isBeside)
      operands.push_back(form.repeat(value, axes));
    else if (!value.varies())
      operands.push_back(value.value);
    else
      operands.push_back(form.spread(value, axes, type.getShape()));
  }
  form.cloneOp(operands, axes);
  return success();
}

Type graph::getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

bool graph::isNarrowFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

bool graph::isUnsignedElement(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

Type graph::getSignless(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Value graph::scalarConstant(OpBuilder &builder, Location loc, Type signless,
                            double value) {
  TypedAttr attribute;
  if (isa<FloatType>(signless))
    attribute = builder.getFloatAttr(signless, value);
  else
    attribute = builder.getIntegerAttr(signless, static_cast<int64_t>(value));
  return arith::ConstantOp::create(builder, loc, attribute);
}

void graph::loadRun(const HostTensor &tensor, bool repeat, int64_t first,
                    MutableArrayRef<double> out) {
  if (!repeat)
    return loadFloats(tensor, first, out);
  llvm::fill(out, tensor.getFloat(0));
}

void graph::loadRun(const HostTensor &tensor, bool repeat, int64_t first,
                    MutableArrayRef<int64_t> out) {
  if (!repeat)
    return loadInts(tensor, first, out);
  llvm::fill(out, tensor.getInt(0));
}

LogicalResult graph::emitNoEvaluation(Operation *op) {
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected an element type that its evaluation "
            "knows, got "
         << getElement(op->getOperand(0));
}
