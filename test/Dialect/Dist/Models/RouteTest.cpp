//===- RouteTest.cpp - Answers of route -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The local form, which exchanges rows between devices, is tested with those of
// all ops in test/Transforms/Partition/LocalizeTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"

using namespace llmc::test;

namespace {
const char *rotation = R"(
  func.func @f(%x: tensor<2x4xf64>) -> tensor<2x4xf64> {
    %y = dist.route %x dim 1 from [3, 0, 1, 2] : tensor<2x4xf64>
    return %y : tensor<2x4xf64>
  })";

const char *some = R"(
  func.func @f(%x: tensor<4x2xf64> {test.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>})
      -> tensor<4x2xf64> {
    %y = dist.route %x dim 0 from [-1, 0, 3, -1] : tensor<4x2xf64>
    return %y : tensor<4x2xf64>
  })";

TEST(Route, TakesRowsOrZeros) {
  EXPECT_EQ(evaluate(some), std::vector<double>({0, 0, 1, 2, 7, 8, 0, 0}));
}

TEST(Route, IsSlicesWhereNothingIsSplit) {
  EXPECT_TRUE(checkDecomposition(rotation, 0));
  EXPECT_TRUE(checkDecomposition(some, 0));
  EXPECT_TRUE(checkDecomposition(R"(
    func.func @f(%x: tensor<0x2xf64>) -> tensor<0x2xf64> {
      %y = dist.route %x dim 0 from [] : tensor<0x2xf64>
      return %y : tensor<0x2xf64>
    })",
                                 0));
  EXPECT_TRUE(checkDecomposition(R"(
    func.func @f(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
      %y = dist.route %x dim 0 from [-1, -1] : tensor<2x2xi32>
      return %y : tensor<2x2xi32>
    })",
                                 0));
}

TEST(Route, ItsCotangentGoesBack) {
  EXPECT_TRUE(checkLinear(rotation));
  EXPECT_TRUE(checkLinear(some));
  std::string text = printVjp(rotation, "route");
  EXPECT_NE(text.find("dim 1 from [1, 2, 3, 0]"), std::string::npos) << text;
  text = printVjp(some, "route");
  EXPECT_NE(text.find("dim 0 from [1, -1, -1, 2]"), std::string::npos) << text;
}

TEST(Route, ItsRowsAreWholeUntilTheyAreExchanged) {
  EXPECT_EQ(printRule(rotation), "([a, b])->([a, b]) {a=2, b=4 whole}");
  RuleChecks checks;
  EXPECT_TRUE(checkRules(rotation, &checks));
  EXPECT_EQ(checks.numHalved, 1);
  // Zeros are no terms of a maximum.
  EXPECT_EQ(checks.numCarried, 6);
  checks = {};
  EXPECT_TRUE(checkRules(some, &checks));
  EXPECT_EQ(checks.numCarried, 1);
  EXPECT_EQ(printRule(R"(
    func.func @f(%x: tensor<2x4xf64>) -> tensor<2x4xf64> {
      %y = dist.route %x dim 1 from [3, 0, 1, 2] split : tensor<2x4xf64>
      return %y : tensor<2x4xf64>
    })"),
            "([a, b])->([a, b]) {a=2, b=4}");
}
} // namespace
