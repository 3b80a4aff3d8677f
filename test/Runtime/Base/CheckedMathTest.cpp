//===- CheckedMathTest.cpp - Arithmetic that reports overflow -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CheckedMath.h"

#include <gtest/gtest.h>
#include <utility>

using namespace llmc::rt;

TEST(CheckedMath, OverflowIsRemembered) {
  Checked big = INT64_MAX;
  EXPECT_FALSE((big + 1).valid());
  EXPECT_FALSE((big + 1 - 1).valid());
  EXPECT_FALSE((big * 2).valid());
  EXPECT_EQ((Checked(6) * 7 - 2).value(), 40);
  EXPECT_FALSE((big + 1).within(INT64_MIN, INT64_MAX));
  EXPECT_TRUE(Checked(5).within(0, 5));
}

TEST(CheckedMath, Products) {
  EXPECT_EQ(checkedProduct({2, 3, 4}).value(), 24);
  EXPECT_EQ(checkedProduct({}).value(), 1);
  EXPECT_FALSE(checkedProduct({-1, 3}).valid());
  EXPECT_FALSE(checkedProduct({INT64_MAX, INT64_MAX}).valid());
}

TEST(CheckedMath, FloorDivision) {
  EXPECT_EQ(floorDiv(-7, 2), -4);
  EXPECT_EQ(floorMod(-7, 2), 1);
  EXPECT_EQ(floorDiv(7, -2), -4);
  EXPECT_EQ(floorMod(7, -2), -1);
  EXPECT_FALSE(floorDiv(1, 0));
  EXPECT_FALSE(floorDiv(INT64_MIN, -1));
  EXPECT_EQ(floorMod(INT64_MIN, -1), 0);
}

TEST(CheckedMath, AlignUp) {
  EXPECT_EQ(alignUp(65, 64).value(), 128);
  EXPECT_EQ(alignUp(64, 64).value(), 64);
  EXPECT_FALSE(alignUp(INT64_MAX, 64).valid());
}

// The last value that is in, the first that is out.
TEST(CheckedMath, Ends) {
  EXPECT_EQ((Checked(INT64_MAX - 1) + 1).get(), INT64_MAX);
  EXPECT_EQ((Checked(INT64_MIN + 1) - 1).get(), INT64_MIN);
  EXPECT_FALSE((Checked(INT64_MIN) - 1).get());
  EXPECT_EQ((Checked(INT64_MIN / 2) * 2).get(), INT64_MIN);
  EXPECT_FALSE((Checked(1) - Checked::overflow()).valid());
  EXPECT_FALSE((Checked::overflow() + 1).valid());
  for (auto [value, within] : {std::pair<int64_t, bool>{-1, false},
                               {0, true},
                               {5, true},
                               {6, false}}) {
    EXPECT_EQ(Checked(value).within(0, 5), within) << value;
  }
  EXPECT_EQ(checkedProduct({0, 3}).get(), 0);
  EXPECT_EQ(checkedProduct({INT64_MAX, 1}).get(), INT64_MAX);
  // An overflow is one even if a later size is 0.
  EXPECT_FALSE(checkedProduct({INT64_MAX, 2, 0}).valid());
}

TEST(CheckedMath, FloorDivisionOfAllSigns) {
  for (int64_t b : {-3, -2, -1, 1, 2, 3}) {
    for (int64_t a = -7; a <= 7; ++a) {
      int64_t q = *floorDiv(a, b), r = *floorMod(a, b);
      EXPECT_EQ(q * b + r, a) << a << " by " << b;
      EXPECT_TRUE(b > 0 ? r >= 0 && r < b : r <= 0 && r > b)
          << a << " by " << b;
    }
  }
  EXPECT_EQ(floorDiv(INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(floorDiv(INT64_MIN + 1, -1), INT64_MAX);
  EXPECT_FALSE(floorMod(0, 0));
}

TEST(CheckedMath, AlignUpEnds) {
  EXPECT_EQ(alignUp(0, 64).value(), 0);
  EXPECT_EQ(alignUp(1, 64).value(), 64);
  EXPECT_EQ(alignUp(INT64_MAX - 63, 64).value(), INT64_MAX - 63);
  EXPECT_FALSE(alignUp(INT64_MAX - 62, 64).valid());
}
