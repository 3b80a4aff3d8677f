//===- OrderPrograms.cpp - Timelines as programs on streams ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.timeline + plan.slot + functions over slots  ->  plan.program,
//   plan.table, plan.entry, and frames of the calls' own memory
//
// The parts stand in files of their own: what a timeline is (Timelines), a
// program's values and order (ProgramGraph), its instructions (ProgramOrder),
// copies from and to the host (HostCopies), prologue, table and entry
// (Prologue, EntryOrder).
//
// Test: test/Transforms/Ordering/order-programs.mlir
//===----------------------------------------------------------------------===//

#include "Callers.h"
#include "EntryOrder.h"
#include "ProgramOrder.h"
#include "Prologue.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Ordering/Passes.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_ORDERPROGRAMSPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

using namespace ordering;

static LogicalResult orderTimeline(OpBuilder &builder, PlanNames &names,
                                   SymbolTableCollection &tables,
                                   PlanStreams &streams,
                                   const Timeline &timeline) {
  // 1 read
  FailureOr<TimelinePlaces> places = readPlaces(timeline);
  if (failed(places))
    return failure();
  FailureOr<Meetings> meetings = findMeetings(timeline, streams);
  if (failed(meetings))
    return failure();
  // 2 prologues and programs, at the timeline's place
  builder.setInsertionPoint(timeline.op);
  TimelinePrograms made;
  for (size_t stage = 0; stage < timeline.getNumStages(); ++stage) {
    FailureOr<plan::ProgramOp> prologue =
        emitPrologue(builder, names, streams, timeline, *places, stage);
    if (failed(prologue))
      return failure();
    made.prologues.push_back(*prologue);
  }
  for (auto [i, program] : llvm::enumerate(timeline.programs)) {
    FailureOr<HostCopies> copies = listHostCopies(timeline, *places, tables, i);
    if (failed(copies))
      return failure();
    bool isPartial = program.getStages().size() < timeline.getNumStages();
    FailureOr<plan::ProgramOp> emitted =
        emitProgram(builder, names, tables,
                    {program, *places, streams, *meetings, *copies, isPartial,
                     isCalled(timeline, static_cast<int32_t>(i))});
    if (failed(emitted))
      return failure();
    made.programs.push_back(*emitted);
  }
  FailureOr<SmallVector<plan::ProgramOp>> cells =
      emitCallers(builder, names, streams, timeline, *places, made.programs);
  if (failed(cells))
    return failure();
  made.cells = std::move(*cells);
  made.prologues = emitBegins(builder, names, streams, timeline, *places,
                              made.programs, made.prologues);
  // 3 table and entry
  return emitEntry(builder, names, tables, timeline, *places, made);
}

namespace {

class OrderProgramsPass
    : public impl::OrderProgramsPassBase<OrderProgramsPass> {
public:
  void runOnOperation() override;
};

} // namespace

void OrderProgramsPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTableCollection tables;
  SmallVector<dist::TimelineOp> timelines(module.getOps<dist::TimelineOp>());
  if (timelines.empty())
    return;
  FailureOr<dist::MeshOp> mesh = dist::findMesh(timelines.front(), {}, tables);
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<Operation *> replaced = getReplaced(module, tables);
  PlanNames names(module, replaced);
  OpBuilder builder(timelines.front());
  for (auto device : module.getOps<plan::DeviceOp>())
    builder.setInsertionPointAfter(device);
  PlanStreams streams(builder, names, module.getLoc(), *mesh);
  for (dist::TimelineOp timeline : timelines)
    if (failed(orderTimeline(builder, names, tables, streams,
                             readTimeline(timeline, tables))))
      return signalPassFailure();
  for (auto slot : llvm::make_early_inc_range(module.getOps<plan::SlotOp>()))
    slot.erase();
  for (Operation *op : replaced)
    op->erase();
}

} // namespace llmc
