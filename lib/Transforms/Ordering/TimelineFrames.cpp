//===- TimelineFrames.cpp - Frames and buffers of a timeline --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "TimelineFrames.h"
#include "ProgramGraph.h"
#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using llmc::dist::DistDialect;
using llmc::dist::SlotAttr;
using llmc::dist::SlotKind;

namespace llmc::schedule {

int64_t getInFlight(const std::set<int32_t> &programs,
                    ArrayRef<std::vector<StageCall>> walks) {
  int64_t most = 1;
  for (const std::vector<StageCall> &walk : walks) {
    rt::InFlight<int64_t> microbatches;
    for (auto [i, call] : llvm::enumerate(walk))
      if (programs.count(call.program))
        microbatches.touch(call.microbatch, static_cast<int64_t>(i));
    most = std::max(most, microbatches.most());
  }
  return most;
}

namespace {

class FrameMaker {
public:
  FrameMaker(OpBuilder &builder, PlanNames &names, const FrameRequest &request)
      : builder(builder), names(names), request(request) {}

  FailureOr<TimelineFrames> run();

private:
  LogicalResult collect();
  LogicalResult addUse(int32_t program, SlotAttr slot, Type type, bool isTaken);
  SmallVector<int64_t> getStages(const SlotBuffer &slot) const;
  int64_t getChunk(SlotAttr slot, const SlotBuffer &uses) const;
  /// Adds the programs of a chunk, or those that use a slot.
  void addChunk(std::set<int32_t> &programs, int64_t chunk) const;
  static void addUsers(std::set<int32_t> &programs, const SlotBuffer &uses);
  /// The programs between whose first and last the slot's frame is in use.
  std::set<int32_t> getSpan(SlotAttr slot, const SlotBuffer &uses) const;
  int64_t getSlots(SlotAttr slot, const SlotBuffer &uses) const;
  plan::FrameOp getFrame(SlotAttr slot, const SlotBuffer &uses);
  LogicalResult addBuffer(SlotAttr slot, SlotBuffer &uses);
  void addScratch();

