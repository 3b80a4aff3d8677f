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
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;

namespace llmc::kernels {

Value getAliasRoot(Value value) {
  while (auto kernel = value.getDefiningOp<graph::KernelOpInterface>()) {
    if (kernel.getKernelForm() != graph::KernelForm::Alias)
      break;
    unsigned number = cast<OpResult>(value).getResultNumber();
    value = kernel->getOperand(kernel.getAliasedOperand(number));
  }
  return value;
}

bool isSameSlot(func::FuncOp function, Value argument, Value result) {
  auto blockArgument = dyn_cast<BlockArgument>(argument);
  if (!blockArgument)
    return false;
  auto slot = function.getArgAttrOfType<dist::SlotAttr>(
      blockArgument.getArgNumber(), dist::DistDialect::kSlot);
  if (!slot || (slot.getKind() != dist::SlotKind::State &&
                slot.getKind() != dist::SlotKind::Step))
    return false;
  Operation *terminator = function.front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    if (getAliasRoot(operand.get()) != getAliasRoot(result))
      continue;
    auto target = function.getResultAttrOfType<dist::SlotAttr>(
        operand.getOperandNumber(), dist::DistDialect::kSlot);
    if (target == slot)
      return true;
  }
  return false;
}

bool isReturned(Value value) {
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    auto kernel = dyn_cast<graph::KernelOpInterface>(user);
    if (kernel && kernel.getKernelForm() == graph::KernelForm::Alias &&
        llvm::any_of(user->getResults(), isReturned))
      return true;
  }
  return false;
}

} // namespace llmc::kernels
