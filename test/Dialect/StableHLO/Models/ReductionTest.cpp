//===- ReductionTest.cpp - Answers of reduce ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
/// @f reduces %x by `op` from `init` over `dims`; `mark` is on the argument.
std::string makeReduce(const std::string &from, const std::string &to,
                       const std::string &op, const std::string &init,
                       const std::string &dims, const std::string &mark = "") {
  std::string element = from.substr(from.rfind('x') + 1);
  return "func.func @f(%x: tensor<" + from + "> " + mark + ") -> tensor<" + to +
         "> {\n  %i = stablehlo.constant dense<" + init + "> : tensor<" +
         element +
         ">\n  %y = stablehlo.reduce(%x init: %i) applies stablehlo." + op +
         " across dimensions = [" + dims + "] : (tensor<" + from +
         ">, tensor<" + element + ">) -> tensor<" + to +
         ">\n  return %y : tensor<" + to + ">\n}";
}

std::string makeValues(const std::string &values, const std::string &type) {
  return "{test.values = dense<" + values + "> : tensor<" + type + ">}";
}

TEST(ReductionDerivative, AddIsLinear) {
  EXPECT_TRUE(
      checkLinear(makeReduce("2x3x4xf64", "3xf64", "add", "0.0", "0, 2")));
  EXPECT_TRUE(checkLinear(makeReduce("2x3xf64", "f64", "add", "0.0", "1, 0")));
  EXPECT_TRUE(checkLinear(makeReduce("2x3xf64", "2x3xf64", "add", "0.0", "")));
  EXPECT_TRUE(checkLinear(makeReduce("2x0xf64", "2xf64", "add", "0.0", "1")));
}

TEST(ReductionDerivative, AddFlowsIntoTheInitialValue) {
  EXPECT_TRUE(checkLinear(R"(
    func.func @f(%x: tensor<2x3xf64>, %i: tensor<f64>) -> tensor<2xf64> {
      %y = stablehlo.reduce(%x init: %i) applies stablehlo.add
          across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
      return %y : tensor<2xf64>
    })"));
}

TEST(ReductionDerivative, ExtremaAgreeWithDifferences) {
  for (const char *op : {"maximum", "minimum"}) {
    EXPECT_TRUE(
        checkDerivative(makeReduce("2x3x4xf64", "3xf64", op, "0.0", "0, 2",
                                   "{test.low = 1.0, test.high = 2.0}")));
    EXPECT_TRUE(
        checkDerivative(makeReduce("2x1xf64", "2xf64", op, "0.0", "1",
                                   "{test.low = -2.0, test.high = -1.0}")));
  }
}

TEST(ReductionDerivative, TiesShareTheCotangent) {
  std::vector<std::vector<double>> gradients = computeGradients(makeReduce(
      "2x4xf64", "2xf64", "maximum", "0xFFF0000000000000", "1",
      makeValues("[[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]]", "2x4xf64")));
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0],
            std::vector<double>({0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25}));
}

TEST(ReductionDerivative, TheInitialValueMayWin) {
  EXPECT_EQ(
      computeGradients(makeReduce("2xf64", "f64", "maximum", "9.0", "0"))[0],
      std::vector<double>({0, 0}));
}

TEST(ReductionDerivative, ProductsAgreeWithDifferences) {
  EXPECT_TRUE(checkDerivative(
      makeReduce("2x3x4xf64", "3xf64", "multiply", "1.0", "0, 2")));
  EXPECT_TRUE(
      checkDerivative(makeReduce("2x3xf64", "2xf64", "multiply", "3.0", "1")));
}

TEST(ReductionDerivative, ProductsWithZeros) {
  std::string none = "[2.0, 3.0, 4.0]", one = "[2.0, 0.0, 4.0]",
              two = "[0.0, 3.0, 0.0]";
  EXPECT_EQ(computeGradients(makeReduce(
                "3x3xf64", "3xf64", "multiply", "1.0", "1",
                makeValues("[" + none + ", " + one + ", " + two + "]",
                           "3x3xf64")))[0],
            std::vector<double>({12, 8, 6, 0, 8, 0, 0, 0, 0}));
}

