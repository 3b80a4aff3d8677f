//===- EqualOps.cpp - Ops that could be one -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EqualOps.h.
//
//===----------------------------------------------------------------------===//

#include "EqualOps.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

bool llmc::areEqual(Operation *a, Operation *b) {
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrDictionary());
    list.erase("symbol");
    list.erase(DistDialect::kName);
    return list.getDictionary(op->getContext());
  };
  if (a == b || a->getName() != b->getName() ||
      a->getNumOperands() != b->getNumOperands() ||
      attributes(a) != attributes(b))
    return false;
  for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &x, &y, OperationEquivalence::IgnoreLocations))
      return false;
  return llvm::equal(
      a->getResultTypes(), b->getResultTypes(), [](Type x, Type y) {
        return getElementTypeOrSelf(x) == getElementTypeOrSelf(y);
      });
}

/// Whether `op` needs a result of `other`, which stands in the same block.
static bool dependsOn(Operation *op, Operation *other) {
  llvm::SetVector<Operation *> reached;
  reached.insert(op);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Value operand : reached[i]->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == other->getBlock() &&
          !def->isBeforeInBlock(other))
        reached.insert(def);
  return reached.contains(other);
}

bool llmc::areApart(ArrayRef<Operation *> ops) {
  for (Operation *a : ops)
    for (Operation *b : ops)
      if (a != b && (a->getBlock() != b->getBlock() || dependsOn(a, b)))
        return false;
  return true;
}
