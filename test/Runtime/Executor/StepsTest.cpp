//===- StepsTest.cpp - A step is submitted while another runs -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-made plan for 100 steps, each submitted before the one before it is
// waited for: the bits of one step at a time, whatever the order and the number
// of workers, and on a target that captures each step and replays it.
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <thread>

namespace llmc::rt::test {
namespace {

constexpr int stepsOfRun = 100;

/// Metrics and inputs of the step that was waited for last.
void addStep(std::string &bits, Session &session) {
  for (const NamedValue &metric : session.metrics()) {
    append(bits, &metric.value, sizeof(metric.value));
  }
  for (int64_t m : {0, 1}) {
    HostTensor tokens = *session.fetch("tokens", m);
    append(bits, tokens.bytes.data(), tokens.bytes.size());
  }
}

void addStates(std::string &bits, Session &session) {
  for (const plan::State &state : session.plan().states) {
    HostTensor value = *session.readState(state.name);
    append(bits, value.bytes.data(), value.bytes.size());
  }
}

/// `ahead` steps are submitted and not waited for while the host reads.
std::string runSteps(Session &session, int ahead) {
  std::string bits;
  int submitted = 0;
  for (int step = 0; step < stepsOfRun; ++step) {
    for (; submitted < stepsOfRun && submitted <= step + ahead; ++submitted) {
      Status status = session.submit("train", submitted);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    Status status = session.wait();
    EXPECT_TRUE(status.ok()) << status.message();
    addStep(bits, session);
  }
  addStates(bits, session);
  return bits;
}

TEST(StepsTest, AheadOrOneByOneTheSameBits) {
  for (int m : {2, 4}) {
    plan::Plan plan = makeWalkthroughPlan(m, walkthroughObject);
    SessionOptions options;
    options.threads = 1;
    auto oneByOne = openWalkthrough(plan, options);
    ASSERT_TRUE(oneByOne);
    std::string expected = runSteps(*oneByOne, 0);
    for (int threads : {1, 2, 5}) {
      for (const char *target : {"cpu", "opaque"}) {
        options.threads = threads;
        plan.target = target;
        auto session = openWalkthrough(plan, options);
        ASSERT_TRUE(session);
        EXPECT_EQ(runSteps(*session, 1), expected) << threads << target;
      }
    }
    options.threads = 1;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      options.shuffleSeed = seed;
      auto session = openWalkthrough(plan, options);
      ASSERT_TRUE(session);
      EXPECT_EQ(runSteps(*session, 1), expected) << "seed " << seed;
    }
  }
}

// Two steps are in flight at most, and each is waited for once, in order.
TEST(StepsTest, SubmitAndWaitAreChecked) {
  auto session = openWalkthrough(makeWalkthroughPlan(2, walkthroughObject));
  ASSERT_TRUE(session);
  Status early = session->wait();
  EXPECT_EQ(early.kind(), ErrorKind::usage);
  EXPECT_EQ(early.message(), "expected a step that was submitted");
  for (int step : {0, 1}) {
    ASSERT_TRUE(session->submit("train", step).ok());
  }
  Status third = session->submit("train", 2);
  EXPECT_EQ(third.kind(), ErrorKind::usage);
  EXPECT_EQ(third.message(), "expected at most 2 steps that are not waited "
                             "for");
  ASSERT_TRUE(session->wait().ok());
  double first = *session->metric("loss");
  ASSERT_TRUE(session->wait().ok());
  EXPECT_NE(*session->metric("loss"), first);
  EXPECT_EQ(session->wait().kind(), ErrorKind::usage);
}

// A state that is read is that after all submitted steps; metrics stay with
// their step, and `run` goes after what was submitted.
TEST(StepsTest, StatesAreReadAfterTheSteps) {
  plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject);
  auto session = openWalkthrough(plan), other = openWalkthrough(plan);
  ASSERT_TRUE(session && other);
  std::vector<double> losses;
  for (int step : {0, 1, 2}) {
    ASSERT_TRUE(other->run("train", step).ok());
    losses.push_back(*other->metric("loss"));
  }
  for (int step : {0, 1}) {
    ASSERT_TRUE(session->submit("train", step).ok());
  }
  HostTensor read = *session->readState("W1");
  ASSERT_TRUE(session->wait().ok());
  EXPECT_EQ(session->metric("loss"), losses[0]);
  EXPECT_EQ(session->readState("W1")->bytes, read.bytes);
  ASSERT_TRUE(session->run("train", 2).ok());
  EXPECT_EQ(session->metric("loss"), losses[2]);
  EXPECT_EQ(session->readState("W1")->bytes, other->readState("W1")->bytes);
  EXPECT_NE(session->readState("W1")->bytes, read.bytes);
}

// A session that goes while its steps run leaves nothing behind.
TEST(StepsTest, SessionsMayEndEarly) {
  for (int i = 0; i < 20; ++i) {
    SessionOptions options;
    options.threads = 3;
    auto session =
        openWalkthrough(makeWalkthroughPlan(4, walkthroughObject), options);
    ASSERT_TRUE(session);
    for (int step : {0, 1}) {
      ASSERT_TRUE(session->submit("train", step).ok());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
  }
}

} // namespace
} // namespace llmc::rt::test
