//===- OpPositions.cpp - New ops in a block that was in order -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpPositions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;

/// Puts what `op` makes, and what is made of that, after it, where it stands
/// before; false when `op` itself is made of that.
static bool moveUsers(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) &&
        (!first || user->isBeforeInBlock(first)))
      first = user;
  if (!first)
    return true;
  llvm::SetVector<Operation *> late;
  auto isLate = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return def && (def == op || late.contains(def));
  };
  for (Operation *other = first; other != op; other = other->getNextNode())
    if (llvm::any_of(other->getOperands(), isLate))
      late.insert(other);
  if (llvm::any_of(op->getOperands(), isLate))
    return false;
  Operation *last = op;
  for (Operation *other : late) {
    // A move would make the whole block be numbered again, an insertion not.
    other->remove();
    last->getBlock()->getOperations().insertAfter(Block::iterator(last), other);
    last = other;
  }
  return true;
}

bool llmc::putUsersAfter(ArrayRef<Operation *> created) {
  SmallVector<Operation *> ops(created);
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return llvm::all_of(ops, moveUsers);
}
