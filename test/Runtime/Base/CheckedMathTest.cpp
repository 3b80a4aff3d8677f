//===- CheckedMathTest.cpp - Arithmetic that reports overflow -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CheckedMath.h"

#include <gtest/gtest.h>

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
