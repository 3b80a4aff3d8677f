//===- ExpressionTest.cpp - Expressions of plans --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

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
  ExprId parameterAt(int64_t number) {
    b.plan().expressions.push_back({ExprOp::parameter, -1, -1, number});
    return static_cast<ExprId>(b.plan().expressions.size()) - 1;
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
  // So is what is made of it, on either side.
  ExprId none = b.binary(ExprOp::floorDiv, big, zero);
  for (ExprId e :
       {b.binary(ExprOp::min, none, zero), b.binary(ExprOp::min, zero, none),
        b.binary(ExprOp::min, none, none)}) {
    EXPECT_FALSE(value(e));
    EXPECT_FALSE(range(e));
  }
  EXPECT_FALSE(value(parameterAt(1)));
  EXPECT_FALSE(range(parameterAt(1)));
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

// Alignment is that of every value, not of the first and the last: 2 * x over
// three devices is 0, 2, 4.
TEST(IsMultipleOf, StridesCount) {
  PlanBuilder b{Mesh{{{"x", 3}}, -1}};
  IntervalScope scope{{{0, 2}}, {0, 4}, {{4, 12}}};
  auto isMultiple = [&](ExprId e, int64_t size) {
    return isMultipleOf(b.plan().expressions, e, scope, size);
  };
  ExprId x = b.coordinate(0);
  EXPECT_FALSE(isMultiple(b.times(2, x), 4));
  EXPECT_TRUE(isMultiple(b.times(2, x), 2));
  EXPECT_FALSE(isMultiple(x, 2));
  EXPECT_TRUE(isMultiple(x, 1));
  ExprId four = b.times(4, x), eight = b.times(8, b.microbatch());
  ExprId two = b.constant(2), six = b.constant(6);
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::add, four, eight), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::add, four, eight), 8));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::add, four, two), 4));
  // 16 by 4, 12 and 20: of a divisor that moves, the low bits say nothing.
  ExprId odd = b.binary(ExprOp::add, b.times(8, x), b.constant(4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::floorDiv, b.constant(16), odd), 4));
  ExprId both = b.binary(ExprOp::add, four, two);
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::sub, both, two), 4));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::add, both, six), 4));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::mul, both, two), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::mul, both, two), 8));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::mul, both, eight), 16));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::floorDiv, eight, two), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::floorDiv, eight, two), 8));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::floorDiv, eight, six), 2));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::mod, eight, b.constant(12)), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::mod, eight, six), 4));
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::min, four, eight), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::max, four, two), 4));
  EXPECT_FALSE(isMultiple(b.binary(ExprOp::less, x, two), 2));
  EXPECT_TRUE(isMultiple(b.constant(-8), 8));
  EXPECT_FALSE(isMultiple(b.constant(-8), 16));
  // A point, whatever it is made of: min(x, 0).
  EXPECT_TRUE(isMultiple(b.binary(ExprOp::min, x, b.constant(0)), 8));
}

// What it says is true of all values, for all small expressions.
TEST(IsMultipleOf, HoldsForEveryValue) {
  PlanBuilder b{Mesh{{{"x", 5}}, -1}};
  IntervalScope scope{{{0, 4}}, {0, 6}, {}};
  std::vector<ExprId> leaves = {b.constant(-6), b.constant(1), b.constant(2),
                                b.constant(4), b.coordinate(0)};
  std::vector<ExprId> inner;
  for (ExprOp op : {ExprOp::add, ExprOp::sub, ExprOp::mul}) {
    for (ExprId leaf : leaves) {
      inner.push_back(b.binary(op, leaf, b.times(4, b.microbatch())));
    }
  }
  int certain = 0;
  for (int op = int(ExprOp::add); op < numExprOps; ++op) {
    for (ExprId lhs : inner) {
      for (ExprId rhs : leaves) {
        ExprId e = b.binary(static_cast<ExprOp>(op), lhs, rhs);
        const ExprTable &table = b.plan().expressions;
        if (!bound(table, e, scope)) {
          continue;
        }
        for (int64_t size : {2, 4, 8}) {
          bool always = true;
          for (int64_t i = 0; i < 5 * 7; ++i) {
            int64_t x = i % 5;
            always &= *evaluate(table, e, {&x, i / 5, nullptr, 0}) % size == 0;
          }
          bool said = isMultipleOf(table, e, scope, size);
          EXPECT_LE(said, always)
              << describe(table, e, {"x"}) << " by " << size;
          certain += said;
        }
      }
    }
  }
  EXPECT_GT(certain, 300);
}

