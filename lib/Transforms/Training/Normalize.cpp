//===- Normalize.cpp - Reductions start from their neutral element --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   reduce(x, init; f)       -> f(reduce(x, neutral; f), broadcast init)
//   scatter(x, i, u; +)      -> x + scatter(0, i, u; +)
//
// Devices that hold parts of a split dimension would otherwise each count the
// initial value. Maximum and minimum of a scatter count it twice without harm,
// and a scatter that assigns has no neutral element: both stay.
//
// Test: test/Transforms/Training/normalize.mlir
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

/// Applies the body's op to tensors.
static Value applyBody(OpBuilder &builder, Region &body, Value lhs, Value rhs) {
  Operation &scalarOp = body.front().front();
  OperationState state(lhs.getLoc(), scalarOp.getName(), ValueRange{lhs, rhs},
                       TypeRange{lhs.getType()});
  state.propertiesAttr = scalarOp.getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

static void normalizeReduce(stablehlo::ReduceOp op) {
  std::optional<ReductionKind> kind = stablehlo::reduceKindOf(op.getBody());
  if (!kind || op.getInputs().size() != 1) {
    remark::missed(op.getLoc(), training::remarkOf("reduce"))
        << "reduction by a function of its own keeps its initial value";
    return;
  }
  OpBuilder builder(op);
  Value init = op.getInitValues()[0];
  Type element = cast<RankedTensorType>(init.getType()).getElementType();
  if (stablehlo::isNeutral(init, *kind))
    return;
  Value neutral =
      stablehlo::neutralScalar(builder, op.getLoc(), *kind, element);
  op.getInitValuesMutable().assign(neutral);
  builder.setInsertionPointAfter(op);
  Value result = op.getResult()[0];
  auto type = cast<RankedTensorType>(result.getType());
  Value start = stablehlo::broadcastInDim(builder, op.getLoc(), init, type, {});
  Value combined = applyBody(builder, op.getBody(), result, start);
  result.replaceAllUsesExcept(combined, combined.getDefiningOp());
}

static void normalizeScatter(stablehlo::ScatterOp op) {
  std::optional<ReductionKind> kind =
      stablehlo::reduceKindOf(op.getUpdateComputation());
  if (!kind || isIdempotent(*kind) || op.getInputs().size() != 1)
    return;
  OpBuilder builder(op);
  Value input = op.getInputs()[0];
  auto type = cast<RankedTensorType>(input.getType());
  if (stablehlo::isNeutral(input, *kind))
    return;
  Value scalar = stablehlo::neutralScalar(builder, op.getLoc(), *kind,
                                          type.getElementType());
  op.getInputsMutable().assign(
      stablehlo::broadcastInDim(builder, op.getLoc(), scalar, type, {}));
  builder.setInsertionPointAfter(op);
  Value result = op.getResults()[0];
  Value combined = applyBody(builder, op.getUpdateComputation(), input, result);
  result.replaceAllUsesExcept(combined, combined.getDefiningOp());
}

namespace {

struct NormalizePass : llmc::impl::NormalizePassBase<NormalizePass> {
  void runOnOperation() override {
    for (func::FuncOp function : training::getGraphFunctions(getOperation())) {
      if (function.isExternal())
        continue;
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) { ops.push_back(op); });
      for (Operation *op : ops) {
        if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
          normalizeReduce(reduce);
        else if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
          normalizeScatter(scatter);
      }
    }
  }
};

} // namespace
