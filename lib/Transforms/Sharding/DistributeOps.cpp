//===- DistributeOps.cpp - Global forms of ops with split factors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts of the new ops follow from the op's own (LayoutFiller.h). For
// logits [{"data"}, {"tensor"}]:
//
//   max [{"data"}], its broadcast [{"data"}, {"tensor"}], sums [{"data"}]
//
// Partial sums are not written here: placement makes them. Where one would wait
// for another, the form of one round may be shorter (OneRound.h).
//
// Test: test/Transforms/Sharding/distribute-ops.mlir, distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#include "LayoutFiller.h"
#include "LayoutSteps.h"
#include "OneRound.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
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

/// Builds the distributed form, with layouts between the op's own.
static FailureOr<DistributedForm>
buildForm(graph::ShardingRuleOpInterface model, dist::MeshAxesAttr mesh) {
  Operation *op = model, *before = op->getPrevNode();
  OpBuilder builder(op);
  DistributedForm form;
  if (failed(model.buildDistributedForm(builder, form.results)))
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected a distributed form for a factor that is split, got "
              "none; keep its dimension whole by a layout";
  form.ops = getOpsBetween(before, op);
  LayoutFiller filler(form.ops, mesh, getDecidedLayout(op->getResult(0)));
  for (Value operand : op->getOperands())
    filler.fix(operand, getDecidedLayout(operand));
  for (auto [result, replacement] : llvm::zip(op->getResults(), form.results))
    filler.fix(replacement, getDecidedLayout(result));
  if (failed(filler.run()))
    return failure();
  return form;
}

static LogicalResult distribute(graph::ShardingRuleOpInterface model,
                                dist::MeshAxesAttr mesh,
                                const MachineModel &machine) {
  FailureOr<DistributedForm> form = buildForm(model, mesh);
  if (failed(form))
    return failure();
  Operation *op = model;
  if (auto shorter = buildOneRound(op, *form, mesh, machine)) {
    form->erase();
    form = *shorter;
  }
  for (Operation *made : form->ops)
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute value = op->getAttr(mark))
        made->setAttr(mark, value);
  op->replaceAllUsesWith(form->results);
  op->erase();
  return success();
}

void DistributeOpsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  FailureOr<MachineModel> machine;
  if (failed(mesh) || failed(machine = readMachine(*mesh)))
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
                          mesh->getAxes(), *machine)))
      return signalPassFailure();
}
