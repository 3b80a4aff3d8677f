//===- EntryProblem.cpp - An entry as a problem of streams ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EntryProblem.h.
//
// Test: test/Transforms/Ordering/add-waits.mlir
//===----------------------------------------------------------------------===//

#include "EntryProblem.h"

using namespace mlir;

namespace llmc::ordering {

namespace {
/// One device of a stage.
class Walker {
public:
  Walker(const SymbolTable &symbols, int64_t whileTrips, int64_t mostTrips)
      : symbols(symbols), whileTrips(whileTrips), mostTrips(mostTrips) {}

  /// Adds what `program` calls, or itself where it calls nothing.
  void add(plan::ProgramOp program, int64_t microbatch);

  std::vector<PlanCall> walk;

private:
  int64_t countTrips(Operation *op) const;

  const SymbolTable &symbols;
  int64_t whileTrips, mostTrips;
};
} // namespace

int64_t Walker::countTrips(Operation *op) const {
  if (isa<plan::WhileOp>(op))
    return whileTrips;
  auto loop = dyn_cast<plan::LoopOp>(op);
  return loop ? std::min<int64_t>(loop.getTrips(), mostTrips) : 1;
}

void Walker::add(plan::ProgramOp program, int64_t microbatch) {
  bool isCaller = false;
  for (Operation &op : program.getBody().front()) {
    FlatSymbolRefAttr name = plan::getCallee(&op);
    if (!name)
      continue;
    isCaller = true;
    auto callee = symbols.lookup<plan::ProgramOp>(name.getAttr());
    for (int64_t trip = 0; trip < countTrips(&op); ++trip)
      add(callee, microbatch);
  }
  if (!isCaller)
    walk.push_back({program, microbatch});
}

/// Whether the entry's module has a loop that the run ends.
static bool hasWhile(plan::EntryOp entry) {
  return entry->getParentOfType<ModuleOp>()
      .walk([](plan::WhileOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// What a device of `stage` runs in the entry.
static std::vector<PlanCall> readWalk(plan::EntryOp entry, size_t stage,
                                      Walker walker,
                                      const SymbolTable &symbols) {
  auto table = symbols.lookup<plan::TableOp>(entry.getTable());
  plan::TableAttr rows = table.getRows();
  auto call = [&](Attribute name, int64_t microbatch) {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
      walker.add(symbols.lookup<plan::ProgramOp>(symbol.getAttr()), microbatch);
  };
  call(entry.getPrologue()[stage], 0);
  for (int64_t row = 0; row < rows.getNumRows(); ++row)
    if (const plan::Cell &cell = rows.getRow(row)[stage]; cell.program >= 0)
      call(table.getPrograms()[cell.program], cell.microbatch);
  call(entry.getEpilogue()[stage], 0);
  return std::move(walker.walk);
}

std::vector<std::vector<PlanCall>>
readWalks(plan::EntryOp entry, const SymbolTable &symbols, int64_t mostTrips) {
  // No trip orders no more than one does.
  SmallVector<int64_t> whileTrips = {1};
  if (hasWhile(entry))
    whileTrips.push_back(kMostTrips);
  std::vector<std::vector<PlanCall>> walks;
  for (int64_t trips : whileTrips)
    for (size_t stage = 0; stage < entry.getPrologue().size(); ++stage)
      walks.push_back(
          readWalk(entry, stage, Walker(symbols, trips, mostTrips), symbols));
  return walks;
}

namespace {

/// Streams and buffers of a module by symbol.
struct Numbers {
  llvm::DenseMap<Attribute, int32_t> streams, buffers;
};

} // namespace

/// Numbers frames, buffers and streams.
static Numbers readTables(EntryProblem &entry, ModuleOp module) {
  Numbers numbers;
  StreamOrderProblem &problem = entry.problem;
  for (auto frame : module.getOps<plan::FrameOp>()) {
    entry.frameNumbers[FlatSymbolRefAttr::get(frame.getSymNameAttr())] =
        entry.frames.size();
    entry.frames.push_back(frame);
    problem.slots.push_back(frame.getSlots());
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    numbers.buffers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
        problem.frameOf.size();
    problem.frameOf.push_back(entry.frameNumbers.lookup(buffer.getFrameAttr()));
  }
  for (auto stream : module.getOps<plan::StreamOp>()) {
    numbers.streams[FlatSymbolRefAttr::get(stream.getSymNameAttr())] =
        entry.streams.size();
    entry.streams.push_back(stream);
  }
  problem.numStreams = static_cast<int32_t>(entry.streams.size());
  return numbers;
}

static void addProgram(EntryProblem &entry, plan::ProgramOp program,
                       const Numbers &numbers) {
  StreamOrderProblem::Program list;
  std::vector<Operation *> ops;
  for (auto op : program.getBody().getOps<plan::InstructionInterface>()) {
    StreamOrderProblem::Instruction instruction;
    instruction.stream = numbers.streams.lookup(op.getStreamAttr());
    for (const plan::OperandUse &use : op.getUses())
      instruction.accesses.push_back(
          {numbers.buffers.lookup(use.operand.getBuffer()),
           use.access != plan::Access::Read});
    list.push_back(std::move(instruction));
    ops.push_back(op);
  }
  entry.problem.programs.push_back(std::move(list));
  entry.programs.push_back(program);
  entry.instructions.push_back(std::move(ops));
}

EntryProblem readEntry(plan::EntryOp op, const SymbolTable &symbols) {
  EntryProblem entry;
  Numbers numbers = readTables(entry, op->getParentOfType<ModuleOp>());
  llvm::DenseMap<Operation *, int32_t> known;
  for (const std::vector<PlanCall> &walk : readWalks(op, symbols)) {
    entry.problem.walks.emplace_back();
    for (const PlanCall &call : walk) {
      auto [program, isNew] =
          known.insert({call.program, int32_t(entry.programs.size())});
      if (isNew)
        addProgram(entry, call.program, numbers);
      entry.problem.walks.back().push_back({program->second, call.microbatch});
    }
  }
  return entry;
}

} // namespace llmc::ordering
