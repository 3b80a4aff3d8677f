//===- LinearAlgebraTest.cpp - Answers of factors and solutions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices to factorize are x xᵀ + 4, triangles have 4 added to their diagonal.
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"
#include <cmath>

using namespace llmc::test;

namespace {
struct Sizes {
  std::string batch;
  int n, columns;
};

std::string tensor(const std::string &batch, int rows, int columns,
                   const char *element) {
  return "tensor<" + batch + std::to_string(rows) + "x" +
         std::to_string(columns) + "x" + element + ">";
}

std::string listBatch(const std::string &batch) {
  return batch.empty() ? "" : batch == "2x" ? "0" : "0, 1";
}
int countBatch(const std::string &batch) {
  return batch.empty() ? 0 : batch == "2x" ? 1 : 2;
}

/// %d is `by` on the diagonal, of `type` with `matrix` rows and columns.
std::string makeDiagonal(const std::string &type, const char *element, int rank,
                         int n, const char *by) {
  std::string square = "tensor<" + std::to_string(n) + "x" + std::to_string(n);
  std::string dims = std::to_string(rank - 2) + ", " + std::to_string(rank - 1);
  return "  %i = stablehlo.iota dim = 0 : " + square +
         "xi32>\n  %j = stablehlo.iota dim = 1 : " + square +
         "xi32>\n  %on = stablehlo.compare EQ, %i, %j : (" + square +
         "xi32>, " + square + "xi32>) -> " + square +
         "xi1>\n  %four = stablehlo.constant dense<" + by + "> : " + square +
         "x" + element +
         ">\n  %zero = stablehlo.constant dense<0.0> : " + square + "x" +
         element + ">\n  %e = stablehlo.select %on, %four, %zero : " + square +
         "xi1>, " + square + "x" + element +
         ">\n  %d = stablehlo.broadcast_in_dim %e, dims = [" + dims + "] : (" +
         square + "x" + element + ">) -> " + type + "\n";
}

std::string makeFactor(const std::string &batch, int n, bool lower,
                       const char *element = "f64") {
  std::string type = tensor(batch, n, n, element), dims = listBatch(batch);
  int rank = countBatch(batch) + 2;
  std::string last = std::to_string(rank - 1);
  std::string batching =
      dims.empty() ? "" : "batching_dims = [" + dims + "] x [" + dims + "], ";
  return "func.func @f(%x: " + type + ") -> " + type + " {\n" +
         makeDiagonal(type, element, rank, n, "4.0") +
         "  %p = stablehlo.dot_general %x, %x, " + batching +
         "contracting_dims = [" + last + "] x [" + last + "] : (" + type +
         ", " + type + ") -> " + type +
         "\n  %a = stablehlo.add %p, %d : " + type +
         "\n  %y = stablehlo.cholesky %a" + (lower ? ", lower = true" : "") +
         " : " + type + "\n  return %y : " + type + "\n}";
}

/// Of the right side b is of as many rows as columns are asked for.
std::string makeSolution(const std::string &batch, int n, int columns,
                         bool left, bool lower, bool unit, const char *form,
                         const char *element = "f64") {
  std::string type = tensor(batch, n, n, element);
  std::string b = left ? tensor(batch, n, columns, element)
                       : tensor(batch, columns, n, element);
  auto word = [](bool value) { return std::string(value ? "true" : "false"); };
  return "func.func @f(%x: " + type + ", %b: " + b + ") -> " + b + " {\n" +
         makeDiagonal(type, element, countBatch(batch) + 2, n, "4.0") +
         "  %a = stablehlo.add %x, %d : " + type +
         "\n  %y = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = " +
         word(left) + ", lower = " + word(lower) +
         ", transpose_a = #stablehlo<transpose " + form +
         ">, unit_diagonal = " + word(unit) + "}> : (" + type + ", " + b +
         ") -> " + b + "\n  return %y : " + b + "\n}";
}

/// Calls `check` with all forms of a solution of some sizes.
template <typename Check> void forEachSolution(Check check) {
  const Sizes sizes[] = {{"", 1, 1}, {"", 2, 3}, {"2x", 5, 2}, {"2x3x", 3, 1}};
  for (const Sizes &size : sizes)
    for (int bits = 0; bits < 8; ++bits)
      for (const char *form : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
        check(makeSolution(size.batch, size.n, size.columns, bits & 1, bits & 2,
                           bits & 4, form));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

constexpr const char *kKnown = R"(
  func.func @f() -> tensor<3x3xf64> {
    %a = stablehlo.constant dense<[[4.0, 9.0, 9.0], [2.0, 5.0, 9.0], [6.0, 7.0, 26.0]]> : tensor<3x3xf64>
    %y = stablehlo.cholesky %a, lower = true : tensor<3x3xf64>
    return %y : tensor<3x3xf64>
  })";

TEST(Cholesky, ReadsOneTriangle) {
  EXPECT_EQ(evaluate(kKnown),
            (std::vector<double>{2, 0, 0, 1, 2, 0, 3, 2, std::sqrt(13.0)}));
}

TEST(Cholesky, IsNaNWhereNotDefinite) {
  std::string text = R"(
    func.func @f() -> tensor<2x2x2xf64> {
      %a = stablehlo.constant dense<[[[1.0, 2.0], [2.0, 1.0]], [[4.0, 2.0], [2.0, 5.0]]]> : tensor<2x2x2xf64>
      %y = stablehlo.cholesky %a : tensor<2x2x2xf64>
      return %y : tensor<2x2x2xf64>
    })";
  std::vector<double> y = evaluate(text);
  ASSERT_EQ(y.size(), 8u);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[3]));
  EXPECT_EQ((std::vector<double>(y.begin() + 4, y.end())),
            (std::vector<double>{2, 1, 0, 2}));
  EXPECT_EQ(y[2], 0);
}

