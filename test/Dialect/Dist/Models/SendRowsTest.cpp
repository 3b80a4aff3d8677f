//===- SendRowsTest.cpp - Answers of send_rows ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What devices exchange where members are split: test/EndToEnd/dropless.test.
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"

using namespace llmc::test;

namespace {
// Of two members, the first sends its row 1 to row 2 of the second, and the
// second its rows 0 and 1 to rows 1 and 2 of the first.
const char *swap = R"(
  func.func @f(%x: tensor<2x2x1xf64> {test.values = dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf64>})
      -> tensor<2x3x1xf64> {
    %s = stablehlo.constant dense<[[[9, 1], [0, 1], [9, 2], [0, 2]], [[0, 9], [2, 0], [1, 9], [1, 0]]]> : tensor<2x4x2xi64>
    %y = dist.send_rows %x, %s : tensor<2x2x1xf64>, tensor<2x4x2xi64> -> tensor<2x3x1xf64>
    return %y : tensor<2x3x1xf64>
  })";

// A batch of two, two slices to each member.
const char *batch = R"(
  func.func @f(%x: tensor<2x2x4x3xf64>) -> tensor<2x2x5x3xf64> {
    %s = stablehlo.constant dense<[
      [[[0, 1, 2, 3], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 2, 0]], [[0, 2, 2, 3], [2, 0, 1, 1], [2, 0, 2, 3], [1, 1, 1, 1]]],
      [[[3, 2, 1, 0], [1, 1, 1, 0], [4, 0, 0, 0], [1, 1, 0, 1]], [[0, 3, 0, 0], [0, 1, 0, 2], [0, 1, 0, 1], [1, 0, 0, 2]]]
    ]> : tensor<2x2x4x4xi64>
    %y = dist.send_rows %x, %s : tensor<2x2x4x3xf64>, tensor<2x2x4x4xi64> -> tensor<2x2x5x3xf64>
    return %y : tensor<2x2x5x3xf64>
  })";

TEST(SendRows, RowsOrZeros) {
  EXPECT_EQ(evaluate(swap), std::vector<double>({0, 3, 4, 0, 0, 2}));
}

TEST(SendRows, IsAGatherWhereNothingIsSplit) {
  EXPECT_TRUE(checkDecomposition(swap, 0));
  EXPECT_TRUE(checkDecomposition(batch, 0));
}

TEST(SendRows, ItsCotangentGoesBack) {
  EXPECT_TRUE(checkLinear(swap));
  EXPECT_TRUE(checkLinear(batch));
}

TEST(SendRows, MembersAreWholeUntilRowsAreExchanged) {
  EXPECT_EQ(printRule(swap),
            "([a, b, d],[a, e, f])->([a, c, d]) {a=2 whole, b=2 whole, c=3 "
            "whole, d=1, e=4 whole, f=2 whole}");
  EXPECT_TRUE(checkRules(swap));
  EXPECT_TRUE(checkRules(batch));
}
} // namespace
