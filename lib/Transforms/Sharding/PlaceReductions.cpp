//===- PlaceReductions.cpp - Where partial values are reduced -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result is partial over an axis that splits a reduced factor of its op.
//
// Test: test/Transforms/Sharding/place-reductions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_PLACEREDUCTIONSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PlaceReductionsPass
    : llmc::impl::PlaceReductionsPassBase<PlaceReductionsPass> {
  void runOnOperation() override;
};
} // namespace

/// The layout that phase 2 gave `value`, or null.
static dist::LayoutAttr getDecidedLayout(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? function.getArgAttrOfType<dist::LayoutAttr>(
                          argument.getArgNumber(), dist::DistDialect::kLayout)
                    : dist::LayoutAttr();
  }
  auto result = cast<OpResult>(value);
  auto layouts =
      result.getOwner()->getAttrOfType<ArrayAttr>(dist::DistDialect::kLayouts);
  return layouts ? cast<dist::LayoutAttr>(layouts[result.getResultNumber()])
                 : dist::LayoutAttr();
}

/// The first operand dimension that is split along a reduced factor.
static std::optional<std::pair<unsigned, int64_t>>
findSplitReduction(Operation *op, const graph::ShardingRule &rule) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    dist::LayoutAttr layout = getDecidedLayout(operand);
    if (!layout)
      continue;
    for (auto [d, factors] : llvm::enumerate(rule.operands[i]))
      for (int factor : factors)
        if (rule.factors[factor].kind == graph::FactorKind::Reduced &&
            !layout.getDims()[d].getAxes().empty())
          return std::pair<unsigned, int64_t>(i, d);
  }
  return std::nullopt;
}

void PlaceReductionsPass::runOnOperation() {
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    for (Operation &op : program.function.getBody().front()) {
      auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
      if (!model)
        continue;
      if (auto split = findSplitReduction(&op, model.getShardingRule())) {
        op.emitOpError() << "expected dim " << split->second << " of operand #"
                         << split->first
                         << " to be whole: it is reduced, and the result would "
                            "be partial, which is not supported yet";
        return signalPassFailure();
      }
    }
}
