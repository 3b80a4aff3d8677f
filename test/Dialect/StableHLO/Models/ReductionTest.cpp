//===- ReductionTest.cpp - Answers of reduce ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

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

TEST(ReductionRule, TruthsAreJoinedOrMet) {
  for (auto [op, init, kind] : {std::tuple("add", "false", "or"),
                                {"maximum", "false", "or"},
                                {"or", "false", "or"},
                                {"multiply", "true", "and"},
                                {"minimum", "true", "and"},
                                {"and", "true", "and"}})
    EXPECT_EQ(printRule(makeReduce("2x3xi1", "3xi1", op, init, "0")),
              "([a, b],[])->([b]) {a=2 reduced " + std::string(kind) +
                  ", b=3}");
}

TEST(ReductionKernel, OfTruthsAgreesWithEvaluation) {
  std::string rows = "[[false, false, false], [false, true, false], [true, "
                     "true, false], [true, true, true]]";
  for (auto [op, init, any] : {std::tuple("add", "false", true),
                               {"maximum", "false", true},
                               {"or", "false", true},
                               {"multiply", "true", false},
                               {"minimum", "true", false},
                               {"and", "true", false}}) {
    std::string text =
        makeReduce("4x3xi1", "4xi1", op, init, "1", makeValues(rows, "4x3xi1"));
    EXPECT_EQ(evaluate(text), any ? std::vector<double>({0, 1, 1, 1})
                                  : std::vector<double>({0, 0, 0, 1}))
        << op;
    EXPECT_TRUE(checkKernels(text)) << op;
  }
}

// Whether any or all are greater does not depend on x a little.
TEST(ReductionDerivative, TruthsAreInactive) {
  for (auto [op, init, any] :
       {std::tuple("or", "false", 1.0), {"and", "true", 0.0}}) {
    std::string text =
        std::string(R"(
      func.func @f(%x: tensor<2xf64> {test.values = dense<[1.0, 3.0]> : tensor<2xf64>}) -> tensor<2xf64> {
        %two = stablehlo.constant dense<2.0> : tensor<2xf64>
        %i = stablehlo.constant dense<)") +
        init + R"(> : tensor<i1>
        %c = stablehlo.compare GT, %x, %two : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
        %r = stablehlo.reduce(%c init: %i) applies stablehlo.)" +
        op +
        R"( across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
        %n = stablehlo.convert %r : (tensor<i1>) -> tensor<f64>
        %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f64>) -> tensor<2xf64>
        %y = stablehlo.multiply %x, %b : tensor<2xf64>
        return %y : tensor<2xf64>
      })";
    std::vector<std::vector<double>> gradients = computeGradients(text);
    ASSERT_EQ(gradients.size(), 1u) << op;
    EXPECT_EQ(gradients[0], std::vector<double>({any, any})) << op;
  }
}

std::string fromValue(const std::string &op, const std::string &xMark,
                      const std::string &iMark) {
  return "func.func @f(%x: tensor<2x3xf64> " + xMark + ", %i: tensor<f64> " +
         iMark +
         ") -> tensor<2xf64> {\n  %y = stablehlo.reduce(%x init: %i) applies "
         "stablehlo." +
         op +
         " across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> "
         "tensor<2xf64>\n  return %y : tensor<2xf64>\n}";
}

TEST(ReductionDerivative, DerivesWhatIsNeeded) {
  const char *fixed = "{test.fixed}";
  EXPECT_TRUE(checkDerivative(fromValue("add", fixed, "")));
  EXPECT_TRUE(checkDerivative(fromValue("add", "", fixed)));
  for (const char *op : {"multiply", "maximum", "minimum"}) {
    EXPECT_TRUE(checkDerivative(fromValue(op, "", fixed))) << op;
    EXPECT_NE(printVjp(fromValue(op, "", ""), "reduce")
                  .find("expected a constant initial value to derive a "
                        "reduction other than add, got one that depends on "
                        "parameters"),
              std::string::npos)
        << op;
  }
}

/// A reduction with this body over %a and %b, and %i from outside.
std::string withBody(const std::string &body) {
  return "func.func @f(%x: tensor<3xf64>, %i: tensor<f64>) -> tensor<f64> {\n"
         "  %y = stablehlo.reduce(%x init: %i) across dimensions = [0] : "
         "(tensor<3xf64>, tensor<f64>) -> tensor<f64>\n   reducer(%a: "
         "tensor<f64>, %b: tensor<f64>) {\n" +
         body + "\n  }\n  return %y : tensor<f64>\n}";
}

// It stops at the first element.
TEST(ReductionEvaluation, StopsAtOpsThatItCannotRun) {
  EXPECT_STREQ(
      checkKernels(
          withBody("%s = \"other.op\"(%a, %b) : (tensor<f64>, tensor<f64>) -> "
                   "tensor<f64>\n    stablehlo.return %s : tensor<f64>"))
          .message(),
      "evaluation failed\nexpected an evaluation of 'other.op', got none\n");
}

TEST(ReductionKernel, UsesNoValuesFromOutside) {
  const char *outside = "expected a body that uses no value from outside in a "
                        "kernel, got one (llmc-close-regions takes them in)\n";
  for (auto [body, op] :
       {std::pair("%s = stablehlo.subtract %a, %i : tensor<f64>\n    "
                  "stablehlo.return %s : tensor<f64>",
                  "'stablehlo.subtract' op "),
        {"%s = stablehlo.subtract %a, %b : tensor<f64>\n    "
         "stablehlo.return %i : tensor<f64>",
         "'stablehlo.return' op "}}) {
    llmc::test::GraphContext context;
    std::string text = withBody(body);
    text.insert(text.find(") -> tensor<f64> {"), ", %p: f64, %q: f64");
    auto module = context.parse(text);
    ASSERT_TRUE(module) << context.takeMessages();
    auto function = getFunction(*module);
    mlir::Operation &reduce = function.front().front();
    mlir::OpBuilder builder(&reduce);
    EXPECT_TRUE(mlir::cast<llmc::graph::KernelOpInterface>(reduce)
                    .emitCombine(builder, reduce.getLoc(),
                                 function.getArgument(2),
                                 function.getArgument(3))
                    .empty());
    EXPECT_EQ(context.takeMessages(), std::string(op) + outside);
  }
}

TEST(ReductionKernel, TakesElementsOnly) {
  std::string message =
      checkKernels(
          withBody("%s = stablehlo.dot_general %a, %b, contracting_dims = [] x "
                   "[] : (tensor<f64>, tensor<f64>) -> tensor<f64>\n    "
                   "stablehlo.return %s : tensor<f64>"))
          .message();
  EXPECT_EQ(message, "stablehlo.reduce: wrong number of combined values\n"
                     "expected a kernel of 'stablehlo.dot_general', got "
                     "none\n");
}
} // namespace
