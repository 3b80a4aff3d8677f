//===- RuleTest.cpp - Rules of the element-wise ops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "RuleHarness.h"

using namespace llmc::test;

namespace {
TEST(ElementwiseRules, HoldForFloats) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<4x6xf64>, %y: tensor<4x6xf64>, %p: tensor<4x6xi1>, %s: tensor<i1>,
                 %b: tensor<f64>) {
      %0 = stablehlo.add %x, %y : tensor<4x6xf64>
      %1 = stablehlo.subtract %x, %y : tensor<4x6xf64>
      %2 = stablehlo.multiply %x, %y : tensor<4x6xf64>
      %3 = stablehlo.divide %x, %y : tensor<4x6xf64>
      %4 = stablehlo.maximum %x, %y : tensor<4x6xf64>
      %5 = stablehlo.minimum %x, %y : tensor<4x6xf64>
      %6 = stablehlo.negate %x : tensor<4x6xf64>
      %7 = stablehlo.exponential %x : tensor<4x6xf64>
      %8 = stablehlo.select %p, %x, %y : tensor<4x6xi1>, tensor<4x6xf64>
      %9 = stablehlo.select %s, %x, %y : tensor<i1>, tensor<4x6xf64>
      %10 = stablehlo.clamp %b, %x, %y : (tensor<f64>, tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>
      %11 = stablehlo.compare LT, %x, %y : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xi1>
      %12 = stablehlo.is_finite %x : (tensor<4x6xf64>) -> tensor<4x6xi1>
      %13 = stablehlo.power %x, %y : tensor<4x6xf64>
      %14 = chlo.square %x : tensor<4x6xf64> -> tensor<4x6xf64>
      return
    })",
                         &checks));
  EXPECT_EQ(checks.numHalved, 30); // both dimensions of each op
  EXPECT_GE(checks.numCarried, 20);
  EXPECT_EQ(checks.numSkipped, 0);
}

TEST(ElementwiseRules, HoldForIntegersAndBooleans) {
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %p: tensor<4xi1>, %q: tensor<4xi1>) {
      %0 = stablehlo.add %x, %y : tensor<4xi32>
      %1 = stablehlo.multiply %x, %y : tensor<4xi32>
      %2 = stablehlo.divide %x, %y : tensor<4xi32>
      %3 = stablehlo.and %x, %y : tensor<4xi32>
      %4 = stablehlo.or %x, %y : tensor<4xi32>
      %5 = stablehlo.xor %x, %y : tensor<4xi32>
      %6 = stablehlo.not %x : tensor<4xi32>
      %7 = stablehlo.add %p, %q : tensor<4xi1>
      %8 = stablehlo.multiply %p, %q : tensor<4xi1>
      %9 = stablehlo.maximum %p, %q : tensor<4xi1>
      %10 = stablehlo.minimum %p, %q : tensor<4xi1>
      %11 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf64>
      return
    })"));
}

TEST(ElementwiseRules, HoldForConversions) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
      %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>
      %1 = stablehlo.convert %y : (tensor<4xf64>) -> tensor<4xbf16>
      return
    })",
                         &checks));
  // A narrowing conversion carries max and min, a widening one sums too.
  EXPECT_EQ(checks.numCarried, 5);
}

// Values that depend on the position do not split there; an iota does, by its
// local form (test/Transforms/Partition/localize-ops.mlir).
TEST(ElementwiseRules, HoldForConstants) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f() {
      %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
      return
    })",
                         &checks));
  EXPECT_EQ(checks.numHalved, 0);
}

// Elements beside the text may all differ.
TEST(ElementwiseRules, ResourcesAreWhole) {
  auto rule = [](const std::string &value) {
    return printRule("func.func @f() {\n  %0 = stablehlo.constant " + value +
                     " : tensor<2xf32>\n  return\n}\n{-# dialect_resources: "
                     "{builtin: {weights: \"0x040000000000803F0000803F\"}} "
                     "#-}");
  };
  EXPECT_EQ(rule("dense_resource<weights>"), "()->([a]) {a=2 whole}");
  EXPECT_EQ(rule("dense<1.0>"), "()->([a]) {a=2}");
}
} // namespace
