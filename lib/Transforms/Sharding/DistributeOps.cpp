//===- DistributeOps.cpp - Global forms of ops with split factors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts of the new ops follow from the op's own (LayoutFiller.h). For
// logits [{"data"}, {"tensor"}]:
//
//   max [{"data"}], its broadcast [{"data"}, {"tensor"}], sums [{"data"}]
//
// Partial sums are not written here: placement makes them.
//
// Test: test/Transforms/Sharding/distribute-ops.mlir
//===----------------------------------------------------------------------===//

#include "LayoutFiller.h"
#include "LayoutSteps.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_DISTRIBUTEOPSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct DistributeOpsPass
    : llmc::impl::DistributeOpsPassBase<DistributeOpsPass> {
  void runOnOperation() override;
};
} // namespace

/// Whether a factor with a distributed form is split by an operand or result.
static bool isDistributed(Operation *op, const graph::ShardingRule &rule,
                          dist::MeshAxesAttr mesh) {
  bool isSplit = false;
  auto look = [&](Value value, const graph::TensorFactors &tensor) {
    if (LayoutAttr layout = getDecidedLayout(value))
      projectToFactors(layout, tensor, rule.factors, mesh, "",
                       [&](int factor, const FactorSplit &split) {
                         isSplit |=
                             llvm::is_contained(rule.distributed, factor) &&
                             !split.axes.empty();
                       });
  };
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    look(operand, tensor);
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    look(result, tensor);
  return isSplit;
}

static LogicalResult distribute(graph::ShardingRuleOpInterface model,
                                dist::MeshAxesAttr mesh) {
  Operation *op = model, *before = op->getPrevNode();
  OpBuilder builder(op);
  SmallVector<Value> replacements;
  if (failed(model.buildDistributedForm(builder, replacements)))
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected a distributed form for a factor that is split, got "
              "none; keep its dimension whole by a layout";
  SmallVector<Operation *> ops;
  for (Operation *made = before ? before->getNextNode()
                                : &op->getBlock()->front();
       made != op; made = made->getNextNode())
    ops.push_back(made);
  LayoutFiller filler(ops, mesh, getDecidedLayout(op->getResult(0)));
  for (Value operand : op->getOperands())
    filler.fix(operand, getDecidedLayout(operand));
  for (auto [result, replacement] : llvm::zip(op->getResults(), replacements))
    filler.fix(replacement, getDecidedLayout(result));
  if (failed(filler.run()))
    return failure();
  for (Operation *made : ops)
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute value = op->getAttr(mark))
        made->setAttr(mark, value);
  op->replaceAllUsesWith(replacements);
  op->erase();
  return success();
}

void DistributeOpsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  llvm::SetVector<Operation *> found;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    for (Operation &op : program.function.getBody().front())
      if (auto model = dyn_cast<graph::ShardingRuleOpInterface>(op))
        if (graph::ShardingRule rule = model.getShardingRule();
            !rule.distributed.empty() &&
            isDistributed(&op, rule, mesh->getAxes()))
          found.insert(&op);
  if (found.empty())
    return markAllAnalysesPreserved();
  for (Operation *op : found)
    if (failed(distribute(cast<graph::ShardingRuleOpInterface>(op),
                          mesh->getAxes())))
      return signalPassFailure();
}
