//===- SlotBytes.cpp - Values that share bytes ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-collectives.mlir
//===----------------------------------------------------------------------===//

#include "SlotBytes.h"
#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"

using namespace mlir;
using llmc::dist::PortAttr;

namespace llmc::ordering {

SmallVector<std::pair<int64_t, int64_t>> getFormedTies(Operation &op) {
  if (auto launch = dyn_cast<dist::LaunchOp>(op))
    return launch.getTiedPairs();
  if (auto call = dyn_cast<graph::LibraryCallOpInterface>(op))
    return call.getTiedPairs();
  return {};
}

static bool isTied(Operation &op, int64_t result, int64_t operand) {
  return llvm::is_contained(getFormedTies(op), std::pair(result, operand));
}

bool endsInSlot(func::FuncOp function, Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation &user = *use.getOwner();
    if (user.hasTrait<OpTrait::IsTerminator>()) {
      PortAttr slot = dist::getResultPort(function, use.getOperandNumber());
      if (!slot || dist::isOfMicrobatch(slot))
        return true;
      continue;
    }
    for (OpResult result : user.getResults()) {
      unsigned number = result.getResultNumber();
      bool takes = isAlias(&user)
                       ? cast<graph::KernelOpInterface>(user).getAliasedOperand(
                             number) == use.getOperandNumber()
                       : isTied(user, number, use.getOperandNumber());
      if (takes && endsInSlot(function, result))
        return true;
    }
  }
  return false;
}

} // namespace llmc::ordering