// Bounds are no wider than they need be.
TEST_F(Expression, BoundsAreExact) {
  ExprId x = b.coordinate(0), y = b.coordinate(1), p = parameterAt(0);
  auto expect = [&](ExprId e, int64_t low, int64_t high) {
    auto bounds = range(e);
    ASSERT_TRUE(bounds);
    EXPECT_EQ(bounds->low, low);
    EXPECT_EQ(bounds->high, high);
  };
  expect(b.binary(ExprOp::add, x, y), 0, 5);
  expect(b.binary(ExprOp::sub, x, y), -2, 3);
  expect(b.binary(ExprOp::mul, b.constant(-2), x), -6, 0);
  expect(b.binary(ExprOp::min, x, b.constant(2)), 0, 2);
  expect(b.binary(ExprOp::max, x, b.constant(2)), 2, 3);
  expect(p, 2, 4);
  expect(b.binary(ExprOp::floorDiv, b.microbatch(), p), 0, 3);
  expect(b.binary(ExprOp::floorDiv, b.microbatch(), b.constant(1)), 0, 7);
  EXPECT_FALSE(range(b.binary(ExprOp::floorDiv, x, y)));
  EXPECT_FALSE(range(b.binary(ExprOp::mod, x, y)));
  EXPECT_FALSE(range(b.binary(ExprOp::floorDiv, x, b.constant(-2))));
  // A remainder without a wrap keeps its bounds, with one it has them all.
  expect(b.binary(ExprOp::mod, b.binary(ExprOp::add, x, b.constant(4)),
                  b.constant(4)),
         0, 3);
  expect(b.binary(ExprOp::mod, b.binary(ExprOp::add, y, b.constant(5)),
                  b.constant(4)),
         1, 3);
  expect(b.binary(ExprOp::mod, b.binary(ExprOp::add, y, b.constant(6)),
                  b.constant(4)),
         0, 3);
  expect(b.binary(ExprOp::mod, x, p), 0, 3);
  expect(b.binary(ExprOp::equal, x, y), 0, 1);
  expect(b.binary(ExprOp::equal, b.constant(3), b.constant(3)), 1, 1);
  expect(b.binary(ExprOp::equal, x, b.constant(4)), 0, 0);
  expect(b.binary(ExprOp::equal, b.constant(-1), x), 0, 0);
  expect(b.binary(ExprOp::equal, x, b.constant(3)), 0, 1);
  expect(b.binary(ExprOp::equal, b.constant(0), x), 0, 1);
  expect(b.binary(ExprOp::less, x, b.constant(4)), 1, 1);
  expect(b.binary(ExprOp::less, x, b.constant(3)), 0, 1);
  expect(b.binary(ExprOp::less, x, b.constant(0)), 0, 0);
  expect(b.binary(ExprOp::lessEqual, x, b.constant(3)), 1, 1);
  expect(b.binary(ExprOp::lessEqual, x, b.constant(0)), 0, 1);
  expect(b.binary(ExprOp::lessEqual, x, b.constant(-1)), 0, 0);
}

TEST_F(Expression, ParametersEnd) {
  EXPECT_EQ(value(parameterAt(0)), 11);
  EXPECT_FALSE(value(parameterAt(1)));
  EXPECT_FALSE(range(parameterAt(1)));
  EXPECT_EQ(range(parameterAt(0))->high, 4);
}

TEST_F(Expression, DescribesEveryOp) {
  const char *texts[] = {"a + b",   "a - b",     "a * b",     "a floordiv b",
                         "a mod b", "min(a, b)", "max(a, b)", "a == b",
                         "a < b",   "a <= b"};
  for (int op = int(ExprOp::add); op < numExprOps; ++op) {
    ExprId e = b.binary(static_cast<ExprOp>(op), parameterAt(3), b.constant(7));
    std::string text = texts[op - int(ExprOp::add)];
    text.replace(text.find('a', text[0] == 'm' ? 3 : 0), 1, "parameter(3)");
    text.replace(text.rfind('b'), 1, "7");
    EXPECT_EQ(describe(b.plan().expressions, e, {"x", "y"}), text);
  }
}
