//===- PlanNumbers.cpp - A plan's streams and buffers by number -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanNumbers.h.
//
//===----------------------------------------------------------------------===//

#include "PlanNumbers.h"

using namespace mlir;

namespace llmc::ordering {

PlanNumbers::PlanNumbers(ModuleOp module, StreamOrderProblem &problem) {
  for (auto frame : module.getOps<plan::FrameOp>()) {
    frameNumbers[FlatSymbolRefAttr::get(frame.getSymNameAttr())] =
        frames.size();
    frames.push_back(frame);
    problem.slots.push_back(frame.getSlots());
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    bufferNumbers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
        problem.frameOf.size();
    problem.frameOf.push_back(frameNumbers.lookup(buffer.getFrameAttr()));
  }
  for (auto stream : module.getOps<plan::StreamOp>()) {
    streamNumbers[FlatSymbolRefAttr::get(stream.getSymNameAttr())] =
        streams.size();
    streams.push_back(stream);
  }
  problem.numStreams = static_cast<int32_t>(streams.size());
}

StreamOrderProblem::Instruction
PlanNumbers::read(plan::InstructionInterface op) const {
  StreamOrderProblem::Instruction instruction;
  instruction.stream = streamNumbers.lookup(op.getStreamAttr());
  for (const plan::OperandUse &use : op.getUses())
    instruction.accesses.push_back(
        {bufferNumbers.lookup(use.operand.getBuffer()),
         use.access != plan::Access::Read});
  return instruction;
}

} // namespace llmc::ordering
