//===- AssignPlaces.cpp - Offsets of buffers and frames -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   plan.frame @train.c0.F.tmp tmp          offset(512) size(224)
//   plan.buffer @train.c0.F.tmp.0 in ...    offset(0)
//
// Buffers of a call-local frame share bytes when their lifetimes are ordered
// (Solvers/Memory/Lifetimes.h, Places.h). Frames share memory when no call uses
// both (FramePlaces.h): call-local ones of different programs, those of
// different entries, and what only the compute stream touches before and after
// its first and last use.
//
// Test: test/Transforms/Ordering/assign-places.mlir
//===----------------------------------------------------------------------===//

#include "EntryProblem.h"
#include "PlanNames.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Solvers/Memory/FramePlaces.h"
#include "llmc/Solvers/Memory/Lifetimes.h"
#include "llmc/Solvers/Memory/Places.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "mlir/IR/Remarks.h"
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
};

/// What a plan has to be placed.
struct PlanMemory {
  plan::DeviceOp device;
  size_t numStages = 1;
  Attribute compute;
  llvm::DenseMap<Attribute, int32_t> streams;
  std::vector<Frame> frames;
  llvm::DenseMap<Attribute, size_t> frameOfBuffer;
  /// Frames that each program touches.
  llvm::DenseMap<Operation *, SmallVector<size_t>> touched;
};

} // namespace

static FailureOr<PlanMemory> readMemory(ModuleOp module) {
  PlanMemory memory;
  for (auto op : module.getOps<plan::DeviceOp>())
    memory.device = op;
  if (!memory.device)
    return module.emitError() << "expected a plan.device, got none";
  for (auto stream : module.getOps<plan::StreamOp>()) {
    auto name = FlatSymbolRefAttr::get(stream.getSymNameAttr());
    memory.streams.insert({name, static_cast<int32_t>(memory.streams.size())});
    if (!memory.compute && stream.getKind() == plan::StreamKind::Compute)
      memory.compute = name;
  }
  if (!memory.compute)
    return module.emitError() << "expected a compute stream, got none";
  llvm::DenseMap<Attribute, size_t> frameOf;
  for (auto op : module.getOps<plan::FrameOp>()) {
    frameOf[FlatSymbolRefAttr::get(op.getSymNameAttr())] = memory.frames.size();
    memory.frames.push_back({op, {}, {}, false, false, 0});
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    size_t frame = frameOf.lookup(buffer.getFrameAttr());
    memory.frameOfBuffer[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
        frame;
    memory.frames[frame].buffers.push_back(buffer);
  }
  for (auto entry : module.getOps<plan::EntryOp>())
    memory.numStages =
        std::max<size_t>(memory.numStages, entry.getPrologue().size());
  return memory;
}

/// Notes which programs touch each frame, and from which streams.
static void findOwners(PlanMemory &memory, ModuleOp module) {
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto op : program.getBody().getOps<plan::InstructionInterface>())
      for (const plan::OperandUse &use : op.getUses()) {
        size_t number = memory.frameOfBuffer.lookup(use.operand.getBuffer());
        Frame &frame = memory.frames[number];
        SmallVector<size_t> &list = memory.touched[program];
        if (!llvm::is_contained(list, number))
          list.push_back(number);
        frame.isShared |= frame.owner && frame.owner != program;
        frame.owner = program;
        frame.isRemote |= op.getStreamAttr() != memory.compute;
      }
}

