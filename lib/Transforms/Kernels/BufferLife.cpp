//===- BufferLife.cpp - Whose buffer a program may overwrite --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BufferLife.h.
//
// Test: test/Transforms/Kernels/form-kernels.mlir
//
//===----------------------------------------------------------------------===//

#include "BufferLife.h"
#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Dist/IR/Signature.h"

using namespace mlir;

namespace llmc::kernels {

/// True when the function returns `value` or an alias of it in `slot`.
static bool isReturnedIn(func::FuncOp function, Value value,
                         dist::PortAttr slot) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->hasTrait<OpTrait::IsTerminator>()) {
      dist::PortAttr target =
          dist::getResultPort(function, use.getOperandNumber());
      if (target && target.isInSlot(slot))
        return true;
      continue;
    }
    if (isAlias(user))
      for (Value result : user->getResults())
        if (isReturnedIn(function, result, slot))
          return true;
  }
  return false;
}

bool isSameSlot(func::FuncOp function, Value argument, Value result) {
  auto blockArgument = dyn_cast<BlockArgument>(argument);
  if (!blockArgument)
    return false;
  dist::PortAttr port =
      dist::getArgumentPort(function, blockArgument.getArgNumber());
  if (!port ||
      !(port.isSum() ||
        dist::isAnyPort(port, {dist::PortKind::Buffer, dist::PortKind::Carry})))
    return false;
  return isReturnedIn(function, result, port.getSlot());
}

bool isReturned(Value value) {
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    if (isAlias(user) && llvm::any_of(user->getResults(), isReturned))
      return true;
  }
  return false;
}

} // namespace llmc::kernels
