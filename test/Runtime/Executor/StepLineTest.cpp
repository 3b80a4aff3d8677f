//===- StepLineTest.cpp - What lines say of steps -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Loop/StepLine.h"
#include "FakeSession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::exec {
namespace {

using testing::HasSubstr;
using testing::Not;

// One slow step is no rate; the first two count while there are no others.
TEST(StepTimes, MediansOfLate) {
  StepTimes times;
  times.add({9, 3});
  EXPECT_EQ(times.ofLate().seconds, 9);
  EXPECT_EQ(times.ofLate().exposed, 3);
  times.add({1, 0.5});
  EXPECT_EQ(times.ofLate().seconds, 5);
  times.add({2, 0.25});
  EXPECT_EQ(times.ofLate().seconds, 4);
  times.add({4, 0.75});
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(times.ofLate().seconds, 3);
  EXPECT_EQ(times.ofLate().exposed, 0.5);
  times.add({100, 0.25});
  EXPECT_EQ(times.ofLate().seconds, 4);
  EXPECT_EQ(times.ofLate().exposed, 0.25);
  for (int i = 0; i < 10; ++i) {
    times.add({5, {}});
  }
  EXPECT_EQ(times.ofLate().seconds, 5);
  EXPECT_EQ(times.ofLate().exposed, std::nullopt);
  EXPECT_EQ(times.size(), 13u);
}

TEST(StepTimes, KeepsTheLastThousand) {
  StepTimes times;
  for (int i = 0; i < 2002; ++i) {
    times.add({i <= 1001 ? 1.0 : 2.0, {}});
  }
  EXPECT_EQ(times.size(), 1000u);
  EXPECT_EQ(times.ofRun().seconds, 2);
  for (int i = 0; i < 6; ++i) {
    times.add({3, {}});
  }
  EXPECT_EQ(times.ofLate().seconds, 3);
  EXPECT_EQ(times.ofRun().seconds, 2);
}

struct StepLine : testing::Test {
  FakeSession session;
  StepFacts facts;

  StepLine() {
    plan::Entry entry;
    entry.name = "train";
    entry.inputs = {{"tokens", DType::i32, Layout::whole({5, 6}), {}}};
    entry.modelFlops = 3e9;
    session.source.mesh = {{{"data", 2}}, -1};
    session.source.entries = {entry};
    facts.step = 3;
    facts.time = {0.1, 0.02};
    facts.late = {0.02, 0.005};
    facts.dataSeconds = 0.01;
    facts.eta = 4923;
  }
  std::string print() {
    return printStepLine(
        session, StepWork::of(session.source, session.source.entries[0]),
        facts);
  }
};

// 3e9 flops in 0.02 s on two devices of 1e12 flops a second.
TEST_F(StepLine, RatesAreThoseOfLateSteps) {
  session.source.machine.flops = 1e12;
  EXPECT_EQ(print(), "step: 3  loss: 2.5000  lr: 1.0e-03  norm: 7  memory: "
                     "1.95KiB(2.0%)  tps: 1,500  mfu: 7.5%  comm: 25.0%  data: "
                     "10.0%  eta: 1:22:03\n");
}

TEST_F(StepLine, WhatIsNotKnownIsLeftOut) {
  facts.late.exposed = {};
  EXPECT_THAT(print(), Not(HasSubstr("mfu: ")));
  EXPECT_THAT(print(), Not(HasSubstr("comm: ")));
  session.source.machine.flops = 1e12;
  session.source.entries[0].modelFlops = 0;
  EXPECT_THAT(print(), Not(HasSubstr("mfu: ")));
}

// The memory that the configuration says, where it says one.
TEST_F(StepLine, MemoryOfTheMachine) {
  session.source.machine.memory = 8000;
  EXPECT_THAT(print(), HasSubstr("memory: 1.95KiB(25.0%)"));
}

} // namespace
} // namespace llmc::rt::exec