TEST(TriangularSolve, ReadsOneTriangle) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<2x1xf64> {
      %a = stablehlo.constant dense<[[2.0, 9.0], [3.0, 4.0]]> : tensor<2x2xf64>
      %b = stablehlo.constant dense<[[4.0], [10.0]]> : tensor<2x1xf64>
      %y = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
      return %y : tensor<2x1xf64>
    })"),
            (std::vector<double>{2, 1}));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(Cholesky, KernelIsTheEvaluation) {
  for (const char *batch : {"", "2x", "2x3x"})
    for (int n : {1, 2, 5})
      for (bool lower : {false, true})
        EXPECT_TRUE(checkKernels(makeFactor(batch, n, lower), 1e-13))
            << batch << n << lower;
}

TEST(TriangularSolve, KernelIsTheEvaluation) {
  forEachSolution([](const std::string &text) {
    EXPECT_TRUE(checkKernels(text, 1e-13)) << text;
  });
}

TEST(LinearAlgebra, NarrowFloatsAreWidened) {
  for (const char *element : {"bf16", "f16"}) {
    EXPECT_TRUE(checkDecomposition(makeFactor("2x", 3, true, element), 0));
    EXPECT_TRUE(checkDecomposition(
        makeSolution("2x", 3, 2, true, true, false, "TRANSPOSE", element), 0));
  }
}

// One row more than a block, and three more than two.
TEST(LinearAlgebra, BlocksAreTheEvaluation) {
  for (bool lower : {false, true}) {
    EXPECT_TRUE(checkDecomposition(makeFactor("2x", 65, lower), 1e-12));
    EXPECT_TRUE(checkDecomposition(makeFactor("", 131, lower), 1e-12));
    for (bool left : {false, true})
      for (const char *form : {"NO_TRANSPOSE", "TRANSPOSE"})
        EXPECT_TRUE(checkDecomposition(
            makeSolution("2x", 67, 3, left, lower, false, form), 1e-11))
            << lower << left << form;
  }
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

TEST(Cholesky, DerivativeAgreesWithDifferences) {
  for (const char *batch : {"", "2x", "2x3x"})
    for (int n : {1, 2, 5})
      for (bool lower : {false, true})
        EXPECT_TRUE(checkDerivative(makeFactor(batch, n, lower)))
            << batch << n << lower;
}

TEST(TriangularSolve, DerivativeAgreesWithDifferences) {
  forEachSolution([](const std::string &text) {
    EXPECT_TRUE(checkDerivative(text)) << text;
  });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

TEST(Cholesky, RuleSplitsBatches) {
  EXPECT_EQ(printRule(makeFactor("2x3x", 4, true)),
            "([a, b, c, d])->([a, b, c, d]) {a=2, b=3, c=4 whole, d=4 whole}");
}

TEST(TriangularSolve, RuleSplitsBatchesAndFreePositions) {
  EXPECT_EQ(
      printRule(makeSolution("2x", 4, 3, true, true, false, "TRANSPOSE")),
      "([a, b, c],[a, d, e])->([a, d, e]) {a=2, b=4 whole, c=4 whole, d=4 "
      "whole, e=3}");
  EXPECT_EQ(
      printRule(makeSolution("2x", 4, 3, false, true, false, "TRANSPOSE")),
      "([a, b, c],[a, d, e])->([a, d, e]) {a=2, b=4 whole, c=4 whole, d=3, "
      "e=4 whole}");
}

TEST(Cholesky, RuleHolds) {
  EXPECT_TRUE(checkRules(makeFactor("2x", 4, true)));
}

TEST(TriangularSolve, RulesHold) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%a: tensor<2x3x3xf64>, %b: tensor<2x3x4xf64>, %c: tensor<2x4x3xf64>) {
      %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
      %1 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
      return
    })",
                         &checks));
  EXPECT_EQ(checks.numHalved, 4); // batches and free positions
  EXPECT_EQ(checks.numCarried, 2);
  EXPECT_EQ(checks.numSkipped, 0);
}
} // namespace
