//===- AssignPlaces.cpp - Offsets of buffers and frames -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   plan.frame @train.c0.F.tmp tmp          offset(512) size(224)
//   plan.buffer @train.c0.F.tmp.0 in ...    offset(0)
//
// Buffers of a call-local frame share bytes when their lifetimes are ordered
// (Analysis/Lifetimes, Analysis/Places). Frames share memory when no call uses
// both: call-local ones of different programs, those of different entries, and
// what only the compute stream touches before and after its first and last use.
//
// Test: test/Transforms/Ordering/assign-places.mlir
//===----------------------------------------------------------------------===//

#include "EntryProblem.h"
#include "PlanNames.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Solvers/Memory/Lifetimes.h"
#include "llmc/Solvers/Memory/Places.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
#include <map>

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_ASSIGNPLACESPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

namespace {

struct Frame {
  plan::FrameOp op;
  SmallVector<plan::BufferOp> buffers;
  /// The program that has it alone; null for others.
  plan::ProgramOp owner;
  bool isShared = false;
  /// Some access is on another stream, or not known to be over when the
  /// program's last compute instruction runs.
  bool isRemote = false;
  int64_t size = 0;
  int64_t offset = 0;
  /// For each entry and stage, the calls during which it holds something.
  std::vector<llvm::BitVector> uses;

  plan::FrameKind getKind() const {
    plan::FrameOp frame = op;
    return frame.getKind();
  }
  int64_t getTotal() const {
    plan::FrameOp frame = op;
    return size * static_cast<int64_t>(frame.getSlots());
  }
};

class Placement {
public:
  explicit Placement(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  LogicalResult readTables();
  void findOwners();
  void placeBuffers(Frame &frame);
  void placeByLifetime(Frame &frame);
  std::vector<Lifetime> getLifetimes(Frame &frame);
  void readWalks();
  void extendUses(Frame &frame) const;
  bool mayMeet(const Frame &a, const Frame &b) const;
  void placeFrames();
  void write();
  void report(size_t stage) const;

  static bool isOn(const Frame &frame, size_t stage) {
    plan::FrameOp op = frame.op;
    std::optional<ArrayRef<int64_t>> stages = op.getStages();
    return !stages || llvm::is_contained(*stages, int64_t(stage));
  }

  ModuleOp module;
  plan::DeviceOp device;
  Attribute compute;
  size_t numStages = 1;
  llvm::DenseMap<Attribute, int32_t> streams;
  std::vector<Frame> frames;
  llvm::DenseMap<Attribute, size_t> frameOf, frameOfBuffer;
  /// Frames that each program touches.
  llvm::DenseMap<Operation *, SmallVector<size_t>> touched;
  std::vector<int64_t> arenas;
};

} // namespace

LogicalResult Placement::readTables() {
  for (auto op : module.getOps<plan::DeviceOp>())
    device = op;
  if (!device)
    return module.emitError() << "expected a plan.device, got none";
  for (auto stream : module.getOps<plan::StreamOp>()) {
    auto number = static_cast<int32_t>(streams.size());
    streams[FlatSymbolRefAttr::get(stream.getSymNameAttr())] = number;
    if (!compute && stream.getKind() == plan::StreamKind::Compute)
      compute = FlatSymbolRefAttr::get(stream.getSymNameAttr());
  }
  if (!compute)
    return module.emitError() << "expected a compute stream, got none";
  for (auto op : module.getOps<plan::FrameOp>()) {
    frameOf[FlatSymbolRefAttr::get(op.getSymNameAttr())] = frames.size();
    frames.push_back({op, {}, {}, false, false, 0, 0, {}});
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    size_t frame = frameOf.lookup(buffer.getFrameAttr());
    frameOfBuffer[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] = frame;
    frames[frame].buffers.push_back(buffer);
  }
  for (auto entry : module.getOps<plan::EntryOp>())
    numStages = std::max<size_t>(numStages, entry.getPrologue().size());
  return success();
}

void Placement::findOwners() {
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto op : program.getBody().getOps<plan::InstructionInterface>())
      for (const plan::OperandUse &use : op.getUses()) {
        size_t number = frameOfBuffer.lookup(use.operand.getBuffer());
        Frame &frame = frames[number];
        SmallVector<size_t> &list = touched[program];
        if (!llvm::is_contained(list, number))
          list.push_back(number);
        frame.isShared |= frame.owner && frame.owner != program;
        frame.owner = program;
        frame.isRemote |= op.getStreamAttr() != compute;
      }
}

