//===- ChoiceTest.cpp - Answers of select, clamp and convert --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivativeHarness.h"
#include <gmock/gmock.h>

using namespace llmc::test;
using testing::ElementsAre;

namespace {
TEST(SelectDerivative, FollowsThePredicate) {
  EXPECT_TRUE(checkLinear(R"(
    func.func @f(%p: tensor<6xi1>, %x: tensor<6xf64>, %y: tensor<6xf64>) -> tensor<6xf64> {
      %0 = stablehlo.select %p, %x, %y : tensor<6xi1>, tensor<6xf64>
      return %0 : tensor<6xf64>
    })"));
  EXPECT_TRUE(checkLinear(R"(
    func.func @f(%p: tensor<i1>, %x: tensor<6xf64>, %y: tensor<6xf64>) -> tensor<6xf64> {
      %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<6xf64>
      return %0 : tensor<6xf64>
    })"));
}

TEST(ClampDerivative, RankedAndScalarBounds) {
  EXPECT_TRUE(checkDerivative(R"(
    func.func @f(%a: tensor<8xf64> {test.low = -0.9 : f64, test.high = -0.3 : f64},
        %x: tensor<8xf64>, %b: tensor<8xf64> {test.low = 0.3 : f64, test.high = 0.9 : f64})
        -> tensor<8xf64> {
      %0 = stablehlo.clamp %a, %x, %b : tensor<8xf64>
      return %0 : tensor<8xf64>
    })"));
  EXPECT_TRUE(checkDerivative(R"(
    func.func @f(%a: tensor<f64> {test.low = -0.5 : f64, test.high = -0.4 : f64},
        %x: tensor<4x5xf64>, %b: tensor<f64> {test.low = 0.4 : f64, test.high = 0.5 : f64})
        -> tensor<4x5xf64> {
      %0 = stablehlo.clamp %a, %x, %b : (tensor<f64>, tensor<4x5xf64>, tensor<f64>) -> tensor<4x5xf64>
      return %0 : tensor<4x5xf64>
    })"));
}

// At a bound the comparison is strict: nobody gets the cotangent.
TEST(ClampDerivative, IsStrict) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<3xf64> {test.values = dense<[-1.0, 0.0, 1.0]> : tensor<3xf64>})
        -> tensor<3xf64> {
      %a = stablehlo.constant dense<-1.0> : tensor<f64>
      %b = stablehlo.constant dense<1.0> : tensor<f64>
      %0 = stablehlo.clamp %a, %x, %b : (tensor<f64>, tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
      return %0 : tensor<3xf64>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(0, 1, 0)));
}

// With low > high the result is high everywhere. As in JAX, high gets the
// cotangent where x is above it, and nobody elsewhere.
TEST(ClampDerivative, CrossedBounds) {
  auto gradients = computeGradients(R"(
    func.func @f(%a: tensor<4xf64> {test.values = dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf64>},
        %x: tensor<4xf64> {test.values = dense<[-2.0, -1.0, 0.0, 2.0]> : tensor<4xf64>},
        %b: tensor<4xf64> {test.values = dense<[-1.0, -1.0, -1.0, -1.0]> : tensor<4xf64>})
        -> tensor<4xf64> {
      %0 = stablehlo.clamp %a, %x, %b : tensor<4xf64>
      return %0 : tensor<4xf64>
    })");
  EXPECT_THAT(gradients,
              ElementsAre(ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, 0, 0),
                          ElementsAre(0, 0, 1, 1)));
}

// The parameter's cotangent has its own type, rounded on the way.
TEST(ConvertDerivative, ConvertsBack) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<2xf32>, %n: tensor<2xi32>) -> tensor<2xf32> {
      %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>
      %c = stablehlo.constant dense<1.01> : tensor<2xbf16>
      %1 = stablehlo.multiply %0, %c : tensor<2xbf16>
      %2 = stablehlo.convert %1 : (tensor<2xbf16>) -> tensor<2xf32>
      %3 = stablehlo.convert %n : (tensor<2xi32>) -> tensor<2xf32>
      %4 = stablehlo.add %2, %3 : tensor<2xf32>
      return %4 : tensor<2xf32>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(1.0078125, 1.0078125)));
}

// Inactive ops end the sweep without a cotangent.
TEST(InactiveOps, GiveZero) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
      %0 = stablehlo.floor %x : tensor<2xf64>
      %1 = stablehlo.sign %x : tensor<2xf64>
      %2 = stablehlo.ceil %1 : tensor<2xf64>
      %3 = stablehlo.add %0, %2 : tensor<2xf64>
      return %3 : tensor<2xf64>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(0, 0)));
}

TEST(ClampDerivative, DerivesWhatIsNeeded) {
  std::string low = "{test.low = -0.5 : f64, test.high = -0.4 : f64",
              high = "{test.low = 0.4 : f64, test.high = 0.5 : f64";
  auto text = [&](bool a, bool x, bool b) {
    auto mark = [](bool isFixed) { return isFixed ? ", test.fixed}" : "}"; };
    return "func.func @f(%a: tensor<4xf64> " + low + mark(a) +
           ", %x: tensor<4xf64>" + (x ? " {test.fixed}" : "") +
           ", %b: tensor<4xf64> " + high + mark(b) +
           ") -> tensor<4xf64> {\n  %0 = stablehlo.clamp %a, %x, %b : "
           "tensor<4xf64>\n  return %0 : tensor<4xf64>\n}";
  };
  for (int fixed = 1; fixed < 7; ++fixed)
    EXPECT_TRUE(checkDerivative(text(fixed & 1, fixed & 2, fixed & 4)))
        << fixed;
}

// By way of integers nothing flows.
TEST(ConvertDerivative, IsZeroThroughIntegers) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xi32>
      %1 = stablehlo.convert %0 : (tensor<2xi32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(0, 0)));
}
} // namespace
