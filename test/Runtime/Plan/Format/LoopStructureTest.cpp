//===- LoopStructureTest.cpp - What the file says of loops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::plan {
namespace {

using testing::HasSubstr;

// The trip is a parameter of the body, before those that are given.
TEST(LoopStructure, TripsAndArguments) {
  const auto parameter =
      static_cast<ExprId>(makeSamplePlan().expressions.size());
  auto messageOf = [](int32_t parameters, Loop loop) {
    Plan plan = makeSamplePlan();
    plan.expressions.push_back({ExprOp::parameter, -1, -1, 0});
    plan.entries.clear();
    plan.programs[0].numParameters = parameters;
    plan.programs[1].instructions = {{0, -1, std::move(loop)}};
    return checkStructure(plan).message();
  };
  EXPECT_EQ(messageOf(1, {3, 0, {}}), "");
  EXPECT_EQ(messageOf(1, {0, 0, {}}), "");
  EXPECT_EQ(messageOf(2, {3, 0, {0}}), "");
  EXPECT_THAT(messageOf(1, {-1, 0, {}}),
              HasSubstr("the trips of a loop to be between 0"));
  EXPECT_THAT(messageOf(1, {3, 1, {}}),
              HasSubstr("the body of a loop to be an index below 1, got 1"));
  EXPECT_THAT(messageOf(0, {3, 0, {}}),
              HasSubstr("the body of a loop to have a parameter for the trip"));
  EXPECT_THAT(messageOf(1, {3, 0, {0}}),
              HasSubstr("expected 0 arguments of a loop, got 1"));
  EXPECT_THAT(messageOf(2, {3, 0, {parameter}}),
              HasSubstr("an argument to use parameters"));
}

// The flag is one boolean, and the body knows of no trip.
TEST(LoopStructure, WhilesAskAFlag) {
  auto messageOf = [](void (*edit)(While &loop), int32_t parameters = 0) {
    Plan plan = makeSamplePlan();
    plan.entries.clear();
    plan.programs[0].numParameters = parameters;
    While loop;
    loop.flag = std::get<Copy>(plan.programs[0].instructions[0].action).to;
    loop.flag.dtype = DType::i1;
    loop.flag.shape = loop.flag.strides = {};
    edit(loop);
    plan.programs[1].instructions = {{0, -1, std::move(loop)}};
    return checkStructure(plan).message();
  };
  EXPECT_EQ(messageOf([](While &) {}), "");
  EXPECT_THAT(messageOf([](While &loop) { loop.flag = {}; }),
              HasSubstr("the flag of a while"));
  const char *one = "expected the flag of a while to be one i1";
  EXPECT_THAT(messageOf([](While &loop) { loop.flag.dtype = DType::i8; }),
              HasSubstr(one));
  EXPECT_THAT(messageOf([](While &loop) { loop.flag.shape = {2}; }),
              HasSubstr(one));
  EXPECT_THAT(messageOf([](While &loop) { loop.program = 1; }),
              HasSubstr("the body of a while to be an index below 1, got 1"));
  EXPECT_THAT(messageOf([](While &) {}, 1),
              HasSubstr("expected 1 arguments of the body of a while, got 0"));
}

} // namespace
} // namespace llmc::rt::plan
