//===- StreamOrderTest.cpp - Reduced waits between streams ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/StreamOrder.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {
enum { C, K };

/// Program 0 copies tokens (buffer 0) and targets (1) on K, then reads each on
/// C, microbatch by microbatch; both lie in frame 0 with two slots.
StreamOrderProblem makeInputs(int microbatches) {
  StreamOrderProblem problem;
  problem.numStreams = 2;
  problem.slots = {2};
  problem.frameOf = {0, 0};
  problem.programs = {{{K, {{0, true}}},
                       {K, {{1, true}}},
                       {C, {{0, false}}},
                       {C, {{1, false}}}}};
  problem.walks.resize(1);
  for (int i = 0; i < microbatches; ++i)
    problem.walks[0].push_back({0, i});
  EXPECT_EQ(problem.check(), "");
  return problem;
}

TEST(StreamOrder, WithoutReuseOneWaitForTheLastCopy) {
  StreamOrderResult result = reduceWaits(makeInputs(2));
  ASSERT_EQ(result.error, "");
  // Each read waits for its own copy: the first does not wait for the second.
  ASSERT_EQ(result.order.edges.size(), 2u);
  for (const auto &edge : result.order.edges)
    EXPECT_NE(edge.event, 0);
}

TEST(StreamOrder, ReuseWaitsForTheLastRead) {
  StreamOrderProblem problem = makeInputs(4);
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  int numFree = 0;
  for (const auto &edge : result.order.edges)
    if (edge.event == 0) {
      ++numFree;
      EXPECT_EQ(edge.fromInstruction, 3);
      EXPECT_EQ(edge.toInstruction, 0);
    }
  EXPECT_EQ(numFree, 1);
}

TEST(StreamOrder, ReuseBehindTheLaterProgram) {
  // The second program reads the tokens again.
  StreamOrderProblem problem = makeInputs(0);
  problem.programs.push_back({{C, {{0, false}}}});
  for (int i = 0; i < 4; ++i) {
    problem.walks[0].push_back({0, i});
    problem.walks[0].push_back({1, i});
  }
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  for (const auto &edge : result.order.edges)
    if (edge.event == 0)
      EXPECT_EQ(edge.fromProgram, 1);
}

TEST(StreamOrder, EachEdgeIsNeeded) {
  StreamOrderProblem problem = makeInputs(4);
  StreamOrder order = reduceWaits(problem).order;
  for (size_t i = 0; i < order.edges.size(); ++i) {
    StreamOrder fewer = order;
    fewer.edges.erase(fewer.edges.begin() + i);
    EXPECT_NE(problem.verify(fewer), "");
  }
}

TEST(StreamOrder, RefusesReuseBehindTwoStreams) {
  StreamOrderProblem problem = makeInputs(4);
  problem.numStreams = 3;
  problem.programs[0][3].stream = 2;
  EXPECT_NE(reduceWaits(problem).error, "");
}
} // namespace
