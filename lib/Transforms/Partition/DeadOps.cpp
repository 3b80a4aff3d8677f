//===- DeadOps.cpp - Ops of a block that nothing needs any more -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeadOps.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace llmc;

bool DeadOps::isUsed(Operation *op) const {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           return user->getBlock() == &block && !dead.contains(user);
         });
}

void DeadOps::add(ArrayRef<Operation *> candidates) {
  SmallVector<Operation *> work(candidates);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op || op->getBlock() != &block || dead.contains(op) || isUsed(op))
      continue;
    dead.insert(op);
    for (Value operand : op->getOperands())
      work.push_back(operand.getDefiningOp());
  }
}

void DeadOps::revive(Operation *op) {
  SmallVector<Operation *> work = {op};
  while (!work.empty()) {
    Operation *revived = work.pop_back_val();
    if (!revived || !dead.remove(revived))
      continue;
    for (Value operand : revived->getOperands())
      work.push_back(operand.getDefiningOp());
  }
}
