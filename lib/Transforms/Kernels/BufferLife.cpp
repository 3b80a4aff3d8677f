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

/// True when the function returns `value` or an alias of it in a slot that
/// `isWanted`.
static bool isReturnedIn(func::FuncOp function, Value value,
                         function_ref<bool(dist::PortAttr)> isWanted) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->hasTrait<OpTrait::IsTerminator>()) {
      if (isWanted(dist::getResultPort(function, use.getOperandNumber())))
        return true;
      continue;
    }
    if (isAlias(user))
      for (Value result : user->getResults())
        if (isReturnedIn(function, result, isWanted))
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
  return isReturnedIn(function, result, [&](dist::PortAttr target) {
    return target && target.isInSlot(port.getSlot());
  });
}

bool isReturnedOnce(func::FuncOp function, Value value) {
  return isReturnedIn(function, value, dist::isOfMicrobatch);
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
