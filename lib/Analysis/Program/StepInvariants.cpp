//===- StepInvariants.cpp - What is alike in all microbatches -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/StepInvariants.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace llmc;
using dist::PortKind;

StepInvariants::StepInvariants(
    func::FuncOp function, llvm::function_ref<bool(BlockArgument)> leftOut) {
  for (BlockArgument argument : function.getArguments()) {
    dist::PortAttr port =
        dist::getArgumentPort(function, argument.getArgNumber());
    bool isOfStep =
        dist::isAnyPort(port, {PortKind::Parameter, PortKind::Constant,
                               PortKind::Hyper, PortKind::Step});
    if (!isOfStep || (leftOut && leftOut(argument)))
      changing.insert(argument);
  }
  for (Operation &op : function.front())
    if (!isMemoryEffectFree(&op) ||
        llvm::any_of(dist::getAllOperands(&op),
                     [&](Value value) { return changes(value); }))
      changing.insert(op.getResults().begin(), op.getResults().end());
}
