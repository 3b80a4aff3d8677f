//===- QuantizeTest.cpp - Answers of quantize -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "RuleHarness.h"
#include <cmath>
#include <limits>

using namespace llmc::test;

namespace {
/// The numbers of `values` times the scale, as floats of eight bits.
std::vector<double> quantize(const std::string &values, double scale,
                             const std::string &type) {
  return evaluate("func.func @f() -> tensor<5xf32> {\n"
                  "  %x = stablehlo.constant dense<[" +
                  values +
                  "]> : tensor<5xf32>\n"
                  "  %s = stablehlo.constant dense<" +
                  std::to_string(scale) +
                  "> : tensor<f32>\n"
                  "  %q = nn.quantize %x, %s : (tensor<5xf32>, tensor<f32>) -> "
                  "tensor<5x" +
                  type +
                  ">\n"
                  "  %y = stablehlo.convert %q : (tensor<5x" +
                  type +
                  ">) -> tensor<5xf32>\n"
                  "  return %y : tensor<5xf32>\n}");
}

// Ties go to even: 1.0625 and 1.1875 lie between multiples of an eighth.
TEST(Quantize, RoundsOnceAndSaturates) {
  EXPECT_EQ(quantize("1.0625, 1.1875, -0.3, 448.0, 1.0e+9", 1, "f8E4M3FN"),
            (std::vector<double>{1, 1.25, -0.3125, 448, 448}));
  EXPECT_EQ(quantize("1.0625, 1.1875, -0.3, 448.0, -1.0e+9", 4, "f8E4M3FN"),
            (std::vector<double>{4, 5, -1.25, 448, -448}));
  EXPECT_EQ(quantize("1.0625, 1.1875, -0.3, 448.0, 1.0e+9", 1, "f8E5M2"),
            (std::vector<double>{1, 1.25, -0.3125, 448, 57344}));
}

TEST(Quantize, KeepsWhatIsNotFinite) {
  const char *values = "0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 1.0";
  std::vector<double> narrow = quantize(values, 2, "f8E4M3FN");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(std::isnan(narrow[i])) << i;
  EXPECT_EQ(narrow[4], 2);
  std::vector<double> wide = quantize(values, 2, "f8E5M2");
  EXPECT_EQ(wide[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(wide[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(wide[2]));
}

TEST(Quantize, IsElementwiseWithOneScale) {
  std::string text =
      "func.func @f(%x: tensor<4x6xf32>, %s: tensor<f32>) -> "
      "tensor<4x6xf8E4M3FN> {\n  %y = nn.quantize %x, %s : (tensor<4x6xf32>, "
      "tensor<f32>) -> tensor<4x6xf8E4M3FN>\n  return %y : "
      "tensor<4x6xf8E4M3FN>\n}";
  EXPECT_EQ(printRule(text), "([a, b],[])->([a, b]) {a=4, b=6}");
  RuleChecks checks;
  EXPECT_TRUE(checkRules(text, &checks));
  EXPECT_EQ(checks.numHalved, 2);
  EXPECT_EQ(checks.numCarried, 0);
}
} // namespace
