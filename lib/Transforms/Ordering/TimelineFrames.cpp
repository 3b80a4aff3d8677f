//===- TimelineFrames.cpp - Frames and buffers of a timeline --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "TimelineFrames.h"
#include "ProgramGraph.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

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
  LogicalResult addUse(int32_t program, PortAttr slot, Type type, bool isTaken);
  SmallVector<int64_t> getStages(const SlotBuffer &slot) const;
  int64_t getChunk(PortAttr slot, const SlotBuffer &uses) const;
  /// Adds the programs of a chunk, or those that use a slot.
  void addChunk(std::set<int32_t> &programs, int64_t chunk) const;
  static void addUsers(std::set<int32_t> &programs, const SlotBuffer &uses);
  /// The programs between whose first and last the slot's frame is in use.
  std::set<int32_t> getSpan(PortAttr slot, const SlotBuffer &uses) const;
  int64_t getSlots(PortAttr slot, const SlotBuffer &uses) const;
  plan::FrameOp getFrame(PortAttr slot, const SlotBuffer &uses);
  LogicalResult addBuffer(PortAttr slot, SlotBuffer &uses);
  void addScratch();

  OpBuilder &builder;
  PlanNames &names;
  const FrameRequest &request;
  TimelineFrames result;
  std::map<std::string, plan::FrameOp> byName;
};

} // namespace

LogicalResult FrameMaker::addUse(int32_t program, PortAttr slot, Type type,
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

LogicalResult FrameMaker::collect() {
  for (auto [i, program] : llvm::enumerate(request.programs)) {
    func::FuncOp function = program.function;
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (PortAttr port = dist::getArgumentPort(function, k);
          port && port.getKind() != PortKind::Microbatch)
        if (failed(addUse(i, port.getSlot(), function.getArgumentTypes()[k],
                          true)))
          return failure();
    for (unsigned k = 0; k < function.getNumResults(); ++k)
      if (PortAttr port = dist::getResultPort(function, k))
        if (failed(
                addUse(i, port.getSlot(), function.getResultTypes()[k], false)))
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
int64_t FrameMaker::getChunk(PortAttr slot, const SlotBuffer &uses) const {
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
std::set<int32_t> FrameMaker::getSpan(PortAttr slot,
                                      const SlotBuffer &uses) const {
  std::set<int32_t> span;
  int64_t chunk = getChunk(slot, uses);
  addChunk(span, chunk);
  if (slot.getKind() == PortKind::Input)
    for (int32_t program : uses.takenBy)
      addChunk(span, request.programs[program].attr.getChunk());
  if (slot.getKind() != PortKind::Act)
    return span;
  // All activations of a chunk and its stages share a frame.
  for (const auto &[other, otherUses] : result.slots)
    if (other.getKind() == PortKind::Act && getChunk(other, otherUses) == chunk)
      addUsers(span, otherUses);
  return span;
}

/// What is sent or received: each end has a frame.
static bool isBoundary(PortAttr slot) {
  return slot.getKind() == PortKind::Send || slot.getKind() == PortKind::Recv;
}

int64_t FrameMaker::getSlots(PortAttr slot, const SlotBuffer &uses) const {
  std::set<int32_t> span = getSpan(slot, uses);
  int64_t inFlight = getInFlight(span, request.walks);
  if (slot.getKind() == PortKind::Act)
    return isSeeded(Fault::frameLacksASlot) && inFlight > 1 ? inFlight - 1
                                                            : inFlight;
  if (isBoundary(slot))
    return std::min(request.microbatches, inFlight + 1);
  // One forward alone reads the input.
  bool isForwardOnly = llvm::all_of(uses.takenBy, [&](int32_t program) {
    dist::ProgramAttr attr = request.programs[program].attr;
    return attr.getPhase() == dist::Phase::Forward &&
           attr.getChunk() == getChunk(slot, uses);
  });
  return std::min(request.microbatches, isForwardOnly ? 2 : inFlight + 1);
}

static StringRef getFrameName(PortAttr slot) {
  switch (slot.getKind()) {
  case PortKind::Buffer:
    return "state";
  case PortKind::Act:
    return "act";
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
    return slot.isSum() || slot.getKind() == PortKind::Metric ? "step" : "tmp";
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
  case PortKind::Input:
    return plan::FrameKind::Input;
  case PortKind::Hyper:
    return plan::FrameKind::Hyper;
  default:
    return slot.isSum() || slot.getKind() == PortKind::Metric
               ? plan::FrameKind::Step
               : plan::FrameKind::Tmp;
  }
}

/// `t0.out` where a transfer is sent, `t0.in` where it is received.
static std::string getBoundaryName(PortAttr slot) {
  return (slot.getSymbol().getValue() +
          (slot.getKind() == PortKind::Send ? ".out" : ".in"))
      .str();
}

plan::FrameOp FrameMaker::getFrame(PortAttr slot, const SlotBuffer &uses) {
  PortKind kind = slot.getKind();
  bool isOfMicrobatch = kind == PortKind::Act || kind == PortKind::Input ||
                        kind == PortKind::Output || isBoundary(slot);
  std::string name = (request.name + "." + getFrameName(slot)).str();
  if (isOfMicrobatch) {
    // Each end of a transfer is free on its own.
    name += isBoundary(slot) ? "." + getBoundaryName(slot)
                             : std::to_string(getChunk(slot, uses));
    // Data that the forward alone reads needs fewer slots.
    if (kind == PortKind::Input && getSlots(slot, uses) > 2)
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
  if (kind == PortKind::Act)
    chunk = builder.getI64IntegerAttr(getChunk(slot, uses));
  frame = plan::FrameOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(names.take(name)),
      plan::FrameKindAttr::get(context, getFrameKind(slot)),
      builder.getI64IntegerAttr(slots), slotExpr, builder.getI64IntegerAttr(1),
      chunk, stageAttr, IntegerAttr(), IntegerAttr());
  result.frames[frame.getSymNameAttr()] = frame;
  return frame;
}

LogicalResult FrameMaker::addBuffer(PortAttr slot, SlotBuffer &uses) {
  if (slot.getKind() == PortKind::Buffer) {
    auto state = request.states.find(slot.getSymbol().getValue().str());
    func::FuncOp function = request.programs.front().function;
    if (state == request.states.end())
      return function.emitOpError()
             << "expected a dist.buffer for slot " << slot << ", got none";
    uses.buffer = state->second;
    return success();
  }
  plan::FrameOp frame = getFrame(slot, uses);
  uses.frame = FlatSymbolRefAttr::get(frame.getSymNameAttr());
  std::string name =
      (frame.getSymName() + "." +
       (isBoundary(slot) ? std::string("value") : getSlotName(slot)))
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

} // namespace llmc::ordering
