//===- AddWaits.cpp - Signals and waits of a plan's entries ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   plan.copy on @K to(<@in.x>) host input name("x")
//   plan.kernel on @C @k operands([<read, <@in.x>>])
//   // becomes
//   plan.copy on @K to(<@in.x>) host input name("x")
//   plan.signal on @K @in event(1)
//   plan.wait on @C @in event(1)
//   plan.kernel on @C @k operands([<read, <@in.x>>])
//
// Programs are read as plain lists of accesses (EntryProblem.h), and
// Solvers/Streams/StreamOrder.h says which signals and waits they need.
//
// Test: test/Transforms/Ordering/add-waits.mlir
//===----------------------------------------------------------------------===//

#include "EntryProblem.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include <set>

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_ADDWAITSPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

using ordering::EntryProblem;

namespace {

/// Where the compute stream opens and closes the memory of a call.
struct CallBrackets {
  /// By instruction: the buffers that are opened in front of it.
  std::vector<std::vector<int32_t>> opened;
  std::set<int32_t> closed;
};

} // namespace

/// What needs nothing that the call makes, such as the gather of a weight,
/// would begin with the call: its memory opens where it stands.
static CallBrackets findBrackets(const EntryProblem &entry,
                                 plan::ProgramOp program,
                                 const StreamOrderProblem::Program &list,
                                 int32_t compute) {
  CallBrackets brackets;
  brackets.opened.resize(list.size() + 1);
  std::set<int32_t> touched, written;
  auto kindOf = [&](int32_t buffer) {
    plan::FrameOp frame = entry.frames[entry.problem.frameOf[buffer]];
    return frame.getKind();
  };
  // What a step has made before its microbatches is there as states are.
  auto isThere = [&](int32_t buffer) {
    plan::FrameKind kind = kindOf(buffer);
    bool isOfMicrobatch = program.getChunk().has_value();
    return kind == plan::FrameKind::State ||
           (isOfMicrobatch && kind == plan::FrameKind::Step &&
            !written.count(buffer));
  };
  for (auto [i, instruction] : llvm::enumerate(list)) {
    bool isRemote = instruction.stream != compute;
    bool readsStates =
        isRemote && llvm::all_of(instruction.accesses, [&](const auto &each) {
          return each.writes || isThere(each.buffer);
        });
    for (const auto &access : instruction.accesses) {
      if (access.writes)
        written.insert(access.buffer);
      bool isFirst = touched.insert(access.buffer).second;
      if (isRemote && kindOf(access.buffer) == plan::FrameKind::Tmp &&
          brackets.closed.insert(access.buffer).second)
        brackets.opened[readsStates && isFirst ? i : 0].push_back(
            access.buffer);
    }
  }
  return brackets;
}

/// A call's own memory is that of others before and after it: what other
/// streams do there lies between two words of the compute stream. These have no
/// op: nothing stands there but signals and waits.
static void bracketCalls(EntryProblem &entry, int32_t compute) {
  for (auto [list, ops, program] :
       llvm::zip(entry.problem.programs, entry.instructions, entry.programs)) {
    CallBrackets brackets = findBrackets(entry, program, list, compute);
    if (brackets.closed.empty())
      continue;
    StreamOrderProblem::Program bracketed;
    SmallVector<Operation *> all;
    auto add = [&](const auto &buffers) {
      StreamOrderProblem::Instruction word;
      word.stream = compute;
      for (int32_t buffer : buffers)
        word.accesses.push_back({buffer, true});
      if (!word.accesses.empty()) {
        bracketed.push_back(std::move(word));
        all.push_back(nullptr);
      }
    };
    for (size_t i = 0; i < list.size(); ++i) {
      add(brackets.opened[i]);
      bracketed.push_back(std::move(list[i]));
      all.push_back(ops[i]);
    }
    add(brackets.closed);
    list = std::move(bracketed);
    ops.assign(all.begin(), all.end());
  }
}

/// Slots that several streams leave become free after one of them, at the end
/// of the program that uses them last. False where that does not help.
static bool joinStreams(EntryProblem &entry, int32_t compute,
                        ArrayRef<StreamOrderResult::Join> joins) {
  StreamOrderProblem &problem = entry.problem;
  for (const StreamOrderResult::Join &join : joins) {
    bool computes = llvm::is_contained(join.streams, compute);
    StreamOrderProblem::Instruction end;
    end.stream = computes ? compute : join.streams.front();
    for (size_t buffer = 0; buffer < problem.frameOf.size(); ++buffer)
      if (problem.frameOf[buffer] == join.frame)
        end.accesses.push_back({static_cast<int32_t>(buffer), true});
    problem.programs[join.program].push_back(std::move(end));
    entry.instructions[join.program].push_back(nullptr);
  }
  return !joins.empty();
}

