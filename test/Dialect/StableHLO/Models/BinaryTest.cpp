//===- BinaryTest.cpp - Answers of arithmetic on two operands -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivativeHarness.h"
#include <gmock/gmock.h>

using namespace llmc::test;
using testing::ElementsAre;

namespace {
struct BinaryCase {
  const char *op;
  double lowX, highX, lowY, highY;
};

std::string bounds(double low, double high) {
  return "{test.low = " + std::to_string(low) +
         " : f64, test.high = " + std::to_string(high) + " : f64}";
}

class BinaryDerivative : public testing::TestWithParam<BinaryCase> {};

TEST_P(BinaryDerivative, AgreesWithDifferences) {
  const BinaryCase &c = GetParam();
  EXPECT_TRUE(checkDerivative(
      "func.func @f(%x: tensor<4x3xf64> " + bounds(c.lowX, c.highX) +
      ", %y: tensor<4x3xf64> " + bounds(c.lowY, c.highY) +
      ") -> tensor<4x3xf64> {\n %z = stablehlo." + c.op +
      " %x, %y : tensor<4x3xf64>\n return %z : tensor<4x3xf64>\n}"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BinaryDerivative,
    testing::Values(BinaryCase{"atan2", 0.5, 2, -2, -0.5},
                    BinaryCase{"add", -1, 1, -1, 1},
                    BinaryCase{"subtract", -1, 1, -1, 1},
                    BinaryCase{"multiply", -1, 1, -1, 1},
                    BinaryCase{"divide", -1, 1, 0.5, 2},
                    BinaryCase{"remainder", 4.1, 4.9, 0.9, 1.02},
                    BinaryCase{"remainder", -4.9, -4.1, 0.9, 1.02},
                    BinaryCase{"remainder", 4.1, 4.9, -1.02, -0.9},
                    BinaryCase{"power", 0.5, 2, -2, 3},
                    BinaryCase{"maximum", -1, 1, -1, 1},
                    BinaryCase{"minimum", -1, 1, -1, 1}));

// Both contributions of x * x and x - x add up.
TEST(BinaryDerivative, AddsContributionsOfOneOperand) {
  EXPECT_TRUE(checkDerivative(R"(
    func.func @f(%x: tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
      %y = stablehlo.multiply %x, %x : tensor<5xf64>
      %z = stablehlo.divide %y, %y : tensor<5xf64>
      %w = stablehlo.subtract %x, %y : tensor<5xf64>
      return %z, %w : tensor<5xf64>, tensor<5xf64>
    })"));
}

TEST(BinaryDerivative, LinearOpsAreExact) {
  EXPECT_TRUE(checkLinear(R"(
    func.func @f(%x: tensor<5xf64>, %y: tensor<5xf64>) -> tensor<5xf64> {
      %0 = stablehlo.subtract %x, %y : tensor<5xf64>
      %1 = stablehlo.add %0, %x : tensor<5xf64>
      return %1 : tensor<5xf64>
    })"));
  EXPECT_TRUE(checkLinear(R"(
    func.func @f(%x: tensor<5xf64>, %y: tensor<5xf64> {test.fixed})
        -> (tensor<5xf64>, tensor<5xf64>) {
      %0 = stablehlo.multiply %x, %y : tensor<5xf64>
      %1 = stablehlo.divide %x, %y : tensor<5xf64>
      return %0, %1 : tensor<5xf64>, tensor<5xf64>
    })"));
}

/// @f(%x) = power(%x, exponent) with a constant exponent; x may be negative.
std::string powerOf(const std::string &exponent) {
  return "func.func @f(%x: tensor<6xf64>) -> tensor<6xf64> {\n"
         "%p = stablehlo.constant dense<" +
         exponent +
         "> : tensor<f64>\n"
         "%b = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<f64>) -> "
         "tensor<6xf64>\n"
         "%y = stablehlo.power %x, %b : tensor<6xf64>\n"
         "return %y : tensor<6xf64>\n}";
}

TEST(PowerDerivative, ConstantExponents) {
  for (const char *exponent : {"0.0", "1.0", "2.0", "3.0", "4.0"})
    EXPECT_TRUE(checkDerivative(powerOf(exponent))) << exponent;
}

// p * x^(p-1) at x = 0 is 0 for p = 0, not 0 * inf; the logarithm of 0 is never
// taken.
TEST(PowerDerivative, IsFiniteAtZero) {
  auto gradients = computeGradients(R"(
    func.func @f(
        %x: tensor<3xf64> {test.values = dense<[0.0, 0.0, 0.0]> : tensor<3xf64>},
        %p: tensor<3xf64> {test.values = dense<[0.0, 1.0, 2.0]> : tensor<3xf64>})
        -> tensor<3xf64> {
      %y = stablehlo.power %x, %p : tensor<3xf64>
      return %y : tensor<3xf64>
    })");
  EXPECT_THAT(gradients,
              ElementsAre(ElementsAre(0, 1, 0), ElementsAre(0, 0, 0)));
}

TEST(ExtremumDerivative, SplitsTies) {
  auto gradients = computeGradients(R"(
    func.func @f(
        %x: tensor<3xf64> {test.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf64>},
        %y: tensor<3xf64> {test.values = dense<[2.0, 2.0, 2.0]> : tensor<3xf64>})
        -> (tensor<3xf64>, tensor<3xf64>) {
      %0 = stablehlo.maximum %x, %y : tensor<3xf64>
      %two = stablehlo.constant dense<2.0> : tensor<3xf64>
      %m = stablehlo.minimum %x, %y : tensor<3xf64>
      %1 = stablehlo.multiply %m, %two : tensor<3xf64>
      return %0, %1 : tensor<3xf64>, tensor<3xf64>
    })");
  EXPECT_THAT(gradients,
              ElementsAre(ElementsAre(2, 1.5, 1), ElementsAre(1, 1.5, 2)));
}

// A constant is an operand like any other: half of the cotangent goes there.
TEST(ExtremumDerivative, SplitsTiesWithConstants) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<3xf64> {test.values = dense<[-1.0, 0.0, 1.0]> : tensor<3xf64>})
        -> (tensor<3xf64>, tensor<3xf64>) {
      %c = stablehlo.constant dense<0.0> : tensor<f64>
      %z = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %0 = stablehlo.maximum %x, %z : tensor<3xf64>
      %1 = stablehlo.maximum %z, %x : tensor<3xf64>
      return %0, %1 : tensor<3xf64>, tensor<3xf64>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(BinaryDerivative, DerivesWhatIsNeeded) {
  for (const char *op : {"add", "subtract", "multiply", "divide", "remainder",
                         "power", "maximum", "minimum"})
    for (bool isFirst : {false, true}) {
      auto mark = [](double low, double high, bool isFixed) {
        std::string text = bounds(low, high);
        text.pop_back();
        return text + (isFixed ? ", test.fixed}" : "}");
      };
      EXPECT_TRUE(checkDerivative(
          "func.func @f(%x: tensor<4x3xf64> " + mark(4.1, 4.9, isFirst) +
          ", %y: tensor<4x3xf64> " + mark(0.9, 1.02, !isFirst) +
          ") -> tensor<4x3xf64> {\n %z = stablehlo." + op +
          " %x, %y : tensor<4x3xf64>\n return %z : tensor<4x3xf64>\n}"))
          << op << isFirst;
    }
}
} // namespace
