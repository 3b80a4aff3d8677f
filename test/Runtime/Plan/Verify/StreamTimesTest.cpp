//===- StreamTimesTest.cpp - When streams run what ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Verify/StreamTimes.h"

#include <gtest/gtest.h>

using namespace llmc::rt::plan;

namespace {
using P = StreamTimesProblem;
enum { Compute, Moves };

double secondsOf(const P &problem, bool isFree = false) {
  EXPECT_EQ(problem.check(), "");
  StreamTimes times = findTimes(problem, isFree);
  EXPECT_EQ(times.error, "");
  return times.seconds;
}

TEST(StreamTimes, FindsFaults) {
  auto check = [](P::Entry entry) {
    P problem;
    problem.meetings = {1};
    problem.devices = {{entry, {0, 1, false, -1, 0}}};
    return problem.check();
  };
  EXPECT_EQ(check({0, 1, false, 1, -1}), "");
  for (int32_t stream : {-1, 1}) {
    EXPECT_EQ(check({stream, 1, false, -1, -1}),
              "an entry is on a stream that is not there");
  }
  for (int32_t after : {-2, 2}) {
    EXPECT_EQ(check({0, 1, false, after, -1}),
              "an entry waits for one that is not there");
  }
  EXPECT_EQ(check({0, 1, false, -1, 1}),
            "an entry is at a meeting that is not there");
  EXPECT_EQ(check({0, -1, false, -1, -1}), "an entry takes less than no time");
  EXPECT_EQ(check({0, 1, false, -1, 0}),
            "expected 1 entries at meeting 0, got 2");
}

/// 4 s of work, of which the first 3 are reduced for 2 s meanwhile; then 1 s
/// that waits for it.
TEST(StreamTimes, WhatIsNotHiddenIsExposed) {
  P problem;
  problem.numStreams = 2;
  problem.devices = {{{Compute, 3},
                      {Moves, 2, true, 0},
                      {Compute, 1},
                      {Compute, 0, false, 1},
                      {Compute, 1}}};
  EXPECT_EQ(secondsOf(problem), 6);
  EXPECT_EQ(secondsOf(problem, /*isFree=*/true), 5);
  // Later work hides it.
  problem.devices[0][2].seconds = 2;
  EXPECT_EQ(secondsOf(problem), 6);
  EXPECT_EQ(secondsOf(problem, true), 6);
}

TEST(StreamTimes, WhoMeetsBeginsTogether) {
  P problem;
  problem.numStreams = 2;
  problem.meetings = {2};
  problem.devices = {{{Compute, 1}, {Moves, 2, true, 0, 0}},
                     {{Compute, 5},
                      {Moves, 2, true, 0, 0},
                      {Compute, 0, false, 1},
                      {Compute, 1}}};
  EXPECT_EQ(secondsOf(problem), 8);
  EXPECT_EQ(secondsOf(problem, true), 6);
}

TEST(StreamTimes, AStreamIsInOrder) {
  P problem;
  problem.devices = {{{Compute, 1}, {Compute, 2}, {Compute, 3}}};
  EXPECT_EQ(secondsOf(problem), 6);
}

TEST(StreamTimes, NamesWhatNeverBegins) {
  P problem;
  problem.devices = {{{Compute, 1}, {Compute, 1, false, 2}, {Compute, 1}}};
  EXPECT_EQ(problem.check(), "");
  EXPECT_EQ(findTimes(problem).error, "entry 1 of device 0 never begins");
}

} // namespace