  OpBuilder &builder;
  PlanNames &names;
  const FrameRequest &request;
  TimelineFrames result;
  std::map<std::string, plan::FrameOp> byName;
};

} // namespace

LogicalResult FrameMaker::addUse(int32_t program, SlotAttr slot, Type type,
                                 bool isTaken) {
  SlotBuffer &uses = result.slots[slot];
  func::FuncOp function = request.programs[program].function;
  FailureOr<int64_t> bytes = getBytes(function.getLoc(), type);
  if (failed(bytes))
    return failure();
  if (uses.type && uses.type != type)
    return function.emitOpError() << "expected slot " << slot << " as "
                                  << uses.type << ", got " << type;
  uses.type = cast<RankedTensorType>(type);
  SmallVector<int32_t> &users = isTaken ? uses.takenBy : uses.returnedBy;
  if (users.empty() || users.back() != program)
    users.push_back(program);
  return success();
}

/// The slot of an argument or result: its own, or that of its transfer.
static SlotAttr findSlot(DictionaryAttr marks, bool isTaken) {
  if (!marks)
    return {};
  if (auto slot = marks.getAs<SlotAttr>(DistDialect::kSlot))
    return slot;
  auto transfer = marks.getAs<FlatSymbolRefAttr>(isTaken ? DistDialect::kRecv
                                                         : DistDialect::kSend);
  return transfer ? getBoundarySlot(transfer, !isTaken) : SlotAttr();
}

LogicalResult FrameMaker::collect() {
  for (auto [i, program] : llvm::enumerate(request.programs)) {
    func::FuncOp function = program.function;
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (SlotAttr slot = findSlot(function.getArgAttrDict(k), true))
        if (failed(addUse(i, slot, function.getArgumentTypes()[k], true)))
          return failure();
    for (unsigned k = 0; k < function.getNumResults(); ++k)
      if (SlotAttr slot = findSlot(function.getResultAttrDict(k), false))
        if (failed(addUse(i, slot, function.getResultTypes()[k], false)))
          return failure();
  }
  return success();
}

SmallVector<int64_t> FrameMaker::getStages(const SlotBuffer &slot) const {
  SmallVector<int64_t> stages;
  for (const auto *users : {&slot.takenBy, &slot.returnedBy})
    for (int32_t program : *users)
      llvm::append_range(stages,
                         request.programs[program].attr.getAt().asArrayRef());
  llvm::sort(stages);
  stages.erase(llvm::unique(stages), stages.end());
  return stages;
}

/// The chunk to which a slot of a microbatch belongs.
int64_t FrameMaker::getChunk(SlotAttr slot, const SlotBuffer &uses) const {
  if (slot.getChunk() >= 0)
    return slot.getChunk();
  const auto &users = uses.takenBy.empty() ? uses.returnedBy : uses.takenBy;
  return request.programs[users.front()].attr.getChunk();
}

void FrameMaker::addChunk(std::set<int32_t> &programs, int64_t chunk) const {
  for (auto [i, program] : llvm::enumerate(request.programs))
    if (program.attr.getChunk() == chunk)
      programs.insert(i);
}

void FrameMaker::addUsers(std::set<int32_t> &programs, const SlotBuffer &uses) {
  programs.insert(uses.takenBy.begin(), uses.takenBy.end());
  programs.insert(uses.returnedBy.begin(), uses.returnedBy.end());
}

/// Where a stage holds several chunks, one may read what another has kept, or
/// the same input.
std::set<int32_t> FrameMaker::getSpan(SlotAttr slot,
                                      const SlotBuffer &uses) const {
  std::set<int32_t> span;
  int64_t chunk = getChunk(slot, uses);
  addChunk(span, chunk);
  if (slot.getKind() == SlotKind::Input)
    for (int32_t program : uses.takenBy)
      addChunk(span, request.programs[program].attr.getChunk());
  if (slot.getKind() != SlotKind::Act)
    return span;
  // All activations of a chunk and its stages share a frame.
  for (const auto &[other, otherUses] : result.slots)
    if (other.getKind() == SlotKind::Act && getChunk(other, otherUses) == chunk)
      addUsers(span, otherUses);
  return span;
}

int64_t FrameMaker::getSlots(SlotAttr slot, const SlotBuffer &uses) const {
  std::set<int32_t> span = getSpan(slot, uses);
  int64_t inFlight = getInFlight(span, request.walks);
  if (slot.getKind() == SlotKind::Act)
    return isSeeded(Fault::frameLacksASlot) && inFlight > 1 ? inFlight - 1
                                                            : inFlight;
  if (slot.getKind() == SlotKind::Bnd)
    return std::min(request.microbatches, inFlight + 1);
  // One forward alone reads the input.
  bool isForwardOnly = llvm::all_of(uses.takenBy, [&](int32_t program) {
    dist::ProgramAttr attr = request.programs[program].attr;
    return attr.getPhase() == dist::Phase::Forward &&
           attr.getChunk() == getChunk(slot, uses);
  });
  return std::min(request.microbatches, isForwardOnly ? 2 : inFlight + 1);
}

static StringRef getFrameName(SlotKind kind) {
  switch (kind) {
  case SlotKind::State:
    return "state";
  case SlotKind::Step:
  case SlotKind::Metric:
    return "step";
  case SlotKind::Act:
    return "act";
  case SlotKind::Bnd:
    return "bnd";
  case SlotKind::Input:
    return "input";
  case SlotKind::Hyper:
    return "hyper";
  case SlotKind::Output:
    return "output";
  }
  return "tmp";
}

static plan::FrameKind getFrameKind(SlotKind kind) {
  switch (kind) {
  case SlotKind::State:
    return plan::FrameKind::State;
  case SlotKind::Step:
  case SlotKind::Metric:
    return plan::FrameKind::Step;
  case SlotKind::Act:
  case SlotKind::Output:
    return plan::FrameKind::Act;
  case SlotKind::Bnd:
    return plan::FrameKind::Bnd;
  case SlotKind::Input:
    return plan::FrameKind::Input;
  case SlotKind::Hyper:
    return plan::FrameKind::Hyper;
  }
  return plan::FrameKind::Tmp;
}

plan::FrameOp FrameMaker::getFrame(SlotAttr slot, const SlotBuffer &uses) {
  SlotKind kind = slot.getKind();
  bool isOfMicrobatch = kind == SlotKind::Act || kind == SlotKind::Input ||
                        kind == SlotKind::Output || kind == SlotKind::Bnd;
  std::string name = (request.name + "." + getFrameName(kind)).str();
  if (isOfMicrobatch) {
    // Each end of a transfer is free on its own.
    name += kind == SlotKind::Bnd ? "." + slot.getName().str()
                                  : std::to_string(getChunk(slot, uses));
    // Data that the forward alone reads needs fewer slots.
    if (kind == SlotKind::Input && getSlots(slot, uses) > 2)
      name += ".kept";
  }
  SmallVector<int64_t> stages = getStages(uses);
  DenseI64ArrayAttr stageAttr;
  if (static_cast<int64_t>(stages.size()) < request.numStages) {
    stageAttr = builder.getDenseI64ArrayAttr(stages);
    for (int64_t stage : stages)
      name += ".s" + std::to_string(stage);
  }
  plan::FrameOp &frame = byName[name];
  if (frame)
    return frame;
  int64_t slots = isOfMicrobatch ? getSlots(slot, uses) : 1;
  MLIRContext *context = builder.getContext();
  plan::ExprAttr slotExpr;
  if (slots > 1)
    slotExpr = plan::ExprAttr::getBinary(
        plan::ExprOp::Mod, plan::ExprAttr::getMicrobatch(context),
        plan::ExprAttr::getConstant(context, slots));
  IntegerAttr chunk;
  if (kind == SlotKind::Act)
    chunk = builder.getI64IntegerAttr(getChunk(slot, uses));
  frame = plan::FrameOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(names.take(name)),
      plan::FrameKindAttr::get(context, getFrameKind(kind)),
      builder.getI64IntegerAttr(slots), slotExpr, builder.getI64IntegerAttr(1),
      chunk, stageAttr, IntegerAttr(), IntegerAttr());
  result.frames[frame.getSymNameAttr()] = frame;
  return frame;
}