std::vector<Lifetime> Placement::getLifetimes(Frame &frame) {
  LifetimeProblem problem;
  problem.numStreams = static_cast<int32_t>(streams.size());
  problem.computeStream = streams.lookup(compute);
  problem.numBuffers = static_cast<int32_t>(frame.buffers.size());
  llvm::DenseMap<Attribute, int32_t> numbers;
  for (auto [i, buffer] : llvm::enumerate(frame.buffers))
    numbers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] = i;
  std::map<std::pair<const void *, int64_t>, int32_t> events;
  auto numberOf = [&](FlatSymbolRefAttr event, int64_t index) {
    auto key = std::pair(event.getAsOpaquePointer(), index);
    return events.insert({key, int32_t(events.size())}).first->second;
  };
  for (Operation &op : frame.owner.getBody().front()) {
    LifetimeProblem::Instruction instruction;
    if (auto each = dyn_cast<plan::InstructionInterface>(op)) {
      instruction.stream = streams.lookup(each.getStreamAttr());
      for (const plan::OperandUse &use : each.getUses()) {
        auto number = numbers.find(use.operand.getBuffer());
        if (number != numbers.end())
          instruction.buffers.push_back(number->second);
      }
    }
    if (auto signal = dyn_cast<plan::SignalOp>(op))
      instruction.signals = numberOf(signal.getFrameAttr(), signal.getEvent());
    if (auto wait = dyn_cast<plan::WaitOp>(op))
      instruction.waits = numberOf(wait.getFrameAttr(), wait.getEvent());
    problem.instructions.push_back(std::move(instruction));
  }
  return findLifetimes(problem);
}

/// Values that outlive a call live together: side by side, in order.
static int64_t placeSideBySide(ArrayRef<plan::BufferOp> buffers) {
  int64_t end = 0;
  for (plan::BufferOp buffer : buffers) {
    buffer.setOffset(end);
    end += ordering::alignUp(buffer.getBytes());
    if (isSeeded(Fault::buffersOverlapByALine) && end > ordering::kAlignment)
      end -= ordering::kAlignment;
  }
  return end;
}

/// Buffers of a call-local frame by their lifetimes.
void Placement::placeByLifetime(Frame &frame) {
  std::vector<Lifetime> lives = getLifetimes(frame);
  PlaceProblem problem;
  problem.alignment = ordering::kAlignment;
  frame.isRemote = false;
  for (auto [buffer, life] : llvm::zip(frame.buffers, lives)) {
    problem.buffers.push_back({static_cast<int64_t>(buffer.getBytes()),
                               life.begin,
                               isSeeded(Fault::bufferEndsBeforeItsLastReader)
                                   ? std::max(life.begin + 1, life.end - 1)
                                   : life.end});
    frame.isRemote |= !life.isClosed;
  }
  std::vector<int64_t> offsets = assignPlaces(problem);
  for (auto [buffer, offset] : llvm::zip(frame.buffers, offsets))
    buffer.setOffset(offset);
  frame.size = problem.getSize(offsets);
  if (problem.getMaxLive() > 0)
    remark::analysis(frame.op.getLoc(),
                     remark::RemarkOpts::name("frame").category("places"))
        << (frame.op.getSymName() + ": " + Twine(frame.size) + " bytes for " +
            Twine(problem.getMaxLive()) + " that live at once, " +
            Twine(frame.buffers.size()) + " buffers")
               .str();
}

void Placement::placeBuffers(Frame &frame) {
  bool isLocal =
      frame.getKind() == plan::FrameKind::Tmp && frame.owner && !frame.isShared;
  if (isLocal)
    placeByLifetime(frame);
  else
    frame.size = placeSideBySide(frame.buffers);
}

/// Notes which frames each call of each entry and stage uses.
void Placement::readWalks() {
  SymbolTable symbols(module);
  for (auto entry : module.getOps<plan::EntryOp>())
    for (const auto &walk : ordering::readWalks(entry, symbols)) {
      for (Frame &frame : frames)
        frame.uses.emplace_back(static_cast<unsigned>(walk.size()));
      for (auto [position, call] : llvm::enumerate(walk))
        for (size_t frame : touched.lookup(call.program))
          frames[frame].uses.back().set(static_cast<unsigned>(position));
      for (Frame &frame : frames)
        extendUses(frame);
    }
}

