//===- LogSumExpTest.cpp - Answers of log_sum_exp -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"
#include <cmath>

using namespace llmc::test;

namespace {
struct Dims {
  const char *dims, *rows;
};
const Dims kDims[] = {{"1", "4x2x"},  {"0", "6x2x"},  {"2", "4x6x"},
                      {"0, 2", "6x"}, {"1, 2", "4x"}, {"0, 1, 2", ""}};

/// What both ops have in common.
struct LogSumExpText {
  std::string full, rows, attributes;
  LogSumExpText(const std::string &element, Dims dims, bool isSafe = false)
      : full("tensor<4x6x2x" + element + ">"),
        rows(std::string("tensor<") + dims.rows +
             (element == "bf16" ? "f32" : element) + ">"),
        attributes(std::string("{dims = array<i64: ") + dims.dims + ">" +
                   (isSafe ? ", safe}" : "}")) {}

  std::string forward() const {
    return "func.func @f(%x: " + full +
           " {test.low = -3.0, test.high = 3.0}) -> " + rows +
           " {\n  %y = nn.log_sum_exp %x " + attributes + " : (" + full +
           ") -> " + rows + "\n  return %y : " + rows + "\n}";
  }
  std::string gradient() const {
    return "func.func @f(%x: " + full + ", %y: " + rows +
           " {test.low = 1.0, test.high = 3.0}, %g: " + rows + ") -> " + full +
           " {\n  %d = nn.log_sum_exp_grad %x, %y, %g " + attributes + " : (" +
           full + ", " + rows + ", " + rows + ") -> " + full +
           "\n  return %d : " + full + "\n}";
  }
};

TEST(LogSumExp, ExponentialsOfPartsAreJoined) {
  for (bool isSafe : {false, true})
    for (auto [element, tolerance] :
         {std::pair("f64", 1e-14), {"f32", 2e-6}, {"bf16", 2e-2}}) {
      EXPECT_TRUE(
          checkOneRound(LogSumExpText(element, kDims[0], isSafe).forward(),
                        {1, 3, 1}, tolerance));
      EXPECT_TRUE(
          checkOneRound(LogSumExpText(element, kDims[5], isSafe).forward(),
                        {2, 1, 2}, tolerance));
    }
}

// As in Softmax; a safe one is -inf where all is masked.
TEST(LogSumExp, PartsThatAreMaskedAreJoined) {
  for (const char *safe : {"", ", safe"})
    EXPECT_TRUE(checkOneRound(std::string(R"(func.func @f() -> tensor<5xf32> {
      %x = stablehlo.constant dense<[
        [0xFF800000, 0xFF800000, -1.0e30, -1.0e30],
        [0xFF800000, 0xFF800000, 90.0, 95.0],
        [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000],
        [1.0, 0x7F800000, 2.0, 3.0],
        [1.0, 2.0, 0x7FC00000, 3.0]]> : tensor<5x4xf32>
      %y = nn.log_sum_exp %x {dims = array<i64: 1>)") +
                                  safe +
                                  R"(} : (tensor<5x4xf32>) -> tensor<5xf32>
      return %y : tensor<5xf32>
    })",
                              {1, 2}, 1e-6));
}

TEST(LogSumExp, DerivativeAgreesWithDifferences) {
  for (Dims dims : kDims)
    for (bool isSafe : {false, true})
      EXPECT_TRUE(checkDerivative(LogSumExpText("f64", dims, isSafe).forward()))
          << dims.dims;
}

TEST(LogSumExp, DecomposeIntoEqualOps) {
  struct {
    const char *element;
    double tolerance;
  } cases[] = {{"f64", 1e-14}, {"f32", 2e-6}, {"bf16", 2e-2}};
  for (Dims dims : kDims)
    for (bool isSafe : {false, true})
      for (auto [element, tolerance] : cases) {
        LogSumExpText text(element, dims, isSafe);
        EXPECT_TRUE(checkDecomposition(text.forward(), tolerance))
            << dims.dims << " " << element;
        EXPECT_TRUE(checkDecomposition(LogSumExpText(element, dims).gradient(),
                                       tolerance))
            << dims.dims << " " << element;
      }
}

TEST(LogSumExp, RowsPassAndTheDimsHaveADistributedForm) {
  LogSumExpText text("f64", kDims[3]);
  EXPECT_EQ(printRule(text.forward()),
            "([a, b, c])->([b]) {a=4 whole, b=6, c=2 whole}");
  EXPECT_EQ(printRule(text.gradient()),
            "([a, b, c],[b],[b])->([a, b, c]) {a=4, b=6, c=2}");
  RuleChecks checks;
  EXPECT_TRUE(checkRules(text.forward(), &checks));
  EXPECT_EQ(checks.numHalved, 1);
  EXPECT_TRUE(checkRules(text.gradient(), &checks));
  EXPECT_EQ(checks.numHalved, 4);
  EXPECT_EQ(checks.numCarried, 1);
}

// Large numbers, a row of -inf, one with +inf, and one with NaN.
TEST(LogSumExp, InfiniteRowsAreSafeOrNaN) {
  for (bool isSafe : {false, true}) {
    std::vector<double> y = evaluate(std::string(R"(
    func.func @f() -> tensor<4xf64> {
      %x = stablehlo.constant dense<[[1000.0, 1000.0], [0xFFF0000000000000, 0xFFF0000000000000], [0x7FF0000000000000, 0.0], [0x7FF8000000000000, 0.0]]> : tensor<4x2xf64>
      %y = nn.log_sum_exp %x {dims = array<i64: 1>)") +
                                     (isSafe ? ", safe" : "") +
                                     R"(} : (tensor<4x2xf64>) -> tensor<4xf64>
      return %y : tensor<4xf64>
    })");
    ASSERT_EQ(y.size(), 4u);
    EXPECT_EQ(y[0], 1000 + std::log(2.0));
    EXPECT_TRUE(isSafe ? y[1] == -INFINITY : std::isnan(y[1]));
    EXPECT_TRUE(isSafe ? y[2] == INFINITY : std::isnan(y[2]));
    EXPECT_TRUE(std::isnan(y[3]));
  }
}

TEST(LogSumExp, SecondDerivativesAreRefused) {
  std::string message = printVjp(LogSumExpText("f64", kDims[0]).gradient(),
                                 "nn.log_sum_exp_grad");
  EXPECT_NE(message.find("second derivatives are not built"), std::string::npos)
      << message;
}
} // namespace
