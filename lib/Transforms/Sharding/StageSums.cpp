//===- StageSums.cpp - Sums that may be left apart ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StageSums.h.
//
//===----------------------------------------------------------------------===//

#include "StageSums.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;
using namespace llmc;

bool llmc::isJointlyLinear(Operation *op) {
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  for (const graph::Linearity &linearity : model.getShardingRule().carries)
    for (ArrayRef<int> group : linearity.groups)
      if (linearity.kind == ReductionKind::sum &&
          group.size() == op->getNumOperands())
        return true;
  return false;
}

bool llmc::isAddition(Operation *op) {
  return op->getNumOperands() == 2 && op->hasTrait<OpTrait::IsCommutative>() &&
         isJointlyLinear(op);
}

SmallVector<Operation *> llmc::findStageSums(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  llvm::DenseSet<Operation *> inside;
  SmallVector<Operation *> sums;
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    bool isUnary = op.getNumOperands() == 1 && op.getNumRegions() == 0;
    if (!(isUnary ? isJointlyLinear(&op) : isAddition(&op)))
      continue;
    bool isInside = llvm::all_of(op.getUses(), [&](OpOperand &use) {
      if (use.getOwner() != end)
        return inside.contains(use.getOwner());
      return dist::isSum(dist::getResultPort(function, use.getOperandNumber()));
    });
    if (!isInside)
      continue;
    inside.insert(&op);
    sums.push_back(&op);
  }
  return SmallVector<Operation *>(llvm::reverse(sums));
}
