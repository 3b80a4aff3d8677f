//===- StreamWaits.cpp - Signals and waits of a timeline ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "StreamWaits.h"
#include "PlanNumbers.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;

namespace llmc::ordering {

namespace {

class WaitAdder {
public:
  WaitAdder(ModuleOp module, ArrayRef<std::vector<PlanCall>> walks)
      : module(module), walks(walks), builder(module.getContext()),
        numbers(module, problem) {}

  LogicalResult run();

private:
  void readProgram(plan::ProgramOp program);
  void bracketCall(StreamOrderProblem::Program &list,
                   std::vector<Operation *> &ops);
  bool joinStreams(ArrayRef<StreamOrderResult::Join> joins);
  void writeProgram(size_t number, const StreamOrder &order);

  ModuleOp module;
  ArrayRef<std::vector<PlanCall>> walks;
  OpBuilder builder;
  StreamOrderProblem problem;
  PlanNumbers numbers;
  int32_t compute = 0;
  llvm::MapVector<Operation *, int32_t> programs;
  /// For each program its instructions; null where nothing stands but signals
  /// and waits: the start of the call, its end, a join of streams.
  std::vector<std::vector<Operation *>> instructions;
};

} // namespace

/// A call's own memory is that of others before and after it: what other
/// streams do there lies between the compute stream's first and last word.
void WaitAdder::bracketCall(StreamOrderProblem::Program &list,
                            std::vector<Operation *> &ops) {
  std::set<int32_t> remote;
  for (const auto &instruction : list)
    for (const auto &access : instruction.accesses) {
      plan::FrameOp frame = numbers.frames[problem.frameOf[access.buffer]];
      if (instruction.stream != compute &&
          frame.getKind() == plan::FrameKind::Tmp)
        remote.insert(access.buffer);
    }
  if (remote.empty())
    return;
  StreamOrderProblem::Instruction end;
  end.stream = compute;
  for (int32_t buffer : remote)
    end.accesses.push_back({buffer, true});
  list.insert(list.begin(), end);
  ops.insert(ops.begin(), nullptr);
  list.push_back(end);
  ops.push_back(nullptr);
}

void WaitAdder::readProgram(plan::ProgramOp program) {
  StreamOrderProblem::Program list;
  std::vector<Operation *> ops;
  for (auto op : program.getBody().getOps<plan::InstructionInterface>()) {
    list.push_back(numbers.read(op));
    ops.push_back(op);
  }
  bracketCall(list, ops);
  problem.programs.push_back(std::move(list));
  instructions.push_back(std::move(ops));
}

/// Slots that several streams leave become free after one of them, at the end
/// of the program that uses them last. False where that does not help.
bool WaitAdder::joinStreams(ArrayRef<StreamOrderResult::Join> joins) {
  for (const StreamOrderResult::Join &join : joins) {
    bool computes = llvm::is_contained(join.streams, compute);
    StreamOrderProblem::Instruction end;
    end.stream = computes ? compute : join.streams.front();
    for (size_t buffer = 0; buffer < problem.frameOf.size(); ++buffer)
      if (problem.frameOf[buffer] == join.frame)
        end.accesses.push_back({static_cast<int32_t>(buffer), true});
    problem.programs[join.program].push_back(std::move(end));
    instructions[join.program].push_back(nullptr);
  }
  return !joins.empty();
}

/// Signals after and waits before their instructions, each once.
void WaitAdder::writeProgram(size_t number, const StreamOrder &order) {
  std::vector<std::set<std::pair<int32_t, int32_t>>> signals, waits;
  signals.resize(instructions[number].size());
  waits.resize(instructions[number].size());
  for (const StreamOrder::Edge &edge : order.edges) {
    if (edge.fromProgram == static_cast<int32_t>(number))
      signals[edge.fromInstruction].insert({edge.frame, edge.event});
    if (edge.toProgram == static_cast<int32_t>(number))
      waits[edge.toInstruction].insert({edge.frame, edge.event});
  }
  if (isSeeded(Fault::firstWaitIsDropped))
    if (auto first = llvm::find_if(waits, [](auto &w) { return !w.empty(); });
        first != waits.end())
      first->clear();
  if (isSeeded(Fault::lastSignalIsDropped))
    for (size_t i = signals.size(); i-- > 0;)
      if (!signals[i].empty()) {
        signals[i].clear();
        break;
      }
  auto program = cast<plan::ProgramOp>((programs.begin() + number)->first);
  Block *body = &program.getBody().front();
  builder.setInsertionPointToStart(body);
  for (auto [i, op] : llvm::enumerate(instructions[number])) {
    Location loc = op ? op->getLoc() : program.getLoc();
    auto stream = FlatSymbolRefAttr::get(
        numbers.streams[problem.programs[number][i].stream].getSymNameAttr());
    auto nameOf = [&](int32_t frame) {
      return FlatSymbolRefAttr::get(numbers.frames[frame].getSymNameAttr());
    };
    if (op)
      builder.setInsertionPoint(op);
    for (auto [frame, event] : waits[i])
      plan::WaitOp::create(builder, loc, stream, nameOf(frame),
                           builder.getI64IntegerAttr(event));
    if (op)
      builder.setInsertionPointAfter(op);
    for (auto [frame, event] : signals[i])
      plan::SignalOp::create(builder, loc, stream, nameOf(frame),
                             builder.getI64IntegerAttr(event));
  }
}

LogicalResult WaitAdder::run() {
  for (auto [number, stream] : llvm::enumerate(numbers.streams))
    if (stream.getKind() == plan::StreamKind::Compute)
      compute = static_cast<int32_t>(number);
  for (const std::vector<PlanCall> &walk : walks) {
    problem.walks.emplace_back();
    for (const PlanCall &call : walk) {
      auto [known, isNew] =
          programs.insert({call.program, int32_t(programs.size())});
      if (isNew)
        readProgram(call.program);
      problem.walks.back().push_back({known->second, call.microbatch});
    }
  }
  if (std::string error = problem.check(); !error.empty())
    return module.emitError() << "cannot order streams: " << error;
  StreamOrderResult result = reduceWaits(problem);
  // A join may show the next one; each frame needs one at most.
  for (size_t i = 0; i < numbers.frames.size() && joinStreams(result.joins);
       ++i)
    result = reduceWaits(problem);
  if (!result.error.empty())
    return programs.begin()->first->emitError()
           << "cannot order streams: " << result.error;
  for (size_t number = 0; number < instructions.size(); ++number)
    writeProgram(number, result.order);
  for (auto [frame, count] : llvm::zip(numbers.frames, result.order.numEvents))
    frame.setEvents(std::max<int64_t>(frame.getEvents(), count));
  return success();
}

LogicalResult addWaits(ModuleOp module, ArrayRef<std::vector<PlanCall>> walks) {
  return WaitAdder(module, walks).run();
}

} // namespace llmc::ordering
