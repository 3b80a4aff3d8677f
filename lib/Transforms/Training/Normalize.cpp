//===- Normalize.cpp - Reductions start from their neutral element --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   reduce(x, init; f)       -> f(broadcast init, reduce(x, neutral; f))
//   scatter(x, i, u; +)      -> x + scatter(0, i, u; +)
//
// Devices that hold parts of a split dimension would otherwise each count the
// initial value. Which ops have one that counts once they say themselves
// (Combination.h).
//
// Test: test/Transforms/Training/normalize.mlir
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llmc/Dialect/Graph/IR/Combination.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace llmc {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

/// Applies the one op of a body to tensors.
static Value applyBody(OpBuilder &builder, Region &body, Value lhs, Value rhs) {
  Operation &scalarOp = body.front().front();
  OperationState state(lhs.getLoc(), scalarOp.getName(), ValueRange{lhs, rhs},
                       TypeRange{lhs.getType()});
  state.propertiesAttr = scalarOp.getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

/// A scalar for each element of `type`; what has the type is itself.
static Value spread(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return stablehlo::broadcastInDim(builder, value.getLoc(), value,
                                   cast<RankedTensorType>(type), {});
}

static void startFromNeutral(graph::CombinationOpInterface op) {
  graph::Combination combination = op.getCombination();
  if (!combination.needsNeutralStart)
    return;
  if (!combination.kind) {
    remark::missed(op.getLoc(), training::remarkOf("reduce"))
        << "reduction by a function of its own keeps its initial value";
    return;
  }
  OpOperand &operand = combination.starts.front();
  Value start = operand.get();
  if (stablehlo::isNeutral(start, *combination.kind))
    return;
  OpBuilder builder(op);
  Value neutral =
      stablehlo::neutralScalar(builder, op.getLoc(), *combination.kind,
                               getElementTypeOrSelf(start.getType()));
  operand.set(spread(builder, neutral, start.getType()));
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  Value combined = applyBody(builder, *combination.body,
                             spread(builder, start, result.getType()), result);
  result.replaceAllUsesExcept(combined, combined.getDefiningOp());
}

namespace {

struct NormalizePass : llmc::impl::NormalizePassBase<NormalizePass> {
  void runOnOperation() override {
    for (func::FuncOp function : training::getGraphFunctions(getOperation())) {
      if (function.isExternal())
        continue;
      SmallVector<graph::CombinationOpInterface> ops;
      function.walk(
          [&](graph::CombinationOpInterface op) { ops.push_back(op); });
      llvm::for_each(ops, startFromNeutral);
    }
  }
};

} // namespace