TEST(ReductionDerivative, RefusesOtherBodies) {
  std::string message = printVjp(R"(
    func.func @f(%x: tensor<3xf64>) -> tensor<f64> {
      %i = stablehlo.constant dense<0.0> : tensor<f64>
      %y = stablehlo.reduce(%x init: %i) across dimensions = [0]
          : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
       reducer(%a: tensor<f64>, %b: tensor<f64>) {
        %s = stablehlo.subtract %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
      }
      return %y : tensor<f64>
    })",
                                 "reduce");
  EXPECT_NE(message.find("expected one add, multiply, maximum or minimum of "
                         "one input to derive, got another body"),
            std::string::npos)
      << message;
}

TEST(ReductionRule, SplitsByTheKind) {
  EXPECT_EQ(printRule(makeReduce("2x3xf32", "2xf32", "add", "0.0", "1")),
            "([a, b],[])->([a]) {a=2, b=3 reduced sum}");
  EXPECT_EQ(
      printRule(makeReduce("2x3xf32", "2xf32", "maximum", "0xFF800000", "1")),
      "([a, b],[])->([a]) {a=2, b=3 reduced max}");
  EXPECT_EQ(printRule(makeReduce("2x3xi1", "3xi1", "or", "false", "0")),
            "([a, b],[])->([b]) {a=2 reduced or, b=3}");
}

TEST(ReductionRule, NeedsANeutralInitialValue) {
  EXPECT_EQ(printRule(makeReduce("2x3xf32", "2xf32", "add", "1.0", "1")),
            "([a, b],[])->([a]) {a=2, b=3 whole}");
}

TEST(ReductionKernel, AgreesWithEvaluation) {
  for (const char *op : {"add", "multiply", "maximum", "minimum"}) {
    EXPECT_TRUE(checkKernels(
        makeReduce("2x3x4xf32", "3xf32", op, "0.5", "0, 2"), 1e-6));
    EXPECT_TRUE(
        checkKernels(makeReduce("2x3xi8", "2xi8", op, "100", "1",
                                "{test.low = -128.0, test.high = 127.0}")));
    EXPECT_TRUE(
        checkKernels(makeReduce("2x3xui8", "2xui8", op, "100", "1",
                                "{test.low = 0.0, test.high = 255.0}")));
  }
  for (const char *op : {"and", "or"})
    EXPECT_TRUE(checkKernels(makeReduce("5x3xi1", "5xi1", op, "true", "1")));
}

const char *argmax = R"(
  func.func @f(%x: tensor<2x4xf32> {test.values = dense<[[1.0, 7.0, 7.0, 3.0], [-1.0, -4.0, -2.0, -9.0]]> : tensor<2x4xf32>}) -> tensor<2xi32> {
    %n = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %j = stablehlo.constant dense<0> : tensor<i32>
    %y:2 = stablehlo.reduce(%x init: %i), (%n init: %j) across dimensions = [1]
        : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%k: tensor<i32>, %l: tensor<i32>) {
      %greater = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %greater, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %greater, %k, %l : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    return %y#1 : tensor<2xi32>
  })";

TEST(ReductionKernel, SeveralInputs) {
  EXPECT_EQ(evaluate(argmax), std::vector<double>({1, 0}));
  EXPECT_TRUE(checkKernels(argmax));
}

// Ops of a body that move nothing stand for what they alias.
TEST(ReductionKernel, LooksThroughAliases) {
  const char *text = R"(
    func.func @f(%x: tensor<2x4xf32>) -> tensor<2xf32> {
      %i = stablehlo.constant dense<1.0> : tensor<f32>
      %y = stablehlo.reduce(%x init: %i) across dimensions = [1]
          : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
       reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %c:2 = stablehlo.optimization_barrier %a, %b : tensor<f32>, tensor<f32>
        %d = stablehlo.reshape %c#1 : (tensor<f32>) -> tensor<f32>
        %s = stablehlo.multiply %d, %b : tensor<f32>
        %t = stablehlo.subtract %s, %c#0 : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }
      return %y : tensor<2xf32>
    })";
  EXPECT_TRUE(checkKernels(text));
}

TEST(ReductionEvaluation, RoundsOnce) {
  EXPECT_EQ(evaluate(makeReduce(
                "3xf32", "f32", "add", "0.0", "0",
                makeValues("[1.6777216e7, 1.0, -1.6777216e7]", "3xf32"))),
            std::vector<double>({1}));
}
} // namespace
