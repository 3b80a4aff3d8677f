//===- SlotFrames.cpp - Frames and buffers of a timeline's slots ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SlotFrames.h.
//
// Test: test/Transforms/Ordering/make-frames.mlir
//===----------------------------------------------------------------------===//

#include "SlotFrames.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include <set>

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

/// The greatest number of microbatches between the start of the first and the
/// end of the last of these programs, on any stage; at least 1.
static int64_t getInFlight(const Timeline &timeline,
                           const std::set<int32_t> &programs) {
  int64_t most = 1;
  for (const std::vector<StageCall> &walk : timeline.walks) {
    rt::InFlight<int64_t> microbatches;
    for (auto [i, call] : llvm::enumerate(walk))
      if (programs.count(call.program))
        microbatches.touch(call.microbatch, static_cast<int64_t>(i));
    most = std::max(most, microbatches.most());
  }
  return most;
}

/// The chunk to which a slot of a microbatch belongs.
static int64_t getChunk(const Timeline &timeline, PortAttr slot,
                        const SlotUses &uses) {
  if (slot.getChunk() >= 0)
    return slot.getChunk();
  const auto &users = uses.takenBy.empty() ? uses.returnedBy : uses.takenBy;
  return timeline.programs[users.front()].attr.getChunk();
}

static void addChunk(std::set<int32_t> &programs, const Timeline &timeline,
                     int64_t chunk) {
  for (auto [i, program] : llvm::enumerate(timeline.programs))
    if (program.attr.getChunk() == chunk &&
        program.attr.getPhase() != dist::Phase::Prepare)
      programs.insert(static_cast<int32_t>(i));
}

/// The programs between whose first and last the frame of a slot is in use.
class FrameSpans {
public:
  explicit FrameSpans(const SlotFramesRequest &request)
      : timeline(request.timeline) {
    for (const auto &[slot, uses] : request.slots) {
      if (slot.getKind() != PortKind::Act)
        continue;
      std::set<int32_t> &span = activations[getChunk(timeline, slot, uses)];
      span.insert(uses.takenBy.begin(), uses.takenBy.end());
      span.insert(uses.returnedBy.begin(), uses.returnedBy.end());
    }
    for (auto &[chunk, span] : activations)
      addChunk(span, timeline, chunk);
  }

  /// Where a stage holds several chunks, one may read what another has kept,
  /// or the same input. All activations of a chunk and its stages share a
  /// frame.
  std::set<int32_t> get(PortAttr slot, const SlotUses &uses) const {
    int64_t chunk = getChunk(timeline, slot, uses);
    if (slot.getKind() == PortKind::Act)
      return activations.at(chunk);
    std::set<int32_t> span;
    addChunk(span, timeline, chunk);
    if (slot.getKind() == PortKind::Input)
      for (int32_t program : uses.takenBy)
        addChunk(span, timeline, timeline.programs[program].attr.getChunk());
    return span;
  }

private:
  const Timeline &timeline;
  std::map<int64_t, std::set<int32_t>> activations;
};

/// What is sent or received: each end has a frame.
static bool isBoundary(PortAttr slot) {
  return slot.getKind() == PortKind::Send || slot.getKind() == PortKind::Recv;
}

/// How many microbatches the frame of a slot of a microbatch holds.
static int64_t getNumSlots(const Timeline &timeline, const FrameSpans &spans,
                           PortAttr slot, const SlotUses &uses) {
  auto microbatches = static_cast<int64_t>(timeline.op.getMicrobatches());
  int64_t inFlight = getInFlight(timeline, spans.get(slot, uses));
  if (slot.getKind() == PortKind::Act)
    return isSeeded(Fault::frameLacksASlot) && inFlight > 1 ? inFlight - 1
                                                            : inFlight;
  if (isBoundary(slot))
    return std::min(microbatches, inFlight + 1);
  // One forward alone reads the input.
  bool isForwardOnly = llvm::all_of(uses.takenBy, [&](int32_t program) {
    dist::ProgramAttr attr = timeline.programs[program].attr;
    return attr.getPhase() == dist::Phase::Forward &&
           attr.getChunk() == getChunk(timeline, slot, uses);
  });
  return std::min(microbatches, isForwardOnly ? 2 : inFlight + 1);
}

static StringRef getFrameName(PortAttr slot) {
  switch (slot.getKind()) {
  case PortKind::Buffer:
    return "state";
  case PortKind::Act:
    return "act";
  case PortKind::Carry:
    return "carry";
  case PortKind::Kept:
    return "kept";
  case PortKind::Send:
  case PortKind::Recv:
    return "bnd";
  case PortKind::Input:
    return "input";
  case PortKind::Hyper:
    return "hyper";
  case PortKind::Output:
    return "output";
  default:
    // Sums and metrics: a timeline has no others.
    return "step";
  }
}

