//===- Activity.cpp - Values that a derivative flows through --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk from the wanted arguments, one back from the loss; see Activity.h.
//
// Test: test/Transforms/Training/differentiate.mlir
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "TrainingMarks.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;

bool training::isStopped(Operation *op, unsigned index) {
  auto stopped =
      op->getAttrOfType<DenseI64ArrayAttr>(dist::DistDialect::kStopGradient);
  return stopped && llvm::is_contained(stopped.asArrayRef(), index);
}

static bool isInactive(Operation *op) {
  auto differentiable = dyn_cast<graph::DerivativeOpInterface>(op);
  return differentiable && differentiable.isInactive();
}

/// Calls `visit` for the operands that a derivative may flow into.
static void forEachOpen(Operation *op, llvm::function_ref<void(Value)> visit) {
  for (OpOperand &operand : op->getOpOperands())
    if (!training::isStopped(op, operand.getOperandNumber()))
      visit(operand.get());
}

llvm::DenseSet<Value> training::findActiveValues(func::FuncOp function,
                                                 ArrayRef<bool> wanted,
                                                 Value loss) {
  llvm::DenseSet<Value> reached, useful;
  for (BlockArgument argument : function.getArguments())
    if (wanted[argument.getArgNumber()])
      reached.insert(argument);
  Block &body = function.front();
  for (Operation &op : body.without_terminator()) {
    bool isReached = false;
    forEachOpen(&op, [&](Value v) { isReached |= reached.contains(v); });
    if (isReached && !isInactive(&op))
      for (Value result : op.getResults())
        if (isFloatTensor(result.getType()))
          reached.insert(result);
  }
  if (reached.contains(loss))
    useful.insert(loss);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isUseful = llvm::any_of(
        op.getResults(), [&](Value result) { return useful.contains(result); });
    if (isUseful)
      forEachOpen(&op, [&](Value v) {
        if (reached.contains(v))
          useful.insert(v);
      });
  }
  return useful;
}
