//===- PlanPeak.h - What lies in memory where most does ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks what a stage runs and finds the call, and in it the instruction, at
// which the most bytes are in use. A frame is in use from its first to its last
// call in an entry, one of states always, and one of a call alone while that
// runs; of the latter's buffers only those count that are read again.
//
//     peak in 'c0.B': blocks.0.w  1,024 B state
//
// The arena of a stage is at least as large: places have gaps.
//
// Test: test/Runtime/Plan/Print/PlanPeakTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_PRINT_PLANPEAK_H
#define LLMC_RUNTIME_PLAN_PRINT_PLANPEAK_H

#include "llmc/Runtime/Plan/Format/Plan.h"

namespace llmc::rt::plan {

struct LiveBuffer {
  /// Index into Plan::buffers.
  int32_t buffer = 0;
  /// In all slots of its frame.
  int64_t bytes = 0;
};

struct Peak {
  /// Index into Plan::programs; -1 where the stage runs nothing.
  int32_t program = -1;
  int64_t bytes = 0;
  /// What is in use then, the largest first; equal ones in the plan's order.
  std::vector<LiveBuffer> live;
};

/// Assumes a plan that passed `checkStructure`.
Peak peakOf(const Plan &plan, int64_t stage);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_PRINT_PLANPEAK_H
