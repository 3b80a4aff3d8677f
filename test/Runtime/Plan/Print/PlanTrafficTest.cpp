//===- PlanTrafficTest.cpp - Counts of collectives and messages -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <gtest/gtest.h>

using namespace llmc::rt::plan;

static const Traffic *find(const std::vector<Traffic> &rows,
                           const std::string &kind, const std::string &axes) {
  for (const Traffic &row : rows) {
    if (row.kind == kind && row.axes == axes) {
      return &row;
    }
  }
  return nullptr;
}

// Three microbatches of 64 bytes go from stage 0 to stage 1; one scalar is
// reduced over all devices.
TEST(PlanTraffic, CountsEachMicrobatch) {
  Plan plan = makeSamplePlan();
  std::vector<Traffic> rows = trafficOf(plan, plan.entries[0], 0);
  const Traffic *send = find(rows, "send", "pipe");
  ASSERT_TRUE(send);
  EXPECT_EQ(send->count, 3);
  EXPECT_EQ(send->bytesIn, 192u);
  const Traffic *reduce = find(rows, "all_reduce", "pipe data");
  ASSERT_TRUE(reduce);
  EXPECT_TRUE(reduce->isScalar);
  EXPECT_EQ(reduce->bytesOut, 4u);
}

// What one stage sends, the other receives.
TEST(PlanTraffic, StagesAgree) {
  Plan plan = makeSamplePlan();
  std::vector<Traffic> first = trafficOf(plan, plan.entries[0], 0);
  std::vector<Traffic> last = trafficOf(plan, plan.entries[0], 1);
  ASSERT_TRUE(find(first, "send", "pipe") && find(last, "receive", "pipe"));
  EXPECT_EQ(find(first, "send", "pipe")->bytesIn,
            find(last, "receive", "pipe")->bytesOut);
  EXPECT_EQ(find(first, "send", "pipe")->count,
            find(last, "receive", "pipe")->count);
}
