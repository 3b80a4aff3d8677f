//===- Expansion.cpp - What import makes of one op ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/StableHLO/expand-ops.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

Operation *graph::getNext(Operation *before, Block *block) {
  return before ? before->getNextNode() : &block->front();
}

/// Erases the ops between `before` (null: from the first on) and `end` that
/// nothing reads.
static void eraseUnread(Operation *before, Operation *end) {
  for (Operation *op = end->getPrevNode(); op != before;) {
    Operation *previous = op->getPrevNode();
    if (isOpTriviallyDead(op))
      op->erase();
    op = previous;
  }
}

/// Erases what nothing reads among the definitions of `values`, and what only
/// these read.
static void eraseUnreadDefinitions(ValueRange values) {
  llvm::SetVector<Operation *> pending;
  auto add = [&](ValueRange more) {
    for (Value value : more)
      if (Operation *definition = value.getDefiningOp())
        pending.insert(definition);
  };
  add(values);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    add(operands);
  }
}

void graph::eraseWithOperands(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  eraseUnreadDefinitions(operands);
}

/// The values that the op reads, in its regions too.
static SmallVector<Value> getReadValues(Operation *op) {
  SmallVector<Value> values;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && !op->isProperAncestor(definition))
        values.push_back(operand);
    }
  });
  return values;
}

/// Puts `results` in place of the op's and erases it. What was built stands
/// behind `before`; `read` is what the op read.
static Operation *replace(Operation *op, Operation *before, ValueRange read,
                          ValueRange results) {
  Operation *next = op->getNextNode();
  op->replaceAllUsesWith(results);
  op->erase();
  eraseUnread(before, next);
  Operation *first = getNext(before, next->getBlock());
  eraseUnreadDefinitions(read);
  return first;
}

FailureOr<Operation *> graph::replaceBy(Operation *op, Expander expand) {
  Operation *before = op->getPrevNode();
  SmallVector<Value> read = getReadValues(op), results;
  OpBuilder builder(op);
  if (failed(expand(builder, results)))
    return failure();
  return replace(op, before, read, results);
}

FailureOr<Operation *> graph::settle(Operation *op) {
  Operation *next = op->getNextNode(), *before = op->getPrevNode();
  if (foldIntegers(op))
    return next;
  if (auto expansion = dyn_cast<ExpansionOpInterface>(op))
    return replaceBy(op, [&](OpBuilder &builder, auto &results) {
      return expansion.expand(builder, results);
    });
  OpBuilder builder(op);
  SmallVector<Value> results;
  // What is said of an op alone, such as a layout, would be lost.
  if (auto simple = dyn_cast<SimplificationOpInterface>(op))
    if (op->getDiscardableAttrs().empty() && simple.simplify(builder, results))
      return replace(op, before, getReadValues(op), results);
  return next;
}
