//===- Order.cpp - Timelines as programs on streams -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.timeline + functions over slots  ->  plan.frame, plan.buffer,
//   plan.program, plan.table, plan.entry, unplaced and without waits
//
// The parts stand in files of their own: states (OrderStates), frames of a
// timeline (TimelineFrames), a program's values and order (ProgramGraph,
// Solvers/Memory/OpOrder), its instructions (ProgramOrder), prologue, table and
// entry (TimelineOrder).
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "OrderStates.h"
#include "TimelineOrder.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_ORDERPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

namespace {

class OrderPass : public impl::OrderPassBase<OrderPass> {
public:
  using OrderPassBase::OrderPassBase;

  void runOnOperation() override;

private:
  void emitDevice(OpBuilder &builder);
};

} // namespace

void OrderPass::emitDevice(OpBuilder &builder) {
  plan::DeviceOp::create(builder, getOperation().getLoc(),
                         builder.getI64IntegerAttr(threads),
                         builder.getI64IntegerAttr(seed), DenseI64ArrayAttr());
}

void OrderPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTableCollection tables;
  // 1 what there is, and what goes away
  SmallVector<dist::TimelineOp> timelines(module.getOps<dist::TimelineOp>());
  llvm::SetVector<Operation *> replaced;
  for (dist::TimelineOp timeline : timelines) {
    replaced.insert(timeline);
    for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>())
      if (Operation *function =
              tables.lookupSymbolIn(module, program.getFunction()))
        replaced.insert(function);
  }
  if (timelines.empty())
    return;
  if (threads < 1) {
    module.emitError() << "expected at least 1 thread, got " << threads;
    return signalPassFailure();
  }
  FailureOr<dist::MeshOp> mesh = dist::findMesh(timelines.front(), {}, tables);
  if (failed(mesh))
    return signalPassFailure();
  // 2 device and states, then each timeline
  ordering::PlanNames names(module, replaced.getArrayRef());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  emitDevice(builder);
  ordering::PlanStreams streams(builder, names, module.getLoc(), *mesh);
  auto states = ordering::makeStates(builder, names, module, *mesh);
  if (failed(states))
    return signalPassFailure();
  llvm::StringSet<> wanted;
  wanted.insert(fetch.begin(), fetch.end());
  for (dist::TimelineOp timeline : timelines)
    if (failed(ordering::orderTimeline(
            builder, names, tables,
            {timeline, streams, *states, threads, wanted})))
      return signalPassFailure();
  // 3 what the plan replaces
  for (Operation *op : replaced)
    op->erase();
}

void buildOrderPipeline(OpPassManager &manager,
                        const OrderPassOptions &options) {
  manager.addPass(createOrderPass(options));
  // Programs are complete: a wait is between instructions of any two of them.
  manager.addPass(createAddWaitsPass());
}

void buildPlacesPipeline(OpPassManager &manager) {
  // Signals and waits say which lifetimes are ordered.
  manager.addPass(createAssignPlacesPass());
  // Which waits are superfluous is only known from the places; the places stay
  // right, since what is dropped keeps no bytes apart.
  manager.addPass(createPruneWaitsPass());
  manager.addPass(createVerifyPlanPass());
}

} // namespace llmc
