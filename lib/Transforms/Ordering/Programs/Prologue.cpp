//===- Prologue.cpp - What a stage does before a step ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Prologue.h.
//
// Test: test/Transforms/Ordering/order-programs.mlir
//===----------------------------------------------------------------------===//

#include "Prologue.h"
#include "HostCopies.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

/// Sums that a program of the table reads before any writes them.
static FailureOr<SmallVector<PortAttr>> findFills(const Timeline &timeline,
                                                  const TimelinePlaces &places,
                                                  int64_t stage) {
  SmallVector<PortAttr> fills;
  for (const auto &[slot, placed] : places.slots) {
    if (!slot.isSum())
      continue;
    const SlotUses &uses = placed.uses;
    bool isWritten = false, isRead = false;
    for (const StageCall &call : timeline.walks[stage]) {
      if (isWritten)
        break;
      isRead |= llvm::is_contained(uses.takenBy, call.program);
      isWritten |= llvm::is_contained(uses.returnedBy, call.program);
    }
    if (isRead && isWritten && !isSeeded(Fault::accumulatorsAreNotCleared))
      fills.push_back(slot);
    bool isUsed =
        isRead || llvm::is_contained(uses.takenBy, timeline.updates[stage]);
    if (isUsed && !isWritten)
      return timeline.op.emitOpError()
             << "expected a program that writes slot " << slot << ", got none";
  }
  return fills;
}

/// The hyper values that programs of the stage take.
static SmallVector<HostCopy> listHypers(const Timeline &timeline,
                                        const TimelinePlaces &places,
                                        int64_t stage) {
  SmallVector<HostCopy> hypers;
  auto runsHere = [&](int32_t program) {
    return llvm::is_contained(timeline.programs[program].getStages(), stage);
  };
  for (const auto &[slot, placed] : places.slots)
    if (slot.getKind() == PortKind::Hyper &&
        llvm::any_of(placed.uses.takenBy, runsHere))
      hypers.push_back(
          {plan::HostEnd::Hyper, slot.getSymbol().getValue(), placed.place});
  return hypers;
}

FailureOr<plan::ProgramOp> emitPrologue(OpBuilder &builder, PlanNames &names,
                                        const PlanStreams &streams,
                                        const Timeline &timeline,
                                        const TimelinePlaces &places,
                                        int64_t stage) {
  FailureOr<SmallVector<PortAttr>> fills = findFills(timeline, places, stage);
  if (failed(fills))
    return failure();
  SmallVector<HostCopy> hypers = listHypers(timeline, places, stage);
  if (fills->empty() && hypers.empty())
    return plan::ProgramOp();
  Location loc = timeline.op.getLoc();
  std::string name = (timeline.op.getSymName() + ".prologue").str();
  if (timeline.getNumStages() > 1)
    name += ".s" + std::to_string(stage);
  auto program = plan::ProgramOp::create(
      builder, loc, builder.getStringAttr(names.take(name)),
      plan::PhaseAttr::get(builder.getContext(), plan::Phase::Other),
      IntegerAttr(), builder.getI64IntegerAttr(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  for (const HostCopy &hyper : hypers)
    emitHostCopy(builder, loc, streams, hyper);
  for (PortAttr slot : *fills)
    plan::FillOp::create(builder, loc, streams.getCompute(),
                         places.slots.find(slot)->second.place,
                         builder.getI64IntegerAttr(0));
  return program;
}

} // namespace llmc::ordering
