//===- PlanPeakTest.cpp - What lies in memory where most does -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Print/PlanPeak.h"

#include <gtest/gtest.h>

using namespace llmc::rt::plan;

static std::string nameOf(const Plan &plan, const LiveBuffer &live) {
  return plan.buffers[live.buffer].name;
}

// The backward of the last stage has the library's workspace and a value of
// its own beside all that lives across calls: 64 of weights, 4 of the rate, 68
// of sums, two slots of 64 for each of two transfers, 64 and 256 in the call.
TEST(PlanPeak, FindsTheCallAndItsLargestBuffers) {
  Plan plan = makeSamplePlan();
  Peak peak = peakOf(plan, 1);
  EXPECT_EQ(peak.bytes, 64 + 4 + 68 + 4 * 64 + 64 + 256);
  EXPECT_EQ(plan.programs[peak.program].name, "c1.B");
  ASSERT_GE(peak.live.size(), 3u);
  EXPECT_EQ(nameOf(plan, peak.live[0]), "library");
  EXPECT_EQ(peak.live[0].bytes, 256);
  // Both slots of a frame.
  EXPECT_EQ(nameOf(plan, peak.live[1]), "x");
  EXPECT_EQ(peak.live[1].bytes, 128);
}

// What the forward keeps is there from its first call to the backward's last.
TEST(PlanPeak, ActivationsLiveBetweenCalls) {
  Plan plan = makeSamplePlan();
  Peak peak = peakOf(plan, 0);
  EXPECT_EQ(peak.bytes, 64 + 4 + 68 + 2 * 64 + 2 * 16 + 4 * 64);
  EXPECT_EQ(plan.programs[peak.program].name, "c0.B");
}

// A value of a call that is over before another begins does not count beside
// it.
TEST(PlanPeak, ValuesOfACallEndWithTheirLastReader) {
  Plan plan = makeSamplePlan();
  Program &backward = plan.programs[findProgram(plan, "c1.B")];
  for (Instruction &each : backward.instructions)
    if (auto *library = std::get_if<Library>(&each.action))
      library->workspace = Operand();
  int64_t with = peakOf(plan, 1).bytes;
  EXPECT_EQ(with, 64 + 4 + 68 + 4 * 64 + 64);
}

// A stage's arena holds what lives at its peak.
TEST(PlanPeak, FitsIntoTheArena) {
  Plan plan = makeSamplePlan();
  for (int64_t stage : {0, 1}) {
    Peak peak = peakOf(plan, stage);
    EXPECT_LE(peak.bytes, plan.arenas[stage]);
    int64_t sum = 0;
    for (size_t i = 0; i < peak.live.size(); ++i) {
      sum += peak.live[i].bytes;
      EXPECT_TRUE(i == 0 || peak.live[i].bytes <= peak.live[i - 1].bytes);
    }
    EXPECT_EQ(sum, peak.bytes);
  }
}
