//===- PlanTimes.h - How long a step takes by the machine -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan says what each stream runs and what it waits for, and which machine it
// is for: so when each instruction runs can be worked out before anything does.
// A computation takes as long as its operations, or as its operands need to
// cross the memory; a collective as a ring (CollectiveKind.h). Where the
// machine says nothing, the numbers of a processor's core stand in.
//
// What a step would be shorter by if communication took no time, is exposed.
//
// Test: test/Runtime/Plan/Verify/PlanTimesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_VERIFY_PLANTIMES_H
#define LLMC_RUNTIME_PLAN_VERIFY_PLANTIMES_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <cstdint>
#include <vector>

namespace llmc::rt::plan {

/// When an instruction runs on the first device of a stage, in seconds from the
/// begin of the step.
struct PlannedSpan {
  int32_t stage = 0;
  int32_t stream = 0;
  int32_t program = 0;
  int32_t instruction = 0; ///< Of the program.
  int32_t microbatch = -1; ///< None in prologue and epilogue.
  /// That the entry runs, and which has called the program or is it.
  int32_t root = 0;
  double begin = 0, end = 0;
};

struct PlannedStep {
  double seconds = 0;
  double exposed = 0;
  /// That the stage which communicates longest does so.
  double communication = 0;
  /// All but signals and waits, by stage, in the order of issue.
  std::vector<PlannedSpan> spans;
};

/// A loop that the run ends counts one trip. Error: 4 (more than `maxSteps`
/// instructions), 15 (a stream never goes on).
Result<PlannedStep> planStep(const Plan &plan, const Entry &entry,
                             int64_t maxSteps = 4'000'000);

/// Whether the machine says how fast a device computes and, where there are
/// several, its links: then a planned step is a prediction.
bool isMachineKnown(const Plan &plan);

/// Seconds of an instruction on one device.
double secondsOf(const Plan &plan, const Action &action);
/// Bytes of an instruction that cross the memory.
double bytesOf(const Action &action);
/// Whether it is a collective or a message.
bool isCommunication(const Action &action);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_VERIFY_PLANTIMES_H
