//===- PlanVerifyTest.cpp - A sound plan passes ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/PlanFile.h"
#include "llmc/Runtime/Plan/PlanWaits.h"

#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

TEST(PlanVerify, SampleIsAccepted) {
  Plan plan = makeSamplePlan();
  EXPECT_EQ(verifyPlan(plan).message(), "");
  Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2", "fma"};
  environment.maxThreads = 2;
  environment.oneCollectiveOrder = true;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
}

TEST(PlanVerify, EveryWaitIsNeeded) {
  Plan plan = makeSamplePlan();
  std::vector<WaitPlace> waits = waitsOf(plan);
  EXPECT_EQ(waits.size(), 14u);
  for (WaitPlace place : waits) {
    EXPECT_EQ(verifyPlan(withoutWait(plan, place)).kind(), ErrorKind::mismatch)
        << plan.programs[place.program].name << " " << place.instruction;
  }
  EXPECT_TRUE(redundantWaits(plan).empty());
}

// The cost and the size do not depend on the data axis.
TEST(PlanVerify, DataAxisIsFree) {
  Plan plan = makeSamplePlan();
  auto small = serializePlan(plan);
  plan.mesh.axes[1].size = 1 << 20;
  plan.entries[0].inputs[0].layout = Layout::split({4 << 20}, {{1}}, plan.mesh);
  EXPECT_EQ(verifyPlan(plan).message(), "");
  auto large = serializePlan(plan);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_EQ(small->size(), large->size());
}

TEST(PlanVerify, WalkIsBounded) {
  Plan plan = makeSamplePlan();
  Environment environment;
  environment.maxSteps = 20;
  EXPECT_EQ(verifyPlan(plan, environment).kind(), ErrorKind::infeasible);
}

// Each program calls the one before it twice: 2^60 calls.
TEST(PlanVerify, CallBombIsBounded) {
  Plan plan = makeSamplePlan();
  Program program;
  program.name = "leaf";
  plan.programs.push_back(program);
  for (int i = 0; i < 60; ++i) {
    auto last = static_cast<int32_t>(plan.programs.size()) - 1;
    program.name = "bomb";
    program.instructions = {{0, -1, Call{last, noExpr, {}}},
                            {0, -1, Call{last, noExpr, {}}}};
    plan.programs.push_back(program);
  }
  plan.entries[0].prologue[0] = static_cast<int32_t>(plan.programs.size()) - 1;
  Environment environment;
  environment.maxSteps = 100000;
  EXPECT_EQ(verifyPlan(plan, environment).kind(), ErrorKind::infeasible);
}

TEST(PlanVerify, CallsRunInPlace) {
  Plan plan = makeSamplePlan();
  // The epilogue becomes a call of what it was, with a parameter that moves
  // nothing.
  int32_t u = findProgram(plan, "u");
  Program caller;
  caller.name = "caller";
  caller.instructions = {{0, -1, Call{u, noExpr, {}}}};
  plan.programs.push_back(caller);
  auto number = static_cast<int32_t>(plan.programs.size()) - 1;
  plan.entries[0].epilogue = {number, number};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  plan.programs[number].instructions.push_back(
      plan.programs[number].instructions[0]);
  // Twice: the second one waits for signals of the first, so all is ordered,
  // but the loss is copied while it is reduced again.
  EXPECT_EQ(verifyPlan(plan).kind(), ErrorKind::mismatch);
}

TEST(PlanVerify, ReservedInstructionsAreRefused) {
  Plan plan = makeSamplePlan();
  int32_t u = findProgram(plan, "u");
  plan.programs[u].instructions.push_back({0, -1, Loop{3, 0}});
  Status status = verifyPlan(plan);
  EXPECT_EQ(status.kind(), ErrorKind::unsupported);
  EXPECT_NE(status.message().find("loops are not supported in plans"),
            std::string::npos);
}
