//===- RotaryTest.cpp - Answers of rotary ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"
#include <algorithm>

using namespace llmc::test;

namespace {
/// One number for each pair, for each element, and of all dims.
const char *const kTables[] = {"1x4x1x3x", "1x4x1x6x", "2x4x2x6x", "1x1x1x3x"};

std::string makeRotary(const std::string &element, const std::string &dims) {
  std::string full = "tensor<2x4x2x6x" + element + ">";
  std::string table = "tensor<" + dims + element + ">";
  return "func.func @f(%x: " + full + ", %c: " + table + ", %s: " + table +
         ") -> " + full + " {\n  %y = nn.rotary %x, %c, %s : (" + full + ", " +
         table + ", " + table + ") -> " + full + "\n  return %y : " + full +
         "\n}";
}

// By the operand and by both tables.
TEST(Rotary, DerivativeAgreesWithDifferences) {
  for (const char *table : kTables)
    EXPECT_TRUE(checkDerivative(makeRotary("f64", table))) << table;
}

TEST(Rotary, DerivativeIsARotation) {
  // The forward, the operand's cotangent, and what the sines are multiplied by.
  std::string vjp = printVjp(makeRotary("f64", kTables[0]), "rotary");
  EXPECT_EQ(std::count(vjp.begin(), vjp.end(), '\n'), 3) << vjp;
}

TEST(Rotary, DecomposeIntoEqualOps) {
  struct {
    const char *element;
    double tolerance;
  } cases[] = {{"f64", 1e-15}, {"f32", 1e-6}, {"bf16", 2e-2}};
  for (const char *table : kTables)
    for (auto [element, tolerance] : cases)
      EXPECT_TRUE(checkDecomposition(makeRotary(element, table), tolerance))
          << table << " " << element;
}

TEST(Rotary, AllDimsPassButTheLast) {
  EXPECT_EQ(printRule(makeRotary("f64", kTables[0])),
            "([a, b, c, d],[1, b, 1, e],[1, b, 1, e])->([a, b, c, d]) {a=2, "
            "b=4, c=2, d=6 whole, e=3 whole}");
  EXPECT_EQ(printRule(makeRotary("f64", kTables[1])),
            "([a, b, c, d],[1, b, 1, d],[1, b, 1, d])->([a, b, c, d]) {a=2, "
            "b=4, c=2, d=6 whole}");
  for (const char *table : kTables) {
    RuleChecks checks;
    EXPECT_TRUE(checkRules(makeRotary("f64", table), &checks)) << table;
    EXPECT_EQ(checks.numHalved, 3) << table;
    EXPECT_EQ(checks.numCarried, 1) << table;
  }
}

// (1, 2) by a quarter of a turn, and (3, 4) by none.
TEST(Rotary, TurnsPairs) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<4xf64> {
      %x = stablehlo.constant dense<[1.0, 3.0, 2.0, 4.0]> : tensor<4xf64>
      %c = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
      %s = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf64>
      %y = nn.rotary %x, %c, %s : (tensor<4xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<4xf64>
      return %y : tensor<4xf64>
    })"),
            (std::vector<double>{-2, 3, 1, 4}));
}
} // namespace
