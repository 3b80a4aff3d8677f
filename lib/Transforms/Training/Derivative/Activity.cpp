//===- Activity.cpp - Values that a derivative flows through --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk from the wanted arguments, one back from the loss; see Activity.h.
// Of loops as many as their carried values need.
//
// Test: test/Transforms/Training/differentiate.mlir
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "../TrainingMarks.h"
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

/// What one trip of a loop finds, the trip beside it may need.
static void untilStable(llvm::DenseSet<Value> &found,
                        llvm::function_ref<void()> search) {
  size_t before = 0;
  do {
    before = found.size();
    search();
  } while (found.size() != before);
}

/// Adds the values into which a derivative flows from those in `reached`.
static void reach(Block &body, llvm::DenseSet<Value> &reached) {
  for (Operation &op : body.without_terminator()) {
    bool isReached = false;
    forEachOpen(&op, [&](Value v) { isReached |= reached.contains(v); });
    if (auto enter = dyn_cast<dist::EnterOp>(op))
      if (dist::NextOp next = enter.getNext())
        isReached |= reached.contains(next.getValue());
    if (isReached && !isInactive(&op))
      for (Value result : op.getResults())
        if (isFloatTensor(result.getType()))
          reached.insert(result);
  }
}

/// Adds the values of `reached` from which those in `useful` come.
static void findUseful(Block &body, const llvm::DenseSet<Value> &reached,
                       llvm::DenseSet<Value> &useful) {
  auto add = [&](Value v) {
    if (reached.contains(v))
      useful.insert(v);
  };
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isUseful = llvm::any_of(
        op.getResults(), [&](Value result) { return useful.contains(result); });
    auto next = dyn_cast<dist::NextOp>(op);
    if (next && (isUseful || useful.contains(next.getCarried()))) {
      add(next.getValue());
      add(next.getResult());
    } else if (isUseful) {
      forEachOpen(&op, add);
    }
  }
}

llvm::DenseSet<Value> training::findActiveValues(func::FuncOp function,
                                                 ArrayRef<bool> wanted,
                                                 Value loss) {
  llvm::DenseSet<Value> reached, useful;
  for (BlockArgument argument : function.getArguments())
    if (wanted[argument.getArgNumber()])
      reached.insert(argument);
  Block &body = function.front();
  untilStable(reached, [&] { reach(body, reached); });
  if (reached.contains(loss))
    useful.insert(loss);
  untilStable(useful, [&] { findUseful(body, reached, useful); });
  return useful;
}