static std::vector<Lifetime> getLifetimes(const PlanMemory &memory,
                                          Frame &frame) {
  LifetimeProblem problem;
  problem.numStreams = static_cast<int32_t>(memory.streams.size());
  problem.computeStream = memory.streams.lookup(memory.compute);
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
      instruction.stream = memory.streams.lookup(each.getStreamAttr());
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
static void placeByLifetime(const PlanMemory &memory, Frame &frame) {
  std::vector<Lifetime> lives = getLifetimes(memory, frame);
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

static void placeBuffers(const PlanMemory &memory, Frame &frame) {
  bool isLocal = frame.op.getKind() == plan::FrameKind::Tmp && frame.owner &&
                 !frame.isShared;
  if (isLocal)
    placeByLifetime(memory, frame);
  else
    frame.size = placeSideBySide(frame.buffers);
}

static FramePlaceProblem::Life getLife(Frame &frame) {
  using Life = FramePlaceProblem::Life;
  plan::FrameKind kind = frame.op.getKind();
  if (kind == plan::FrameKind::State)
    return Life::Permanent;
  // Parts of a cell hand it on to each other.
  if (kind == plan::FrameKind::Tmp && frame.isShared)
    return Life::BetweenCalls;
  // What other streams do may still run in the next call.
  if (frame.isRemote)
    return Life::OfWalk;
  return kind == plan::FrameKind::Tmp || kind == plan::FrameKind::Scratch
             ? Life::OfCall
             : Life::BetweenCalls;
}

/// A walk for each entry and stage, an arena for each stage.
static FramePlaceProblem makeFrameProblem(PlanMemory &memory, ModuleOp module) {
  FramePlaceProblem problem;
  problem.numArenas = static_cast<int64_t>(memory.numStages);
  for (Frame &frame : memory.frames) {
    auto slots = static_cast<int64_t>(frame.op.getSlots());
    problem.frames.push_back({frame.size * slots, getLife(frame), {}, {}});
    if (std::optional<ArrayRef<int64_t>> stages = frame.op.getStages())
      problem.frames.back().arenas.assign(stages->begin(), stages->end());
  }
  SymbolTable symbols(module);
  for (auto entry : module.getOps<plan::EntryOp>())
    for (const auto &walk : ordering::readWalks(entry, symbols)) {
      problem.walks.push_back(static_cast<int64_t>(walk.size()));
      for (FramePlaceProblem::Frame &frame : problem.frames)
        frame.calls.emplace_back();
      for (auto [position, call] : llvm::enumerate(walk))
        for (size_t frame : memory.touched.lookup(call.program))
          problem.frames[frame].calls.back().push_back(
              static_cast<int64_t>(position));
    }
  return problem;
}

static void write(PlanMemory &memory, ArrayRef<int64_t> offsets,
                  ArrayRef<int64_t> arenas) {
  Builder builder(memory.device.getContext());
  for (auto [frame, offset] : llvm::zip_equal(memory.frames, offsets)) {
    frame.op.setOffsetAttr(builder.getI64IntegerAttr(offset));
    frame.op.setSizeAttr(builder.getI64IntegerAttr(frame.size));
  }
  memory.device.setArenasAttr(builder.getDenseI64ArrayAttr(arenas));
}

/// "stage 0: 1296 bytes; state 528, hyper 8, ..."
static void report(PlanMemory &memory, const FramePlaceProblem &problem,
                   int64_t stage, int64_t arena, Location loc) {
  std::map<plan::FrameKind, int64_t> bytes;
  for (auto [frame, placed] : llvm::zip_equal(memory.frames, problem.frames))
    if (placed.arenas.empty() || llvm::is_contained(placed.arenas, stage))
      bytes[frame.op.getKind()] += placed.bytes;
  std::string text;
  for (auto [kind, count] : bytes)
    text += (text.empty() ? "" : ", ") + plan::stringifyFrameKind(kind).str() +
            " " + std::to_string(count);
  remark::analysis(loc, remark::RemarkOpts::name("memory").category("places"))
      << ("stage " + Twine(stage) + ": " + Twine(arena) + " bytes; " + text)
             .str();
}

static LogicalResult assignPlaces(ModuleOp module) {
  // 1 read
  FailureOr<PlanMemory> memory = readMemory(module);
  if (failed(memory))
    return failure();
  findOwners(*memory, module);
  // 2 solve: buffers in frames, frames in arenas
  for (Frame &frame : memory->frames)
    placeBuffers(*memory, frame);
  FramePlaceProblem problem = makeFrameProblem(*memory, module);
  // 3 check
  if (std::string error = problem.check(); !error.empty())
    return module.emitError() << "cannot place frames: " << error;
  std::vector<int64_t> offsets = placeFrames(problem);
  std::vector<int64_t> arenas = problem.getArenas(offsets);
  // 4 write
  write(*memory, offsets, arenas);
  for (auto [stage, arena] : llvm::enumerate(arenas))
    report(*memory, problem, static_cast<int64_t>(stage), arena,
           module.getLoc());
  return success();
}

namespace {

class AssignPlacesPass : public impl::AssignPlacesPassBase<AssignPlacesPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<plan::FrameOp>().empty())
      return;
    if (failed(assignPlaces(module)))
      signalPassFailure();
  }
};

} // namespace

} // namespace llmc
