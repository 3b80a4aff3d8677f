//===- HostCopies.cpp - What a program copies from and to the host --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostCopies.h.
//
// Test: test/Transforms/Ordering/order-programs.mlir
//===----------------------------------------------------------------------===//

#include "HostCopies.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

void emitHostCopy(OpBuilder &builder, Location loc, const PlanStreams &streams,
                  const HostCopy &copy) {
  bool fromHost =
      copy.end == plan::HostEnd::Input || copy.end == plan::HostEnd::Hyper;
  plan::CopyOp::create(builder, loc, streams.getCopy(),
                       fromHost ? copy.place : plan::OperandAttr(),
                       fromHost ? plan::OperandAttr() : copy.place,
                       plan::HostEndAttr::get(builder.getContext(), copy.end),
                       builder.getStringAttr(copy.name));
}

/// True where `program` is the first of a microbatch to read the slot.
static bool isFirstReader(const Timeline &timeline, int32_t program,
                          const SlotUses &uses) {
  if (!llvm::is_contained(uses.takenBy, program))
    return false;
  for (const std::vector<StageCall> &walk : timeline.walks)
    for (const StageCall &call : walk) {
      if (call.program == program)
        return true;
      if (llvm::is_contained(uses.takenBy, call.program))
        break;
    }
  return timeline.isUpdate(program);
}

/// The slot in which programs sum what the update leaves in `slot`.
static PortAttr getSummed(const TimelinePlaces &places, PortAttr slot) {
  if (slot.getIsReduced())
    for (const auto &[other, placed] : places.slots)
      if (other.isSum() && !other.getIsReduced() && other.asReduced() == slot)
        return other;
  return slot;
}

FailureOr<SmallVector<FetchedPart>> listFetched(const Timeline &timeline,
                                                const TimelinePlaces &places,
                                                SymbolTableCollection &tables,
                                                PortAttr slot) {
  const PlacedSlot &placed = places.slots.find(slot)->second;
  bool isOutput = slot.getKind() == PortKind::Output;
  if (!isOutput && !placed.isFetched)
    return SmallVector<FetchedPart>();
  DenseI64ArrayAttr stages;
  if (SmallVector<int64_t> list = getStages(timeline, placed.uses);
      !list.empty())
    stages = DenseI64ArrayAttr::get(slot.getContext(), list);
  return listFetchedParts(timeline.op, tables,
                          {getSummed(places, slot), placed,
                           findPort(timeline, slot, placed.uses), stages,
                           isOutput && timeline.op.getMicrobatches() > 1});
}

/// A metric is a number of the step, not of each microbatch.
static LogicalResult verifyMetric(const Timeline &timeline, int32_t program,
                                  PortAttr slot) {
  auto microbatches = static_cast<int64_t>(timeline.op.getMicrobatches());
  if (timeline.isUpdate(program) || microbatches == 1)
    return success();
  func::FuncOp function = timeline.programs[program].function;
  return function->emitOpError()
         << "expected metric '" << slot.getName().getValue()
         << "' to be made once in a step, got it for each of " << microbatches
         << " microbatches";
}

FailureOr<HostCopies> listHostCopies(const Timeline &timeline,
                                     const TimelinePlaces &places,
                                     SymbolTableCollection &tables,
                                     int32_t program) {
  HostCopies copies;
  for (const auto &[slot, placed] : places.slots) {
    const SlotUses &uses = placed.uses;
    PortKind kind = slot.getKind();
    bool isMade = llvm::is_contained(uses.returnedBy, program);
    if (kind == PortKind::Input && isFirstReader(timeline, program, uses))
      copies.before.push_back(
          {plan::HostEnd::Input, slot.getName(), placed.place});
    if (kind == PortKind::Metric && isMade) {
      if (failed(verifyMetric(timeline, program, slot)))
        return failure();
      copies.after.push_back(
          {plan::HostEnd::Metric, slot.getName(), placed.place});
    }
    // Sums are whole after the update that reduces them.
    bool isUsed = isMade || llvm::is_contained(uses.takenBy, program);
    if (kind == PortKind::Output ? !isMade
                                 : !isUsed || !timeline.isUpdate(program))
      continue;
    FailureOr<SmallVector<FetchedPart>> parts =
        listFetched(timeline, places, tables, slot);
    if (failed(parts))
      return failure();
    for (const FetchedPart &part : *parts)
      copies.after.push_back(
          {plan::HostEnd::Fetch, part.fetch.getName().getValue(), part.place});
  }
  return copies;
}

} // namespace llmc::ordering
