//===- LifetimesTest.cpp - Tests of Analysis/Lifetimes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/Lifetimes.h"

#include <gtest/gtest.h>

using namespace llmc;

TEST(Lifetimes, OneStream) {
  LifetimeProblem problem{1, 0, 3, {{0, {0}}, {0, {0, 1}}, {0, {1}}}};
  std::vector<Lifetime> lives = findLifetimes(problem);
  EXPECT_EQ(lives[0].begin, 0);
  EXPECT_EQ(lives[0].end, 2);
  EXPECT_EQ(lives[1].begin, 1);
  EXPECT_EQ(lives[1].end, 3);
  EXPECT_EQ(lives[2].begin, lives[2].end);
}

/// compute: write A, signal 0, [x], wait 1, read B;  copy: wait 0, A -> B,
/// signal 1.
static LifetimeProblem makeCopy(bool waits) {
  LifetimeProblem problem{2, 0, 2, {}};
  auto &list = problem.instructions;
  list.push_back({0, {0}});
  list.push_back({0, {}, 0, -1});
  if (waits)
    list.push_back({1, {}, -1, 0});
  list.push_back({1, {0, 1}});
  list.push_back({1, {}, 1, -1});
  list.push_back({0, {}});
  if (waits)
    list.push_back({0, {}, -1, 1});
  list.push_back({0, {}});
  return problem;
}

TEST(Lifetimes, OtherStreamsLieBetweenWhatIsOrdered) {
  std::vector<Lifetime> lives = findLifetimes(makeCopy(true));
  // Instructions of compute: 0 write, 1 signal, 2 x, 3 wait, 4 last.
  EXPECT_EQ(lives[0].begin, 0);
  EXPECT_EQ(lives[0].end, 4);
  EXPECT_EQ(lives[1].begin, 2);
  EXPECT_EQ(lives[1].end, 4);
  EXPECT_TRUE(lives[1].isClosed);
}

TEST(Lifetimes, WithoutWaitsNothingIsKnown) {
  std::vector<Lifetime> lives = findLifetimes(makeCopy(false));
  EXPECT_EQ(lives[1].begin, 0);
  EXPECT_FALSE(lives[1].isClosed);
  EXPECT_GT(lives[1].end, 3);
}

TEST(Lifetimes, WhatNothingOpensMayBeginInTheCallBefore) {
  // The other stream writes A first; compute waits for it, and reads.
  LifetimeProblem problem{2, 0, 1, {}};
  problem.instructions = {{1, {0}}, {1, {}, 1, -1}, {0, {}, -1, 1}, {0, {0}}};
  EXPECT_FALSE(findLifetimes(problem)[0].isClosed);
  // After a signal of compute it belongs to this call.
  problem.instructions.insert(problem.instructions.begin(),
                              {{0, {}, 0, -1}, {1, {}, -1, 0}});
  EXPECT_TRUE(findLifetimes(problem)[0].isClosed);
}

TEST(Lifetimes, AnAccessThatSignalsItselfEndsWhereItIsAwaited) {
  // compute: signal 0, wait 1, last;  copy: wait 0, write A and signal 1.
  LifetimeProblem problem{2, 0, 1, {}};
  problem.instructions = {
      {0, {}, 0, -1}, {1, {0}, 1, 0}, {0, {}, -1, 1}, {0, {}}};
  Lifetime life = findLifetimes(problem)[0];
  EXPECT_EQ(life.begin, 1);
  EXPECT_EQ(life.end, 2);
  EXPECT_TRUE(life.isClosed);
  // What nothing awaits may go on in the next call.
  problem.instructions = {{0, {}, 0, -1}, {1, {0}, 1, 0}, {0, {}}};
  life = findLifetimes(problem)[0];
  EXPECT_EQ(life.begin, 1);
  EXPECT_EQ(life.end, 3);
  EXPECT_FALSE(life.isClosed);
}

TEST(Lifetimes, FindsFaults) {
  const char *stream = "an instruction is on a stream that is not there";
  const char *buffer = "an instruction touches a buffer that is not there";
  const char *compute = "expected the compute stream to be one of the streams";
  auto check = [](int32_t compute, int32_t stream, int32_t buffer) {
    return LifetimeProblem{2, compute, 3, {{stream, {0, buffer}}}}.check();
  };
  EXPECT_EQ(check(0, 0, 0), "");
  EXPECT_EQ(check(1, 1, 2), "");
  EXPECT_EQ(check(-1, 0, 0), compute);
  EXPECT_EQ(check(2, 0, 0), compute);
  EXPECT_EQ(check(0, -1, 0), stream);
  EXPECT_EQ(check(0, 2, 0), stream);
  EXPECT_EQ(check(0, 0, -1), buffer);
  EXPECT_EQ(check(0, 0, 3), buffer);
  EXPECT_EQ(makeCopy(true).check(), "");
}
