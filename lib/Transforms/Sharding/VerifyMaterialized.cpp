//===- VerifyMaterialized.cpp - What holds after phase 3 ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the layouts back from the types and checks each op against its rule
// (Analysis/Layouts/LayoutCheck.h).
//
// Test: test/Transforms/Sharding/verify-materialized.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutCheck.h"
#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_VERIFYMATERIALIZEDPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyMaterializedPass
    : llmc::impl::VerifyMaterializedPassBase<VerifyMaterializedPass> {
  void runOnOperation() override;
};
} // namespace

/// The layouts of `values`; reports the first that has none.
static LogicalResult readLayouts(Operation *op, ValueRange values,
                                 StringRef what,
                                 SmallVectorImpl<dist::LayoutAttr> &layouts) {
  for (auto [i, value] : llvm::enumerate(values)) {
    dist::LayoutAttr layout = dist::getLayout(value.getType());
    if (!layout && isa<RankedTensorType>(value.getType()))
      return op->emitOpError() << "expected a layout in the type of " << what
                               << " #" << i << " after phase 3";
    layouts.push_back(layout);
  }
  return success();
}

/// What is left of reshards moves nothing between devices.
static LogicalResult verifyReshard(dist::ReshardOp op,
                                   LayoutReshards &reshards) {
  std::string error;
  FailureOr<LayoutPlan> plan =
      reshards.plan(cast<RankedTensorType>(op.getInput().getType()),
                    dist::getLayout(op.getInput().getType()),
                    dist::getLayout(op.getResult().getType()), error);
  if (failed(plan))
    return op.emitOpError()
           << "expected a local change of layout, got none: " << error;
  for (const ReshardStep &step : plan->steps)
    if (!step.isLocal() || step.kind == ReshardMove::Kind::Lift)
      return op.emitOpError()
             << "expected a local change of layout after phase 3, got one that "
                "needs "
             << nameOf(*step.kind);
  return success();
}

static LogicalResult verifyOp(Operation *op, LayoutReshards &reshards) {
  LayoutProblem problem{op, {}, reshards.getAxes(), {}, {}};
  if (failed(readLayouts(op, op->getOperands(), "operand", problem.operands)) ||
      failed(readLayouts(op, op->getResults(), "result", problem.results)))
    return failure();
  if (auto reshard = dyn_cast<dist::ReshardOp>(op))
    return verifyReshard(reshard, reshards);
  // Their own verifiers compare operands and results.
  if (isa<dist::KeepOp, dist::JoinOp, dist::TransferOp,
          dist::CollectiveInterface>(op))
    return success();
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model)
    return graph::emitMissingAnswer(op, graph::Answer::Rule);
  problem.rule = model.getShardingRule();
  if (std::string reason = checkLayouts(problem); !reason.empty())
    return op->emitOpError() << reason;
  return success();
}

void VerifyMaterializedPass::runOnOperation() {
  markAllAnalysesPreserved();
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  FailureOr<LayoutReshards> reshards = LayoutReshards::of(*mesh);
  if (failed(reshards))
    return signalPassFailure();
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    for (Operation &op :
         program.function.getBody().front().without_terminator())
      if (failed(verifyOp(&op, *reshards)))
        return signalPassFailure();
}
