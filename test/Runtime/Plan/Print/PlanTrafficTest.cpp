//===- PlanTrafficTest.cpp - Counts of collectives and messages -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <gtest/gtest.h>
#include <map>

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

// All parts of an axis, in their order, are the axis.
TEST(PlanTraffic, NamesPartsOfAxes) {
  llmc::rt::Mesh mesh;
  mesh.axes = {{"d", 2}, {"t:(1)2", 2}, {"t:(2)2", 2}};
  EXPECT_EQ(axisNames(mesh, {1, 2}), "t");
  EXPECT_EQ(axisNames(mesh, {1, 2, 0}), "t d");
  EXPECT_EQ(axisNames(mesh, {0, 1}), "d t:(1)2");
  EXPECT_EQ(axisNames(mesh, {2, 1}), "t:(2)2 t:(1)2");
  EXPECT_EQ(axisNames(mesh, {1, 0, 2}), "t:(1)2 d t:(2)2");
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

// What is sent and received at once counts as it would alone, and what a called
// program does counts for each call and each trip.
static void checkTwice(bool isLoop) {
  Plan plan = makeSamplePlan();
  Message message = firstOf<Send>(plan, "c0.F").message;
  Message scalar = message;
  scalar.operands[0].shape = {};
  Program both, caller;
  both.instructions = {{0, -1, Exchange{{message, scalar}, {message}}}};
  auto first = static_cast<int32_t>(plan.programs.size());
  caller.instructions = {{0, -1, Call{first, noExpr, {}}},
                         {0, -1, Call{first, noExpr, {}}}};
  plan.programs.push_back(both);
  plan.programs.push_back(caller);
  if (isLoop) {
    Program outer;
    outer.instructions = {{0, -1, Loop{2, first, {}}}};
    plan.programs.back() = outer;
  }
  Entry entry;
  entry.prologue = {first + 1, -1};
  entry.epilogue = {-1, -1};
  EXPECT_TRUE(trafficOf(plan, entry, 1).empty());
  std::vector<Traffic> rows = trafficOf(plan, entry, 0);
  ASSERT_EQ(rows.size(), 3u);
  const char *kinds[] = {"receive", "send", "send"};
  const uint64_t in[] = {0, 128, 8}, out[] = {128, 0, 0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].kind, kinds[i]);
    EXPECT_EQ(rows[i].axes, "pipe");
    EXPECT_EQ(rows[i].isScalar, i == 2);
    EXPECT_EQ(rows[i].count, 2);
    EXPECT_EQ(rows[i].bytesIn, in[i]);
    EXPECT_EQ(rows[i].bytesOut, out[i]);
  }
}

TEST(PlanTraffic, ExchangesAndCalls) {
  for (bool isLoop : {false, true}) {
    checkTwice(isLoop);
  }
}

// By place, rows are as many as there are places, and their sums are the same.
TEST(PlanTraffic, PlacesAddUp) {
  Plan plan = makeSamplePlan();
  for (int64_t stage : {0, 1}) {
    std::map<std::string, int64_t> counts;
    for (const Traffic &row : trafficByPlace(plan, plan.entries[0], stage)) {
      EXPECT_TRUE((row.location >= 0) != (row.buffer >= 0));
      counts[row.kind + row.axes] += row.count;
    }
    std::map<std::string, int64_t> all;
    for (const Traffic &row : trafficOf(plan, plan.entries[0], stage)) {
      EXPECT_EQ(row.location, -1);
      all[row.kind + row.axes] += row.count;
    }
    EXPECT_EQ(counts, all);
  }
}

// Products of the library count with each microbatch: one of 4 x 4 x 4 in the
// backward of the first stage, two in that of the last.
TEST(PlanTraffic, WorkOfAStep) {
  Plan plan = makeSamplePlan();
  EXPECT_EQ(workOf(plan, plan.entries[0], 0), 3 * 1 * 2 * 64.0);
  EXPECT_EQ(workOf(plan, plan.entries[0], 1), 3 * 2 * 2 * 64.0);
}