namespace {

/// (frame, event) of what stands after and before each instruction.
struct ProgramEvents {
  std::vector<std::set<std::pair<int32_t, int32_t>>> signals, waits;
};

} // namespace

/// Each event once, however many edges there are for it.
static ProgramEvents getEvents(const StreamOrder &order, int32_t program,
                               size_t numInstructions) {
  ProgramEvents events;
  events.signals.resize(numInstructions);
  events.waits.resize(numInstructions);
  for (const StreamOrder::Edge &edge : order.edges) {
    if (edge.fromProgram == program)
      events.signals[edge.fromInstruction].insert({edge.frame, edge.event});
    if (edge.toProgram == program)
      events.waits[edge.toInstruction].insert({edge.frame, edge.event});
  }
  auto isThere = [](const auto &list) { return !list.empty(); };
  if (isSeeded(Fault::firstWaitIsDropped))
    if (auto first = llvm::find_if(events.waits, isThere);
        first != events.waits.end())
      first->clear();
  if (isSeeded(Fault::lastSignalIsDropped))
    for (auto &list : llvm::reverse(events.signals))
      if (isThere(list)) {
        list.clear();
        break;
      }
  return events;
}

/// Signals after and waits before their instructions.
static void writeProgram(OpBuilder &builder, const EntryProblem &entry,
                         size_t number, const StreamOrder &order) {
  ArrayRef<Operation *> ops = entry.instructions[number];
  ProgramEvents events =
      getEvents(order, static_cast<int32_t>(number), ops.size());
  plan::ProgramOp program = entry.programs[number];
  builder.setInsertionPointToStart(&program.getBody().front());
  for (auto [i, op] : llvm::enumerate(ops)) {
    Location loc = op ? op->getLoc() : program.getLoc();
    plan::StreamOp on = entry.streams[entry.problem.programs[number][i].stream];
    auto stream = FlatSymbolRefAttr::get(on.getSymNameAttr());
    auto nameOf = [&](int32_t frame) {
      plan::FrameOp named = entry.frames[frame];
      return FlatSymbolRefAttr::get(named.getSymNameAttr());
    };
    if (op)
      builder.setInsertionPoint(op);
    for (auto [frame, event] : events.waits[i])
      plan::WaitOp::create(builder, loc, stream, nameOf(frame),
                           builder.getI64IntegerAttr(event));
    if (op)
      builder.setInsertionPointAfter(op);
    for (auto [frame, event] : events.signals[i])
      plan::SignalOp::create(builder, loc, stream, nameOf(frame),
                             builder.getI64IntegerAttr(event));
  }
}

/// Waits are those of one entry, and are found once.
static LogicalResult
verifyPrograms(plan::EntryOp op, const EntryProblem &entry,
               llvm::DenseMap<Operation *, plan::EntryOp> &entryOf) {
  for (plan::ProgramOp program : entry.programs) {
    auto [known, isNew] = entryOf.insert({program, op});
    if (!isNew)
      return op.emitOpError()
             << "expected programs of its own, got @" << program.getSymName()
             << " of @" << known->second.getSymName();
    for (Operation &instruction : program.getBody().front())
      if (isa<plan::SignalOp, plan::WaitOp>(instruction))
        return instruction.emitOpError()
               << "expected no signals and waits before they are found";
  }
  return success();
}

static LogicalResult addWaits(plan::EntryOp op, EntryProblem &entry) {
  // 1 what the compute stream opens and closes
  int32_t compute = 0;
  for (auto [number, stream] : llvm::enumerate(entry.streams))
    if (stream.getKind() == plan::StreamKind::Compute)
      compute = static_cast<int32_t>(number);
  bracketCalls(entry, compute);
  // 2 solve
  const StreamOrderProblem &problem = entry.problem;
  StreamOrderResult result = reduceWaits(problem);
  // A join may show the next one; each frame needs one at most.
  for (size_t i = 0;
       i < entry.frames.size() && joinStreams(entry, compute, result.joins);
       ++i)
    result = reduceWaits(problem);
  if (!result.error.empty())
    return op.emitOpError() << "cannot order its streams: " << result.error;
  // 3 write
  OpBuilder builder(op.getContext());
  for (size_t number = 0; number < entry.programs.size(); ++number)
    writeProgram(builder, entry, number, result.order);
  for (auto [frame, count] : llvm::zip(entry.frames, result.order.numEvents))
    frame.setEvents(std::max<int64_t>(frame.getEvents(), count));
  return success();
}

namespace {

class AddWaitsPass : public impl::AddWaitsPassBase<AddWaitsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::DenseMap<Operation *, plan::EntryOp> entryOf;
    for (auto op : module.getOps<plan::EntryOp>()) {
      EntryProblem entry = ordering::readEntry(op, symbols);
      if (failed(verifyPrograms(op, entry, entryOf)) ||
          failed(addWaits(op, entry)))
        return signalPassFailure();
    }
  }
};

} // namespace

} // namespace llmc
