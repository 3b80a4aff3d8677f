//===- PlanNumbers.h - A plan's streams and buffers by number ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of streams is found on plain numbers
// (Solvers/Streams/StreamOrder.h): streams, buffers and frames of the module,
// each in the order in which they stand.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PLANNUMBERS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PLANNUMBERS_H

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Solvers/Streams/StreamOrder.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::ordering {

struct PlanNumbers {
  /// Numbers what stands in the module, and writes it into the problem.
  PlanNumbers(ModuleOp module, StreamOrderProblem &problem);

  /// The stream and the accesses of an instruction.
  StreamOrderProblem::Instruction read(plan::InstructionInterface op) const;

  SmallVector<plan::FrameOp> frames;
  SmallVector<plan::StreamOp> streams;
  llvm::DenseMap<Attribute, int32_t> frameNumbers, streamNumbers, bufferNumbers;
};

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PLANNUMBERS_H
