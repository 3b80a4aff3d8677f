//===- StreamWaits.cpp - Signals and waits of a timeline ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Schedule/order.mlir
//===----------------------------------------------------------------------===//

#include "StreamWaits.h"
#include "llmc/Analysis/StreamOrder.h"
#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;

namespace llmc::schedule {

namespace {

class WaitAdder {
public:
  WaitAdder(ModuleOp module, ArrayRef<std::vector<PlanCall>> walks)
      : module(module), walks(walks), builder(module.getContext()) {}

  LogicalResult run();

private:
  void readTables();
  void readProgram(plan::ProgramOp program);
  void write(const StreamOrder &order);

  ModuleOp module;
  ArrayRef<std::vector<PlanCall>> walks;
  OpBuilder builder;
  StreamOrderProblem problem;
  SmallVector<plan::FrameOp> frames;
  llvm::DenseMap<Attribute, int32_t> streams, buffers, frameNumbers;
  llvm::MapVector<Operation *, int32_t> programs;
  /// For each program its instructions.
  std::vector<std::vector<Operation *>> instructions;
};

} // namespace

void WaitAdder::readTables() {
  for (auto frame : module.getOps<plan::FrameOp>()) {
    frameNumbers[FlatSymbolRefAttr::get(frame.getSymNameAttr())] =
        frames.size();
    frames.push_back(frame);
    problem.slots.push_back(frame.getSlots());
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    buffers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
        problem.frameOf.size();
    problem.frameOf.push_back(frameNumbers.lookup(buffer.getFrameAttr()));
  }
  problem.numStreams = 0;
  for (auto stream : module.getOps<plan::StreamOp>())
    streams[FlatSymbolRefAttr::get(stream.getSymNameAttr())] =
        problem.numStreams++;
}

void WaitAdder::readProgram(plan::ProgramOp program) {
  StreamOrderProblem::Program list;
  std::vector<Operation *> ops;
  for (auto op : program.getBody().getOps<plan::InstructionInterface>()) {
    StreamOrderProblem::Instruction instruction;
    instruction.stream = streams.lookup(op.getStreamAttr());
    for (const plan::OperandUse &use : op.getUses())
      instruction.accesses.push_back({buffers.lookup(use.operand.getBuffer()),
                                      use.access != plan::Access::Read});
    list.push_back(std::move(instruction));
    ops.push_back(op);
  }
  problem.programs.push_back(std::move(list));
  instructions.push_back(std::move(ops));
}

/// Signals behind and waits before their instructions, each once.
void WaitAdder::write(const StreamOrder &order) {
  std::map<Operation *, std::set<std::pair<int32_t, int32_t>>> signals, waits;
  for (const StreamOrder::Edge &edge : order.edges) {
    signals[instructions[edge.fromProgram][edge.fromInstruction]].insert(
        {edge.frame, edge.event});
    waits[instructions[edge.toProgram][edge.toInstruction]].insert(
        {edge.frame, edge.event});
  }
  for (const std::vector<Operation *> &list : instructions)
    for (Operation *op : list) {
      FlatSymbolRefAttr stream =
          cast<plan::InstructionInterface>(op).getStreamAttr();
      auto nameOf = [&](int32_t frame) {
        return FlatSymbolRefAttr::get(frames[frame].getSymNameAttr());
      };
      builder.setInsertionPoint(op);
      for (auto [frame, event] : waits[op])
        plan::WaitOp::create(builder, op->getLoc(), stream, nameOf(frame),
                             builder.getI64IntegerAttr(event));
      builder.setInsertionPointAfter(op);
      for (auto [frame, event] : signals[op])
        plan::SignalOp::create(builder, op->getLoc(), stream, nameOf(frame),
                               builder.getI64IntegerAttr(event));
    }
  for (auto [frame, count] : llvm::zip(frames, order.numEvents))
    frame.setEvents(std::max<int64_t>(frame.getEvents(), count));
}

LogicalResult WaitAdder::run() {
  readTables();
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
  if (!result.error.empty())
    return walks[0].front().program->emitError()
           << "cannot order streams: " << result.error;
  write(result.order);
  return success();
}

LogicalResult addWaits(ModuleOp module, ArrayRef<std::vector<PlanCall>> walks) {
  return WaitAdder(module, walks).run();
}

} // namespace llmc::schedule
