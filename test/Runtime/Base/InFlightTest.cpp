//===- InFlightTest.cpp - How many are open at once -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/InFlight.h"
#include <gtest/gtest.h>
#include <random>

using llmc::rt::InFlight;

TEST(InFlight, IsNoneOfNone) { EXPECT_EQ(InFlight<int>().most(), 0); }

TEST(InFlight, CountsBothEnds) {
  InFlight<int> spans;
  spans.touch(0, 0);
  spans.touch(0, 3);
  EXPECT_EQ(spans.most(), 1);
  spans.touch(1, 3); // both are open at 3
  EXPECT_EQ(spans.most(), 2);
  spans.touch(2, 4); // no longer 0
  EXPECT_EQ(spans.most(), 2);
  spans.touch(1, 4);
  EXPECT_EQ(spans.most(), 2);
}

TEST(InFlight, TakesTimesInAnyOrder) {
  InFlight<int> spans;
  for (int64_t at : {7, 2, 5})
    spans.touch(0, at);
  spans.touch(1, 2);
  spans.touch(2, 7);
  EXPECT_EQ(spans.most(), 2);
}

/// Against counting at each time.
TEST(InFlight, EqualsTheCountAtEachTime) {
  std::mt19937 engine(3);
  for (int trial = 0; trial < 200; ++trial) {
    InFlight<int> spans;
    int64_t first[8], last[8], most = 0;
    for (int key = 0; key < 8; ++key) {
      first[key] = engine() % 12;
      last[key] = first[key] + engine() % 6;
      spans.touch(key, last[key]);
      spans.touch(key, first[key]);
    }
    for (int64_t at = 0; at < 18; ++at) {
      int64_t open = 0;
      for (int key = 0; key < 8; ++key)
        open += first[key] <= at && at <= last[key];
      most = std::max(most, open);
    }
    EXPECT_EQ(spans.most(), most) << "trial " << trial;
  }
}
