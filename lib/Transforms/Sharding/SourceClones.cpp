//===- SourceClones.cpp - Constants are split for each use ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SourceClones.h.
//
//===----------------------------------------------------------------------===//

#include "SourceClones.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace llmc;

static bool hasDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0;
}

static bool isSource(Operation &op) {
  return op.getNumResults() == 1 && hasDims(op.getResult(0).getType()) &&
         llvm::none_of(op.getOperandTypes(), hasDims) && isPure(&op);
}

void SourceClones::split(func::FuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(function.front().without_terminator())) {
    if (!isSource(op) || op.use_empty() || op.hasOneUse())
      continue;
    // Uses are listed from the last to the first.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getUses())
      uses.push_back(&use);
    SmallVector<Operation *> &group = groups.emplace_back();
    group.push_back(&op);
    OpBuilder builder(function.getContext());
    for (OpOperand *use : llvm::drop_begin(llvm::reverse(uses))) {
      builder.setInsertionPointAfter(group.back());
      group.push_back(builder.clone(op));
      use->set(group.back()->getResult(0));
    }
  }
}

void SourceClones::merge() {
  for (ArrayRef<Operation *> group : groups) {
    llvm::DenseMap<DictionaryAttr, Operation *> kept;
    for (Operation *op : group) {
      auto [first, isNew] = kept.insert({op->getAttrDictionary(), op});
      if (isNew)
        continue;
      op->getResult(0).replaceAllUsesWith(first->second->getResult(0));
      op->erase();
    }
  }
  groups.clear();
}