LogicalResult FrameMaker::addBuffer(SlotAttr slot, SlotBuffer &uses) {
  if (slot.getKind() == SlotKind::State) {
    auto state = request.states.find(slot.getName().str());
    func::FuncOp function = request.programs.front().function;
    if (state == request.states.end())
      return function.emitOpError()
             << "expected a dist.buffer for slot " << slot << ", got none";
    uses.buffer = state->second;
    return success();
  }
  plan::FrameOp frame = getFrame(slot, uses);
  uses.frame = FlatSymbolRefAttr::get(frame.getSymNameAttr());
  bool isBoundary = slot.getKind() == SlotKind::Bnd;
  std::string name =
      (frame.getSymName() + "." +
       (isBoundary ? StringRef("value") : slot.getName().getValue()))
          .str();
  auto buffer = plan::BufferOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(names.take(name)),
      uses.frame,
      builder.getI64IntegerAttr(*getBytes(builder.getUnknownLoc(), uses.type)),
      IntegerAttr());
  uses.buffer = FlatSymbolRefAttr::get(buffer.getSymNameAttr());
  return success();
}

/// One buffer for all: what kernels leave there is never read.
void FrameMaker::addScratch() {
  for (const TimelineProgram &program : request.programs) {
    func::FuncOp function = program.function;
    function.walk([&](dist::LaunchOp launch) {
      result.scratchBytes = std::max<int64_t>(
          result.scratchBytes, alignUp(launch.getScratch()) * request.threads);
    });
  }
  if (result.scratchBytes == 0)
    return;
  MLIRContext *context = builder.getContext();
  auto frame = plan::FrameOp::create(
      builder, builder.getUnknownLoc(),
      builder.getStringAttr(names.take((request.name + ".scratch").str())),
      plan::FrameKindAttr::get(context, plan::FrameKind::Scratch),
      builder.getI64IntegerAttr(1), plan::ExprAttr(),
      builder.getI64IntegerAttr(1), IntegerAttr(), DenseI64ArrayAttr(),
      IntegerAttr(), IntegerAttr());
  auto buffer = plan::BufferOp::create(
      builder, builder.getUnknownLoc(),
      builder.getStringAttr(names.take((frame.getSymName() + ".all").str())),
      FlatSymbolRefAttr::get(frame.getSymNameAttr()),
      builder.getI64IntegerAttr(result.scratchBytes), IntegerAttr());
  result.scratch = FlatSymbolRefAttr::get(buffer.getSymNameAttr());
}

FailureOr<TimelineFrames> FrameMaker::run() {
  if (failed(collect()))
    return failure();
  for (auto &[slot, uses] : result.slots)
    if (failed(addBuffer(slot, uses)))
      return failure();
  addScratch();
  return std::move(result);
}

FailureOr<TimelineFrames> makeFrames(OpBuilder &builder, PlanNames &names,
                                     const FrameRequest &request) {
  return FrameMaker(builder, names, request).run();
}

} // namespace llmc::schedule
