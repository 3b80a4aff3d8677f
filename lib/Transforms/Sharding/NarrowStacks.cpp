//===- NarrowStacks.cpp - What trips read narrow is narrow before ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NarrowStacks.h.
//
// Tests: test/Transforms/Sharding/prepare-step-loops.mlir, -stacks
//===----------------------------------------------------------------------===//

#include "NarrowStacks.h"
#include "NarrowFirst.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;

static dist::EnterOp getUncarried(Value value) {
  auto enter = value.getDefiningOp<dist::EnterOp>();
  return enter && !enter.isCarry() ? enter : dist::EnterOp();
}

static Type withElementOf(Value value, Value narrow) {
  return cast<RankedTensorType>(value.getType())
      .clone(cast<RankedTensorType>(narrow.getType()).getElementType());
}

Value llmc::findNarrowedStack(Operation *op) {
  if (op->getNumOperands() != 1 || !isNarrowing(op))
    return {};
  Value value = op->getOperand(0);
  while (dist::EnterOp enter = getUncarried(value))
    value = enter.getInput();
  return value == op->getOperand(0) ? Value() : value;
}

/// What `op` makes of its operand, made of the whole stack.
Value StackNarrower::narrow(Operation *op, Value stack, int64_t chunk) {
  for (const Lifted &known : lifted)
    if (known.chunk == chunk && known.op->getName() == op->getName() &&
        known.op->getOperand(0) == stack &&
        known.op->getResult(0).getType() ==
            withElementOf(stack, op->getResult(0)) &&
        known.op->getPropertiesAsAttribute() == op->getPropertiesAsAttribute())
      return known.op->getResult(0);
  OpBuilder builder(op);
  builder.setInsertionPointAfterValue(stack);
  Operation *whole = builder.clone(*op);
  whole->setOperand(0, stack);
  whole->getResult(0).setType(withElementOf(stack, op->getResult(0)));
  lifted.push_back({whole, chunk});
  return whole->getResult(0);
}

void StackNarrower::lift(Operation *op, int64_t chunk) {
  SmallVector<dist::EnterOp> enters;
  Value value = op->getOperand(0);
  while (dist::EnterOp enter = getUncarried(value)) {
    enters.push_back(enter);
    value = enter.getInput();
  }
  value = narrow(op, value, chunk);
  for (dist::EnterOp enter : llvm::reverse(enters)) {
    OpBuilder builder(enter);
    builder.setInsertionPointAfter(enter);
    auto copy = cast<dist::EnterOp>(builder.clone(*enter));
    copy.getInputMutable().assign(value);
    copy.getResult().setType(
        cast<RankedTensorType>(withElementOf(enter.getResult(), value)));
    value = copy.getResult();
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  for (dist::EnterOp enter : enters)
    if (enter->use_empty())
      enter->erase();
}
