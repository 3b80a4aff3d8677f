//===- CheckpointLoopTest.cpp - When the loop writes checkpoints ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The session and the checkpoints only pretend, and note what they are asked.
//===----------------------------------------------------------------------===//

#include "FakeSession.h"
#include "llmc/Runtime/Executor/Checkpointing.h"
#include "llmc/Runtime/Executor/RunLoop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace llmc::rt {
namespace {

using testing::ElementsAre;

class FakeCheckpoints final : public Checkpointing {
public:
  explicit FakeCheckpoints(FakeSession &session) : session(session) {}

  int64_t first = 0, every = 0, lastStep = 0;
  bool timeIsUp = false, written = false;
  /// Steps that were written, and those that had been submitted by then.
  std::vector<int64_t> steps, submitted;
  int finished = 0;

  int64_t firstStep() const override { return first; }
  std::optional<uint64_t> seed() const override { return {}; }
  bool isResumed() const override { return first > 0; }
  std::string describeResumed() const override { return ""; }
  Status begin(Session &, const std::string &) override {
    lastStep = first;
    return {};
  }
  Result<int64_t> rollBack(Session &, int64_t most) override {
    asked.push_back(most);
    return lastStep = returns.at(asked.size() - 1);
  }
  std::vector<int64_t> asked, returns;
  bool isDueAt(int64_t step) const override {
    return every && step % every == 0 && !has(step);
  }
  bool isTimeUp() const override { return timeIsUp; }
  bool has(int64_t step) const override { return step == lastStep; }
  Result<std::string> write(Session &, int64_t step) override {
    steps.push_back(lastStep = step);
    submitted.push_back(first + static_cast<int64_t>(session.submitted.size()));
    EXPECT_EQ(session.steps.size(), session.submitted.size());
    timeIsUp = false;
    return std::string("written\n");
  }
  bool isWritten() const override { return written; }
  Result<std::string> finish() override {
    ++finished;
    return std::string();
  }

private:
  FakeSession &session;
};

struct CheckpointLoop : testing::Test {
  FakeSession session;
  FakeCheckpoints checkpoints{session};
  RunOptions options;

  CheckpointLoop() {
    plan::Entry entry;
    entry.name = "train";
    entry.metrics = {{"lr", DType::f32}, {"loss", DType::f32}};
    entry.prologue = entry.epilogue = {-1};
    session.source.entries = {entry};
    session.source.arenas = {0};
    options.steps = 7;
    options.checkpoints = &checkpoints;
  }
  Status run() {
    options.out = std::tmpfile();
    Status status = runSteps(session, options);
    std::fclose(options.out);
    return status;
  }
};

// The devices run one step ahead, but never over the states of a checkpoint.
TEST_F(CheckpointLoop, NoStepIsSubmittedBeforeIt) {
  checkpoints.every = 3;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(checkpoints.steps, ElementsAre(3, 6, 7));
  EXPECT_THAT(checkpoints.submitted, ElementsAre(3, 6, 7));
  EXPECT_EQ(session.mostAhead, 2u);
  EXPECT_GE(checkpoints.finished, 1);
}

TEST_F(CheckpointLoop, TheLastOneIsWrittenOnce) {
  checkpoints.every = 7;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(checkpoints.steps, ElementsAre(7));
}

// Process 0 says so with step 0, when step 1 is under way.
TEST_F(CheckpointLoop, TimeIsUp) {
  checkpoints.timeIsUp = true;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(checkpoints.steps, ElementsAre(2, 7));
  EXPECT_THAT(checkpoints.submitted, ElementsAre(2, 7));
}

TEST_F(CheckpointLoop, GoesOnToTheSameEnd) {
  checkpoints.first = 5;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(session.steps, ElementsAre(5, 6));
  EXPECT_THAT(checkpoints.steps, ElementsAre(7));
  // One that is at its end, or beyond, runs and writes nothing.
  session.steps.clear();
  session.submitted.clear();
  checkpoints.first = 9;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(session.steps, ElementsAre());
  EXPECT_THAT(checkpoints.steps, ElementsAre(7));
}

TEST_F(CheckpointLoop, StopsWithOne) {
  std::atomic<bool> stop{false};
  session.stopAt1 = &stop;
  options.stop = &stop;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(session.steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(checkpoints.steps, ElementsAre(3));
}

// States after a loss that is not finite are of no use.
TEST_F(CheckpointLoop, ALossOfNanIsNotWritten) {
  session.losses = {1, NAN};
  checkpoints.every = 2;
  EXPECT_EQ(run().kind(), ErrorKind::numeric);
  EXPECT_THAT(checkpoints.steps, ElementsAre());
}

// In the background: its end comes with the step after which all have written.
TEST_F(CheckpointLoop, FinishesBetweenSteps) {
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(checkpoints.finished, 1);
  checkpoints.written = true;
  session.steps.clear();
  session.submitted.clear();
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(checkpoints.finished, 1 + 7 + 1);
}

// Step 5 is wrong while step 6 runs; the run goes back to 4, and samples of
// steps 4 and 5 are left out.
TEST_F(CheckpointLoop, GoesBack) {
  options.rollBack = 2;
  checkpoints.every = 2;
  checkpoints.returns = {4, 2};
  session.losses = {1, 1, 1, 1, 1, NAN, 1, 1};
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(session.steps, ElementsAre(0, 1, 2, 3, 4, 5, 4, 5, 6));
  EXPECT_THAT(checkpoints.asked, ElementsAre(5));
  EXPECT_EQ(session.left, 2);
  // The first step after it is wrong again: the states may be.
  session.steps.clear();
  session.submitted.clear();
  session.left = 0;
  session.losses = {1, 1, 1, 1, 1, NAN, NAN, 1};
  checkpoints.asked.clear();
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(checkpoints.asked, ElementsAre(5, 3));
  EXPECT_EQ(session.left, 2 + 3);
  EXPECT_THAT(session.steps.back(), 6);
}

TEST_F(CheckpointLoop, GoesBackSoOften) {
  options.rollBack = 1;
  checkpoints.returns = {0};
  session.losses = {1, NAN};
  EXPECT_EQ(run().kind(), ErrorKind::numeric);
  EXPECT_THAT(checkpoints.asked, ElementsAre(1));
  options.count = true;
  EXPECT_EQ(run().kind(), ErrorKind::usage);
  options.count = false;
  options.checkpoints = nullptr;
  EXPECT_EQ(run().kind(), ErrorKind::usage);
}

} // namespace
} // namespace llmc::rt
