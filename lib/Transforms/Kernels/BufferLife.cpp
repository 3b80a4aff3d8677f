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
#include "llmc/Dialect/Dist/IR/Dist.h"
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

/// Programs of the module that have the slot among arguments, or results.
static unsigned countPrograms(ModuleOp module, dist::PortAttr slot,
                              bool ofResults) {
  return llvm::count_if(
      module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
        dist::Signature signature(function);
        return llvm::any_of(
            ofResults ? signature.results : signature.arguments,
            [&](dist::PortAttr port) { return port && port.isInSlot(slot); });
      });
}

/// True when the function is called for each trip of a loop.
static bool isOfLoop(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  for (auto timeline : module.getOps<dist::TimelineOp>())
    for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>())
      if (program.getFunction().getAttr() == function.getNameAttr() &&
          program.getLoop())
        return true;
  return false;
}

bool isReadHereAlone(func::FuncOp function, Value argument) {
  auto blockArgument = dyn_cast<BlockArgument>(argument);
  auto module = function->getParentOfType<ModuleOp>();
  if (!blockArgument || !module || isOfLoop(function))
    return false;
  dist::PortAttr port =
      dist::getArgumentPort(function, blockArgument.getArgNumber());
  if (!dist::isPort(port, dist::PortKind::Act))
    return false;
  dist::PortAttr slot = port.getSlot();
  return countPrograms(module, slot, /*ofResults=*/false) == 1 &&
         countPrograms(module, slot, /*ofResults=*/true) == 1 &&
         !isReturnedIn(function, argument, [&](dist::PortAttr target) {
           return target && target.isInSlot(slot);
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
