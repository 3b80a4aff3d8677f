//===- LuTest.cpp - Answers of triangular factors with pivots -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To matrices to factorize 4 is added after the diagonal, so that rows are
// exchanged at every step but the last.
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"

using namespace llmc::test;

namespace {
std::string tensor(const std::string &dims, const std::string &element) {
  return "tensor<" + dims + element + ">";
}

/// The numbers of a matrix by row and column, as text.
template <typename Number> std::string list(int rows, int columns, Number at) {
  std::string all = "[";
  for (int row = 0; row < rows; ++row) {
    all += row ? ", [" : "[";
    for (int column = 0; column < columns; ++column)
      all += (column ? ", " : "") + std::to_string(at(row, column));
    all += "]";
  }
  return all + "]";
}

/// %a of `batch` matrices of n rows. The other functions go on from here.
std::string makeMatrices(const std::string &batch, int n,
                         const std::string &element) {
  std::string square = std::to_string(n) + "x" + std::to_string(n) + "x";
  std::string type = tensor(batch + square, element);
  std::string dims = batch.empty() ? "0, 1" : batch == "2x" ? "1, 2" : "2, 3";
  auto after = [n](int row, int column) {
    return (row + 1) % n == column ? 4.0 : 0.0;
  };
  return "  %c = stablehlo.constant dense<" + list(n, n, after) +
         "> : " + tensor(square, element) +
         "\n  %b = stablehlo.broadcast_in_dim %c, dims = [" + dims + "] : (" +
         tensor(square, element) + ") -> " + type +
         "\n  %a = stablehlo.add %x, %b : " + type + "\n";
}

std::string makeFactors(const std::string &batch, int n,
                        const std::string &element = "f64") {
  std::string rows = std::to_string(n) + "x";
  std::string type = tensor(batch + rows + rows, element),
              numbers = tensor(batch + rows, "i32");
  std::string results = type + ", " + numbers + ", " + numbers;
  return "func.func @f(%x: " + type + ") -> (" + results + ") {\n" +
         makeMatrices(batch, n, element) + "  %y:3 = stablehlo.lu %a : (" +
         type + ") -> (" + results +
         ")\n  return %y#0, %y#1, %y#2 : " + results + "\n}";
}

/// The same in one tensor, of which the last two rows are of any numbers.
std::string makeInPlace(const std::string &batch, int n, int more = 0) {
  std::string rows = std::to_string(n + more + 2) + "x";
  std::string type = tensor(batch + rows + std::to_string(n + 1) + "x", "f64");
  return "func.func @f(%x: " + type + ") -> " + type +
         " {\n  %y = stablehlo.lu_in_place %x : " + type +
         "\n  return %y : " + type + "\n}";
}

/// The factors, pivots or permutation of a matrix of n rows.
std::vector<double> factorize(const std::string &matrix, int n,
                              const std::string &wanted) {
  std::string rows = std::to_string(n) + "x";
  std::string type = tensor(rows + rows, "f64"), numbers = tensor(rows, "i32");
  return evaluate("func.func @f() -> " + (wanted == "0" ? type : numbers) +
                  " {\n  %a = stablehlo.constant dense<" + matrix + "> : " +
                  type + "\n  %y:3 = stablehlo.lu %a : (" + type + ") -> (" +
                  type + ", " + numbers + ", " + numbers + ")\n  return %y#" +
                  wanted + " : " + (wanted == "0" ? type : numbers) + "\n}");
}

using Elements = std::vector<double>;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST(Lu, ExchangesRows) {
  const char *matrix = "[[0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [4.0, 0.0, 2.0]]";
  EXPECT_EQ(factorize(matrix, 3, "0"),
            (Elements{4, 0, 2, 0, 2, 1, 0.25, 0.5, 0}));
  EXPECT_EQ(factorize(matrix, 3, "1"), (Elements{2, 2, 2}));
  EXPECT_EQ(factorize(matrix, 3, "2"), (Elements{2, 0, 1}));
}

// As LAPACK: the first of equal magnitudes, of either sign.
TEST(Lu, TakesTheFirstOfTies) {
  const char *matrix = "[[1.0, 2.0], [-1.0, 3.0]]";
  EXPECT_EQ(factorize(matrix, 2, "0"), (Elements{1, 2, -1, 5}));
  EXPECT_EQ(factorize(matrix, 2, "1"), (Elements{0, 1}));
}

TEST(Lu, GoesOnAfterAPivotOfZero) {
  const char *matrix = "[[0.0, 2.0, 1.0], [0.0, 1.0, 1.0], [0.0, 4.0, 2.0]]";
  EXPECT_EQ(factorize(matrix, 3, "0"),
            (Elements{0, 2, 1, 0, 4, 2, 0, 0.25, 0.5}));
  EXPECT_EQ(factorize(matrix, 3, "1"), (Elements{0, 2, 2}));
  EXPECT_EQ(factorize(matrix, 3, "2"), (Elements{0, 2, 1}));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(Lu, KernelIsTheEvaluation) {
  for (const char *batch : {"", "2x", "2x3x"})
    for (int n : {1, 2, 5})
      for (int more : {0, 3})
        EXPECT_TRUE(checkKernels(makeInPlace(batch, n, more)))
            << batch << n << more;
}

TEST(Lu, KernelTakesTheFirstOfTiesAndGoesOnAfterZero) {
  for (const char *matrix :
       {"[[0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0], [0.0, 4.0, 2.0, 2.0], "
        "[9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]]",
        "[[1.0, 2.0, 1.0, 0.0], [-1.0, 1.0, 1.0, 1.0], [1.0, 5.0, 2.0, 2.0], "
        "[9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]]"})
    EXPECT_TRUE(checkKernels(std::string("func.func @f() -> tensor<5x4xf64> {\n"
                                         "  %x = stablehlo.constant dense<") +
                             matrix +
                             "> : tensor<5x4xf64>\n"
                             "  %y = stablehlo.lu_in_place %x : "
                             "tensor<5x4xf64>\n"
                             "  return %y : tensor<5x4xf64>\n}"))
        << matrix;
}

TEST(Lu, DecompositionIsTheEvaluation) {
  for (const char *batch : {"", "2x", "2x3x"})
    for (int n : {1, 2, 5})
      EXPECT_TRUE(checkDecomposition(makeFactors(batch, n), 0)) << batch << n;
  for (const char *element : {"bf16", "f16"})
    EXPECT_TRUE(checkDecomposition(makeFactors("2x", 3, element), 0));
  for (int n : {31, 32})
    EXPECT_TRUE(checkDecomposition(makeFactors("", n), 0)) << n;
}

// Around a panel and two of them, where products add up in another order.
TEST(Lu, BlocksAreTheEvaluation) {
  for (int n : {33, 131})
    EXPECT_TRUE(checkDecomposition(makeFactors("2x", n), 1e-10)) << n;
}

//===----------------------------------------------------------------------===//
// Derivative, rule
//===----------------------------------------------------------------------===//

TEST(Lu, DerivativeAgreesWithDifferences) {
  for (const char *batch : {"", "2x", "2x3x"})
    for (int n : {1, 2, 5})
      EXPECT_TRUE(checkDerivative(makeFactors(batch, n))) << batch << n;
}

TEST(Lu, RuleSplitsBatches) {
  EXPECT_EQ(printRule(R"(
    func.func @f(%a: tensor<2x4x4xf64>) -> tensor<2x4x4xf64> {
      %y:3 = stablehlo.lu %a : (tensor<2x4x4xf64>) -> (tensor<2x4x4xf64>, tensor<2x4xi32>, tensor<2x4xi32>)
      return %y#0 : tensor<2x4x4xf64>
    })"),
            "([a, b, c])->([a, b, c],[a, b],[a, b]) {a=2, b=4 whole, c=4 "
            "whole}");
}

TEST(Lu, RulesHold) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(makeFactors("2x", 4), &checks));
  EXPECT_TRUE(checkRules(makeInPlace("2x", 3), &checks));
  EXPECT_EQ(checks.numSkipped, 0);
}
} // namespace
