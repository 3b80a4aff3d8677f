//===- PlanMutatorTest.cpp - Mutated plans are refused --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PlanMutator.h"
#include "SamplePlan.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

// Refused with 3, 4, 5 or 15, or accepted; never a crash.
TEST(PlanMutator, MutationsAreRefusedOrHarmless) {
  Plan plan = makeSamplePlan();
  Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2"};
  environment.maxThreads = 1;
  environment.maxSteps = 100000;
  MutationCounts counts = mutatePlan(plan, 2000, 1, environment);
  std::printf("%s\n", counts.describe().c_str());
  int64_t known = counts.accepted();
  for (int code : {3, 4, 5, 15}) {
    known += counts.byCode.count(code) ? counts.byCode[code] : 0;
  }
  EXPECT_EQ(known, 2000);
  EXPECT_GT(counts.byCode[3], 200);
  EXPECT_GT(counts.byCode[15], 200);
}

TEST(PlanMutator, LargeArenasAreNotRun) {
  Plan plan = makeSamplePlan();
  EXPECT_FALSE(isTooLargeToRun(plan));
  plan.arenas.back() = (int64_t(1) << 30) + 1;
  EXPECT_TRUE(isTooLargeToRun(plan));
  plan.arenas.back() = INT64_MAX;
  EXPECT_TRUE(isTooLargeToRun(plan));
}

TEST(PlanMutator, SameSeedSameCounts) {
  Plan plan = makeSamplePlan();
  auto first = mutatePlan(plan, 100, 7, {});
  auto second = mutatePlan(plan, 100, 7, {});
  EXPECT_EQ(first.byCode, second.byCode);
}