/// Values that outlive a call take their place from the first call to the last;
/// with other streams, all the time.
void Placement::extendUses(Frame &frame) const {
  llvm::BitVector &uses = frame.uses.back();
  if (uses.none())
    return;
  if (frame.isRemote)
    uses.set();
  else if (frame.getKind() != plan::FrameKind::Tmp &&
           frame.getKind() != plan::FrameKind::Scratch)
    uses.set(uses.find_first(), uses.find_last() + 1);
}

bool Placement::mayMeet(const Frame &a, const Frame &b) const {
  bool sameStage = false;
  for (size_t stage = 0; stage < numStages; ++stage)
    sameStage |= isOn(a, stage) && isOn(b, stage);
  if (!sameStage)
    return false;
  if (a.getKind() == plan::FrameKind::State ||
      b.getKind() == plan::FrameKind::State)
    return true;
  for (const auto &[mine, other] : llvm::zip(a.uses, b.uses))
    if (mine.anyCommon(other))
      return true;
  return false;
}

/// States first, then what all stages have, since its one offset is free on all
/// of them, then the largest; each at the least offset where it meets nothing.
void Placement::placeFrames() {
  std::vector<size_t> order;
  for (size_t i = 0; i < frames.size(); ++i)
    order.push_back(i);
  auto keyOf = [&](size_t i) {
    plan::FrameOp op = frames[i].op;
    bool isState = op.getKind() == plan::FrameKind::State;
    return std::tuple(!isState, op.getStages().has_value(),
                      isState ? 0 : -frames[i].getTotal(), i);
  };
  llvm::sort(order, [&](size_t a, size_t b) { return keyOf(a) < keyOf(b); });
  arenas.assign(numStages, 0);
  std::vector<size_t> placed;
  for (size_t number : order) {
    Frame &frame = frames[number];
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t other : placed)
      if (mayMeet(frame, frames[other]))
        taken.push_back({frames[other].offset,
                         frames[other].offset + frames[other].getTotal()});
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [first, end] : taken) {
      if (first - at >= frame.getTotal())
        break;
      at = std::max(at, end);
    }
    frame.offset = at;
    placed.push_back(number);
    for (size_t stage = 0; stage < numStages; ++stage)
      if (isOn(frame, stage))
        arenas[stage] = std::max(arenas[stage], at + frame.getTotal());
  }
}

void Placement::write() {
  OpBuilder builder(module.getContext());
  for (Frame &frame : frames) {
    frame.op.setOffsetAttr(builder.getI64IntegerAttr(frame.offset));
    frame.op.setSizeAttr(builder.getI64IntegerAttr(frame.size));
  }
  device.setArenasAttr(builder.getDenseI64ArrayAttr(arenas));
}

/// "stage 0: 1296 bytes; state 528, hyper 8, ..."
void Placement::report(size_t stage) const {
  std::map<plan::FrameKind, int64_t> bytes;
  for (const Frame &frame : frames)
    if (isOn(frame, stage))
      bytes[frame.getKind()] += frame.getTotal();
  std::string text;
  for (auto [kind, count] : bytes)
    text += (text.empty() ? "" : ", ") + plan::stringifyFrameKind(kind).str() +
            " " + std::to_string(count);
  ModuleOp place = module;
  remark::analysis(place.getLoc(),
                   remark::RemarkOpts::name("memory").category("places"))
      << ("stage " + Twine(stage) + ": " + Twine(arenas[stage]) + " bytes; " +
          text)
             .str();
}

LogicalResult Placement::run() {
  // 1 read
  if (failed(readTables()))
    return failure();
  findOwners();
  // 2 solve
  for (Frame &frame : frames)
    placeBuffers(frame);
  readWalks();
  placeFrames();
  // 3 write
  write();
  for (size_t stage = 0; stage < numStages; ++stage)
    report(stage);
  return success();
}

namespace {

class AssignPlacesPass : public impl::AssignPlacesPassBase<AssignPlacesPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<plan::FrameOp>().empty())
      return;
    if (failed(Placement(module).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace llmc
