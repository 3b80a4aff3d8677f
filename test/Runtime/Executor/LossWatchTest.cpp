//===- LossWatchTest.cpp - Which loss is none to go on from ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Loop/LossWatch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace llmc::rt::exec {
namespace {

TEST(LossWatch, RefusesWhatIsNotFinite) {
  LossWatch watch(true, 0), lenient(false, 0);
  EXPECT_TRUE(watch.judge(1e30, 0).ok());
  Status status = watch.judge(NAN, 7);
  EXPECT_EQ(status.kind(), ErrorKind::numeric);
  EXPECT_EQ(status.error().message,
            "expected a finite loss, got nan at step 7");
  EXPECT_FALSE(watch.judge(INFINITY, 8).ok());
  EXPECT_TRUE(lenient.judge(NAN, 7).ok());
}

// Of 1, 2, … 8 the median is 5: 10 is twice as much, and no more.
TEST(LossWatch, ASpikeIsAboveTheFactor) {
  LossWatch watch(true, 2);
  for (int step = 0; step < 8; ++step) {
    EXPECT_TRUE(watch.judge(8 - step, step).ok()) << step;
  }
  LossWatch other = watch;
  EXPECT_TRUE(other.judge(10, 8).ok());
  Status status = watch.judge(10.5, 8);
  EXPECT_EQ(status.kind(), ErrorKind::numeric);
  EXPECT_EQ(status.error().message,
            "expected a loss of at most 2 times the median of the last 8, 5, "
            "got 10.5 at step 8");
}

TEST(LossWatch, FewLossesAndNegativeOnesAreNotJudged) {
  LossWatch few(true, 2);
  for (int step = 0; step < 7; ++step) {
    EXPECT_TRUE(few.judge(1, step).ok());
  }
  EXPECT_TRUE(few.judge(100, 7).ok());
  EXPECT_FALSE(few.judge(100, 8).ok());
  LossWatch negative(true, 2);
  for (int step = 0; step < 20; ++step) {
    EXPECT_TRUE(negative.judge(-1, step).ok());
  }
  EXPECT_TRUE(negative.judge(1, 20).ok());
}

// What is not finite or a spike does not count, and what is old neither.
TEST(LossWatch, OnlyTheLastGoodOnesCount) {
  LossWatch watch(false, 3);
  for (int step = 0; step < 8; ++step) {
    EXPECT_TRUE(watch.judge(1, step).ok());
  }
  for (int step = 8; step < 30; ++step) {
    EXPECT_FALSE(watch.judge(4, step).ok());
    EXPECT_TRUE(watch.judge(NAN, step).ok());
  }
  for (int step = 30; step < 54; ++step) {
    EXPECT_TRUE(watch.judge(2, step).ok());
  }
  EXPECT_TRUE(watch.judge(5, 54).ok());
}

} // namespace
} // namespace llmc::rt::exec
