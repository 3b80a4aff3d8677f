//===- ExpressionTest.cpp - Expressions of plans --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

namespace {
struct Expression : testing::Test {
  PlanBuilder b{Mesh{{{"x", 4}, {"y", 3}}, -1}};
  std::vector<int64_t> coordinates = {3, 1};
  int64_t parameter = 11;

  std::optional<int64_t> value(ExprId e, int64_t microbatch = 5) {
    return evaluate(b.plan().expressions, e,
                    {coordinates.data(), microbatch, &parameter, 1});
  }
  std::optional<Interval> range(ExprId e) {
    return bound(b.plan().expressions, e, {{{0, 3}, {0, 2}}, {0, 7}, {{2, 4}}});
  }
};
} // namespace

TEST_F(Expression, Values) {
  ExprId x = b.coordinate(0), y = b.coordinate(1), m = b.microbatch();
  EXPECT_EQ(value(b.binary(ExprOp::add, b.times(10, x), y)), 31);
  EXPECT_EQ(value(b.binary(ExprOp::mod, m, b.constant(3))), 2);
  EXPECT_EQ(value(b.binary(ExprOp::floorDiv, b.constant(-7), b.constant(2))),
            -4);
  EXPECT_EQ(value(b.binary(ExprOp::min, x, y)), 1);
  EXPECT_EQ(value(b.binary(ExprOp::max, x, y)), 3);
  EXPECT_EQ(value(b.binary(ExprOp::less, y, x)), 1);
  EXPECT_EQ(value(b.binary(ExprOp::lessEqual, x, y)), 0);
  EXPECT_EQ(value(b.binary(ExprOp::equal, x, x)), 1);
  EXPECT_EQ(value(b.binary(ExprOp::sub, x, m)), -2);
}

TEST_F(Expression, WhatIsUndefinedIsAbsent) {
  ExprId zero = b.constant(0), big = b.constant(INT64_MAX);
  EXPECT_FALSE(value(b.binary(ExprOp::floorDiv, big, zero)));
  EXPECT_FALSE(value(b.binary(ExprOp::mod, big, zero)));
  EXPECT_FALSE(value(b.binary(ExprOp::mul, big, big)));
  EXPECT_FALSE(range(b.binary(ExprOp::add, big, b.coordinate(0))));
  EXPECT_FALSE(range(b.binary(ExprOp::mod, big, b.coordinate(0))));
}

// Bounds contain every value, for all small expressions of two leaves.
TEST_F(Expression, BoundsContainValues) {
  ExprId leaves[] = {b.coordinate(0), b.coordinate(1), b.microbatch(),
                     b.constant(3), b.constant(-2)};
  for (int op = int(ExprOp::add); op < numExprOps; ++op) {
    for (ExprId lhs : leaves) {
      for (ExprId rhs : leaves) {
        ExprId e = b.binary(static_cast<ExprOp>(op), lhs, rhs);
        auto bounds = range(e);
        for (int64_t i = 0; i < 4 * 3 * 8; ++i) {
          coordinates = {i % 4, i / 4 % 3};
          auto v = value(e, i / 12);
          if (bounds) {
            ASSERT_TRUE(v);
            EXPECT_LE(bounds->low, *v);
            EXPECT_GE(bounds->high, *v);
          }
        }
      }
    }
  }
}

TEST_F(Expression, SharesAndDescribes) {
  ExprId a = b.times(5, b.coordinate(0)), again = b.times(5, b.coordinate(0));
  EXPECT_EQ(a, again);
  ExprId e = b.binary(ExprOp::add, a, b.microbatch());
  EXPECT_EQ(describe(b.plan().expressions, e, {"x", "y"}),
            "(5 * coordinate(x)) + microbatch");
  EXPECT_EQ(describe(b.plan().expressions, noExpr, {}), "0");
}