static plan::FrameKind getFrameKind(PortAttr slot) {
  switch (slot.getKind()) {
  case PortKind::Buffer:
    return plan::FrameKind::State;
  case PortKind::Act:
  case PortKind::Output:
    return plan::FrameKind::Act;
  case PortKind::Send:
  case PortKind::Recv:
    return plan::FrameKind::Bnd;
  case PortKind::Carry:
    return plan::FrameKind::Tmp;
  case PortKind::Input:
    return plan::FrameKind::Input;
  case PortKind::Hyper:
    return plan::FrameKind::Hyper;
  default:
    return plan::FrameKind::Step;
  }
}

/// `t0.out` where a transfer is sent, `t0.in` where it is received.
static std::string getBoundaryName(PortAttr slot) {
  return (slot.getSymbol().getValue() +
          (slot.getKind() == PortKind::Send ? ".out" : ".in"))
      .str();
}

/// The frame of a slot; slots with frames of one name share it.
static FrameShape describeFrame(const Timeline &timeline,
                                const FrameSpans &spans, PortAttr slot,
                                const SlotUses &uses) {
  PortKind kind = slot.getKind();
  FrameShape frame;
  frame.kind = getFrameKind(slot);
  frame.name = (timeline.op.getSymName() + "." + getFrameName(slot)).str();
  if (kind == PortKind::Act || kind == PortKind::Input ||
      kind == PortKind::Output || isBoundary(slot)) {
    frame.slots = getNumSlots(timeline, spans, slot, uses);
    // Each end of a transfer is free on its own.
    frame.name += isBoundary(slot)
                      ? "." + getBoundaryName(slot)
                      : std::to_string(getChunk(timeline, slot, uses));
    // Data that the forward alone reads needs fewer slots.
    if (kind == PortKind::Input && frame.slots > 2)
      frame.name += ".kept";
  }
  if (kind == PortKind::Carry)
    frame.name += std::to_string(slot.getChunk());
  frame.stages = getStages(timeline, uses);
  for (int64_t stage : frame.stages)
    frame.name += ".s" + std::to_string(stage);
  if (kind == PortKind::Act)
    frame.chunk = getChunk(timeline, slot, uses);
  return frame;
}

/// One buffer for all: what kernels leave there is never read.
static plan::OperandAttr makeScratch(OpBuilder &builder, PlanNames &names,
                                     const SlotFramesRequest &request) {
  int64_t bytes = 0;
  for (const TimelineProgram &program : request.timeline.programs) {
    func::FuncOp function = program.function;
    function.walk([&](dist::LaunchOp launch) {
      bytes = std::max<int64_t>(bytes,
                                alignUp(launch.getScratch()) * request.threads);
    });
  }
  if (bytes == 0)
    return {};
  Location loc = builder.getUnknownLoc();
  FrameShape shape;
  shape.name = (request.timeline.op.getSymName() + ".scratch").str();
  shape.kind = plan::FrameKind::Scratch;
  FlatSymbolRefAttr frame = makeFrame(builder, names, loc, shape);
  FlatSymbolRefAttr buffer = makeBuffer(
      builder, names, loc, (frame.getValue() + ".all").str(), frame, bytes);
  return getOperand(buffer,
                    RankedTensorType::get({bytes}, builder.getI8Type()));
}

TimelinePlaces makeSlotFrames(OpBuilder &builder, PlanNames &names,
                              const SlotFramesRequest &request) {
  Location loc = builder.getUnknownLoc();
  TimelinePlaces places;
  FrameSpans spans(request);
  std::map<std::string, FlatSymbolRefAttr> frames;
  for (const auto &[slot, uses] : request.slots) {
    FlatSymbolRefAttr buffer;
    if (slot.getKind() == PortKind::Buffer) {
      buffer = request.states.at(slot.getSymbol().getValue().str());
    } else {
      FrameShape shape = describeFrame(request.timeline, spans, slot, uses);
      FlatSymbolRefAttr &frame = frames[shape.name];
      if (!frame)
        frame = makeFrame(builder, names, loc, shape);
      std::string value = isBoundary(slot) ? "value" : getSlotName(slot);
      buffer = makeBuffer(builder, names, loc,
                          (frame.getValue() + "." + value).str(), frame,
                          *getBytes(loc, uses.type));
    }
    places.slots[slot] = {uses, getOperand(buffer, uses.type), false};
  }
  places.scratch = makeScratch(builder, names, request);
  return places;
}

} // namespace llmc::ordering
