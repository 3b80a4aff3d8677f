//===- TripSteps.h - What runs in each trip of a loop -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before segments are cut, the steps of a trip are those of `LoopRuns`. From
// then on they are the ops of all segments of the loop, which stand one after
// the other, and what leaves the loops in it:
//
//   segment loop(l) { a }                       trip of l: a,
//   segment loop(m in l) { b }         ->           trip of m: b
//   leave c of m in l                               c, d
//   segment loop(l) { d }
//
// Test: test/Interpreter/LoopsTest.cpp, LockstepTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_INTERPRETER_TRIPSTEPS_H
#define LLMC_LIB_INTERPRETER_TRIPSTEPS_H

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include <functional>
#include <optional>

namespace llmc {

struct TripSteps;

/// The stages at which an op runs; nothing where its operands live.
using StepStages = std::optional<SmallVector<int64_t>>;

/// An op, or all trips of a loop.
struct TripStep {
  Operation *op = nullptr;
  StepStages stages;
  std::vector<TripSteps> inner;
};

struct TripSteps {
  dist::LoopAttr loop;
  std::vector<TripStep> steps;
};

/// The steps of a block without segments of loops.
std::vector<TripStep> readSteps(const dist::LoopRuns &loops,
                                const StepStages &stages);

/// The steps of a block in which loops are segments.
std::vector<TripStep>
readSegments(Block &block,
             llvm::function_ref<StepStages(dist::SegmentOp)> stagesOf);

} // namespace llmc

#endif // LLMC_LIB_INTERPRETER_TRIPSTEPS_H
