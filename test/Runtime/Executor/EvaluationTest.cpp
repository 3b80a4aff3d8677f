//===- EvaluationTest.cpp - Steps on data that training leaves out --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeSession.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/RunLoop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt {
namespace {

using testing::HasSubstr;
using testing::Not;

struct EvaluationTest : testing::Test {
  FakeSession session;
  RunOptions options;
  std::string text;

  EvaluationTest() {
    plan::Entry entry;
    entry.name = "train";
    entry.prologue = entry.epilogue = {-1};
    session.source.entries = {entry};
    session.source.arenas = {0};
    options.evaluation.every = 2;
  }

  Status run() {
    options.out = std::tmpfile();
    Status status = runSteps(session, options);
    std::rewind(options.out);
    char block[65536];
    text.assign(block, std::fread(block, 1, sizeof(block), options.out));
    std::fclose(options.out);
    return status;
  }
};

// After each so many steps, with no step under way, and a line of the loss
// before the user's metrics.
TEST_F(EvaluationTest, BetweenSteps) {
  options.steps = 7;
  options.evaluation.steps = 3;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(session.evaluatedAfter, (std::vector<size_t>{2, 4, 6}));
  EXPECT_EQ(session.batches, (std::vector<int64_t>{3, 3, 3}));
  EXPECT_EQ(session.steps.size(), 7u);
  EXPECT_EQ(session.mostAhead, 2u);
  for (const char *line :
       {"evaluate: step: 2  loss: 4.5000  t: 0.5  batches: 3\n",
        "evaluate: step: 6  loss: 3.2500  t: 0.5  batches: 3\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_LT(text.find("step: 1  loss"), text.find("evaluate: step: 2"));
  EXPECT_LT(text.find("evaluate: step: 2"), text.find("step: 2  loss: 2.5"));
}

TEST_F(EvaluationTest, LogHasALineOfItsOwn) {
  options.steps = 2;
  options.logFile = testing::TempDir() + "/evaluation.jsonl";
  ASSERT_TRUE(run().ok());
  std::string log = *readFile(options.logFile);
  EXPECT_THAT(log, HasSubstr("{\"entry\": \"evaluate\", \"step\": 2, "
                             "\"loss\": 4.5, \"metrics\": {\"t\": 0.5}, "
                             "\"batches\": 7, \"seconds\": "));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
}

// Nothing at the first step of a run, wherever it begins.
TEST_F(EvaluationTest, RunsThatBeginLater) {
  options.firstStep = 4;
  options.steps = 3;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(session.evaluatedAfter, (std::vector<size_t>{2}));
  EXPECT_THAT(text, HasSubstr("evaluate: step: 6  loss: "));
}

// Before the first step.
TEST_F(EvaluationTest, WhatCannotBeIsRefused) {
  options.steps = 3;
  options.evaluation.entry = "forward";
  EXPECT_EQ(run().message(), "no forward");
  options.evaluation.entry = "evaluate";
  options.count = true;
  EXPECT_EQ(run().kind(), ErrorKind::usage);
  EXPECT_TRUE(session.steps.empty());
  options.count = false;
  options.evaluation.every = 0;
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(session.evaluatedAfter.empty());
}

// The share of an epoch that a step ends with.
TEST_F(EvaluationTest, EpochsInLinesAndLog) {
  options.steps = 3;
  options.evaluation.every = 0;
  options.logFile = testing::TempDir() + "/epochs.jsonl";
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(text, Not(HasSubstr("epoch")));
  session.steps.clear();
  session.submitted.clear();
  session.perEpoch = 8;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(text, HasSubstr("  epoch: 0.375  memory: "));
  EXPECT_THAT(*readFile(options.logFile), HasSubstr(", \"epoch\": 0.375, "));
}

} // namespace
} // namespace llmc::rt
