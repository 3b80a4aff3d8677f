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
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;

/// Whether sums pass through the first `count` operands together.
static bool isLinearIn(Operation *op, size_t count) {
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model || op->getNumResults() != 1 || op->getNumOperands() < count)
    return false;
  auto first = llvm::seq<int>(0, static_cast<int>(count));
  for (const graph::Linearity &linearity : model.getShardingRule().carries)
    for (ArrayRef<int> group : linearity.groups)
      if (linearity.kind == ReductionKind::sum && llvm::equal(group, first))
        return true;
  return false;
}

bool llmc::isJointlyLinear(Operation *op) {
  return op->getNumOperands() > 0 && isLinearIn(op, op->getNumOperands());
}

bool llmc::isAddition(Operation *op) {
  return op->getNumOperands() == 2 && op->hasTrait<OpTrait::IsCommutative>() &&
         isJointlyLinear(op);
}

bool llmc::isLinearInFirst(Operation *op) {
  auto isConstant = [](Value value) {
    Operation *def = value.getDefiningOp();
    return def && def->hasTrait<OpTrait::ConstantLike>();
  };
  return op->getNumRegions() == 0 && isLinearIn(op, 1) &&
         llvm::all_of(op->getOperands().drop_front(), isConstant);
}

SmallVector<Operation *> llmc::findStageSums(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  llvm::DenseSet<Operation *> inside;
  SmallVector<Operation *> sums;
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (!isLinearInFirst(&op) && !isAddition(&op))
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
