//===- MakeFrames.cpp - Frames and buffers of states and slots ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.buffer   ->  a buffer of a `state` frame, a plan.part for each box
//   dist.timeline ->  a buffer and a plan.slot for each slot of its programs
//
// The timeline and its functions stay. The parts stand in files of their own:
// states (StateFrames), slots (SlotFrames), sums that are fetched
// (FetchedSums).
//
// Test: test/Transforms/Ordering/make-frames.mlir
//===----------------------------------------------------------------------===//

#include "FetchedSums.h"
#include "SlotFrames.h"
#include "StateFrames.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Ordering/Passes.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_MAKEFRAMESPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

using namespace ordering;

/// Says where the slots of a timeline lie.
static void writePlaces(OpBuilder &builder, const Timeline &timeline,
                        const TimelinePlaces &places) {
  auto name = FlatSymbolRefAttr::get(timeline.op.getSymNameAttr());
  Location loc = timeline.op.getLoc();
  for (const auto &[slot, placed] : places.slots)
    plan::SlotOp::create(builder, loc, name, slot, placed.place,
                         placed.isFetched ? builder.getUnitAttr() : UnitAttr());
  if (places.scratch)
    plan::SlotOp::create(builder, loc, name, Attribute(), places.scratch,
                         UnitAttr());
}

namespace {

class MakeFramesPass : public impl::MakeFramesPassBase<MakeFramesPass> {
public:
  using MakeFramesPassBase::MakeFramesPassBase;

  void runOnOperation() override;

private:
  LogicalResult
  makeTimelineFrames(OpBuilder &builder, PlanNames &names,
                     const Timeline &timeline,
                     const std::map<std::string, FlatSymbolRefAttr> &states);

  llvm::StringSet<> fetched;
};

} // namespace

LogicalResult MakeFramesPass::makeTimelineFrames(
    OpBuilder &builder, PlanNames &names, const Timeline &timeline,
    const std::map<std::string, FlatSymbolRefAttr> &states) {
  SymbolTableCollection tables;
  // What reduces a sum leaves it in a slot of its own, which needs a place too.
  for (const TimelineProgram &program : timeline.programs)
    if (program.attr.getPhase() == dist::Phase::Update &&
        failed(addFetchedSums(program.function, tables, fetched)))
      return failure();
  FailureOr<TimelineSlots> slots = readSlots(timeline);
  if (failed(slots))
    return failure();
  builder.setInsertionPoint(timeline.op);
  TimelinePlaces places =
      makeSlotFrames(builder, names, {timeline, *slots, states, threads});
  markFetchedSums(places, tables, getOperation(), fetched);
  writePlaces(builder, timeline, places);
  return success();
}

void MakeFramesPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTableCollection tables;
  SmallVector<dist::TimelineOp> timelines(module.getOps<dist::TimelineOp>());
  if (timelines.empty())
    return;
  if (threads < 1) {
    module.emitError() << "expected at least 1 thread, got "
                       << threads.getValue();
    return signalPassFailure();
  }
  FailureOr<dist::MeshOp> mesh = dist::findMesh(timelines.front(), {}, tables);
  if (failed(mesh))
    return signalPassFailure();
  fetched.insert(fetch.begin(), fetch.end());
  PlanNames names(module, {});
  OpBuilder builder(timelines.front());
  plan::DeviceOp::create(builder, module.getLoc(),
                         builder.getI64IntegerAttr(threads),
                         builder.getI64IntegerAttr(seed), DenseI64ArrayAttr());
  auto states = makeStateFrames(builder, names, module, *mesh);
  if (failed(states))
    return signalPassFailure();
  for (dist::TimelineOp timeline : timelines)
    if (failed(makeTimelineFrames(builder, names,
                                  readTimeline(timeline, tables), *states)))
      return signalPassFailure();
}

} // namespace llmc
