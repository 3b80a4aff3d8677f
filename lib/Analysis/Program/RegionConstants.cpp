//===- RegionConstants.cpp - Constants that bodies have themselves --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/RegionConstants.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace llmc;

/// Whether `value` is computed from constants by a few ops.
static bool isConstant(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  return op && depth > 0 && isPure(op) && op->getNumRegions() == 0 &&
         !isa<dist::EnterOp, dist::LeaveOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isConstant(operand, depth - 1);
         });
}

Value llmc::cloneConstant(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneConstant(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void llmc::takeInConstants(Region &region) {
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  IRMapping mapping;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  for (Value value : captured)
    if (isConstant(value))
      replaceAllUsesInRegionWith(value, cloneConstant(builder, value, mapping),
                                 region);
}
