//===- ScatterTest.cpp - Answers of scatter -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
struct ScatterCase {
  const char *name, *operand, *indices, *values, *updates, *dims;
};

/// `body` names the op that combines; empty: assignment.
std::string makeScatter(const ScatterCase &c, const std::string &body,
                        const std::string &unique = "false") {
  std::string operand = c.operand, indices = c.indices, updates = c.updates;
  std::string scalar = "tensor<" + operand.substr(operand.rfind('x') + 1) + ">";
  std::string types = "(tensor<" + operand + ">, tensor<" + indices +
                      ">, tensor<" + updates + ">) -> tensor<" + operand + ">";
  std::string combined =
      body.empty() ? ""
                   : "  %s = stablehlo." + body + " %a, %b : " + scalar + "\n";
  return "func.func @f(%x: tensor<" + operand + ">, %i: tensor<" + indices +
         "> {test.values = dense<" + c.values + "> : tensor<" + indices +
         ">}, %u: tensor<" + updates + ">) -> tensor<" + operand +
         "> {\n  %y = \"stablehlo.scatter\"(%x, %i, %u) "
         "<{scatter_dimension_numbers = #stablehlo.scatter<" +
         c.dims + ">, unique_indices = " + unique +
         "}> ({\n  ^bb0(%a: " + scalar + ", %b: " + scalar + "):\n" + combined +
         "    stablehlo.return " + (body.empty() ? "%b" : "%s") + " : " +
         scalar + "\n  }) : " + types + "\n  return %y : tensor<" + operand +
         ">\n}";
}

const ScatterCase cases[] = {
    // Duplicates and indices that lie outside.
    {"rows", "5x3xf64", "6xi32", "[0, 4, 4, 7, -1, 0]", "6x3xf64",
     "update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1"},
    // Windows that lie outside in part.
    {"boxes", "4x5xf64", "3x2xi64", "[[3, 1], [-1, 4], [2, -3]]", "3x2x3xf64",
     "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], "
     "index_vector_dim = 1"},
    {"points", "4x5xf64", "4x2xi32", "[[3, 1], [3, 1], [0, 5], [2, 4]]",
     "4xf64",
     "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], "
     "index_vector_dim = 1"},
    {"batching", "3x5x2xf64", "3x2xi32", "[[0, 4], [4, 4], [9, -1]]",
     "3x2x2xf64",
     "update_window_dims = [2], inserted_window_dims = [1], "
     "input_batching_dims "
     "= [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims "
     "= [1], index_vector_dim = 2"},
    {"vector_first", "4x5xf64", "2x3xi32", "[[0, 1, 3], [4, 2, 0]]",
     "1x3x2xf64",
     "update_window_dims = [0, 2], scatter_dims_to_operand_dims = [1, 0], "
     "index_vector_dim = 0"},
    {"unsigned", "5xf64", "3xui8", "[0, 255, 4]", "3xf64",
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1"},
    // No signed number holds the second, nor do windows bring it back.
    {"unsigned_wide", "4x5xf64", "3xui64", "[1, 18446744073709551615, 3]",
     "3x2x5xf64",
     "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1"},
    {"greatest", "4x5xf64", "2xi64", "[9223372036854775807, 0]", "2x2x5xf64",
     "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1"},
    {"no_updates", "5xf64", "0xi32", "[]", "0xf64",
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1"}};

class ScatterAnswers : public testing::TestWithParam<ScatterCase> {};

TEST_P(ScatterAnswers, AddIsLinearAndAgrees) {
  EXPECT_TRUE(checkLinear(makeScatter(GetParam(), "add")));
  EXPECT_TRUE(checkKernels(makeScatter(GetParam(), "add"), 1e-14));
}

TEST_P(ScatterAnswers, AssignmentIsLinearAndAgrees) {
  EXPECT_TRUE(checkLinear(makeScatter(GetParam(), "")));
  EXPECT_TRUE(checkKernels(makeScatter(GetParam(), "")));
}

TEST_P(ScatterAnswers, OtherKindsAgree) {
  for (const char *body : {"multiply", "maximum", "minimum", "subtract"})
    EXPECT_TRUE(checkKernels(makeScatter(GetParam(), body), 1e-14));
}

INSTANTIATE_TEST_SUITE_P(All, ScatterAnswers, testing::ValuesIn(cases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(ScatterDerivative, UniqueAssignment) {
  ScatterCase c = {
      "",
      "5xf64",
      "3xi32",
      "[2, 0, 7]",
      "3xf64",
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1"};
  EXPECT_TRUE(checkLinear(makeScatter(c, "", "true")));
  std::vector<std::vector<double>> gradients =
      computeGradients(makeScatter(c, "", "true"));
  EXPECT_EQ(gradients[0], std::vector<double>({0, 1, 0, 1, 1}));
  EXPECT_EQ(gradients[1], std::vector<double>({1, 1, 0}));
}

TEST(ScatterDerivative, OverwrittenUpdatesGetNothing) {
  ScatterCase c = {
      "",
      "3xf64",
      "3xi32",
      "[1, 1, 2]",
      "3xf64",
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1"};
  EXPECT_EQ(computeGradients(makeScatter(c, ""))[1],
            std::vector<double>({0, 1, 1}));
}

// Row 0 keeps its element, row 1 shares with one of two updates, row 2 is that
// of two equal ones; the last update lies outside.
TEST(ScatterDerivative, EqualOnesShare) {
  ScatterCase c = {
      "",
      "4xf64",
      "6xi32",
      "[0, 1, 1, 2, 2, 9]",
      "6xf64",
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1"};
  struct Values {
    const char *body, *operand, *updates;
  };
  for (auto [body, operand, updates] :
       {Values{"maximum", "[5.0, 3.0, 1.0, 7.0]",
               "[4.0, 3.0, 2.0, 6.0, 6.0, 8.0]"},
        Values{"minimum", "[-5.0, -3.0, -1.0, -7.0]",
               "[-4.0, -3.0, -2.0, -6.0, -6.0, -8.0]"}}) {
    std::string text = makeScatter(c, body);
    text.insert(text.find(", %i"), std::string(" {test.values = dense<") +
                                       operand + "> : tensor<4xf64>}");
    text.insert(text.find(") -> tensor"),
                std::string(" {test.values = dense<") + updates +
                    "> : tensor<6xf64>}");
    std::vector<std::vector<double>> gradients = computeGradients(text);
    EXPECT_EQ(gradients[0], std::vector<double>({1, 0.5, 0, 1})) << body;
    EXPECT_EQ(gradients[1], std::vector<double>({0, 0.5, 0, 0.5, 0.5, 0}))
        << body;
  }
}

// An operand may meet several updates that multiply it, an update no other one.
TEST(ScatterDerivative, FactorsHaveAddressesOfTheirOwn) {
  ScatterCase c = {"",
                   "5x2xf64",
                   "3x1xi32",
                   "[[2], [0], [7]]",
                   "3x2xf64",
                   "update_window_dims = [1], inserted_window_dims = [0], "
                   "scatter_dims_to_operand_dims = [0], index_vector_dim = 1"};
  for (const char *argument : {"%x", "%u"})
    EXPECT_TRUE(
        checkDerivative(fix(makeScatter(c, "multiply", "true"), argument)))
        << argument;
  std::string shared = makeScatter(cases[0], "multiply");
  EXPECT_TRUE(checkDerivative(fix(shared, "%u")));
  std::string message = printVjp(shared, "scatter");
  EXPECT_NE(message.find("expected a scatter with unique_indices to derive "
                         "updates that multiply, got one whose updates may "
                         "meet"),
            std::string::npos)
      << message;
}

TEST(ScatterDerivative, RefusesOtherBodies) {
  std::string message = printVjp(makeScatter(cases[0], "subtract"), "scatter");
  EXPECT_NE(
      message.find("expected a scatter of one input that adds, multiplies, "
                   "assigns or takes the maximum or minimum to derive, got "
                   "another body"),
      std::string::npos)
      << message;
}

TEST(ScatterRule, PositionsAreReducedByTheKind) {
  EXPECT_EQ(printRule(makeScatter(cases[0], "add")),
            "([c, b],[a],[a, b])->([c, b]) {a=6 reduced sum, b=3, c=5}");
  EXPECT_EQ(printRule(makeScatter(cases[0], "maximum")),
            "([c, b],[a],[a, b])->([c, b]) {a=6 reduced max, b=3, c=5}");
  EXPECT_EQ(printRule(makeScatter(cases[0], "")),
            "([c, b],[a],[a, b])->([c, b]) {a=6 whole, b=3, c=5}");
}

TEST_P(ScatterAnswers, DeriveWhatIsNeeded) {
  for (const char *body : {"add", "", "maximum", "minimum"})
    for (const char *argument : {"%x", "%u"})
      EXPECT_TRUE(checkDerivative(fix(makeScatter(GetParam(), body), argument)))
          << body << argument;
}

/// %x and %y take the updates %u and %v at the rows %i.
std::string makePair(const std::string &body) {
  return R"(
    func.func @f(%x: tensor<3xf64>, %y: tensor<3xf64>, %i: tensor<2xi32> {test.values = dense<[2, 2]> : tensor<2xi32>},
        %u: tensor<2xf64>, %v: tensor<2xf64>) -> tensor<3xf64> {
      %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
        )" +
         body + R"(
      }) : (tensor<3xf64>, tensor<3xf64>, tensor<2xi32>, tensor<2xf64>, tensor<2xf64>) -> (tensor<3xf64>, tensor<3xf64>)
      return %r#1 : tensor<3xf64>
    })";
}

TEST(ScatterPairs, AreEvaluatedOnly) {
  const char *assign = "stablehlo.return %c, %d : tensor<f64>, tensor<f64>";
  EXPECT_EQ(printRule(makePair(assign)),
            "([b],[b],[a],[a],[a])->([b],[b]) {a=2 whole, b=3}");
  std::string message = checkKernels(makePair(assign)).message();
  EXPECT_NE(
      message.find("expected a kernel of a scatter of one input, got 2\n"),
      std::string::npos)
      << message;
  message = printVjp(makePair(assign), "scatter");
  EXPECT_NE(
      message.find("expected a scatter of one input that adds, multiplies, "
                   "assigns or takes the maximum or minimum to derive, got "
                   "another body"),
      std::string::npos)
      << message;
  // The second input gets the sums with what the first one has become.
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<3xf64> {
      %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
      %i = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
      %u = stablehlo.constant dense<[10.0, 100.0]> : tensor<2xf64>
      %r:2 = "stablehlo.scatter"(%x, %x, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
        %s = stablehlo.add %a, %d : tensor<f64>
        stablehlo.return %c, %s : tensor<f64>, tensor<f64>
      }) : (tensor<3xf64>, tensor<3xf64>, tensor<2xi32>, tensor<2xf64>, tensor<2xf64>) -> (tensor<3xf64>, tensor<3xf64>)
      return %r#1 : tensor<3xf64>
    })"),
            std::vector<double>({1, 2, 110}));
}

// It stops at the first update.
TEST(ScatterPairs, StopAtOpsThatCannotRun) {
  std::string message =
      checkKernels(
          makePair("%s = \"other.op\"(%a) : (tensor<f64>) -> tensor<f64>\n"
                   "stablehlo.return %s, %b : tensor<f64>, tensor<f64>"))
          .message();
  EXPECT_EQ(message, "evaluation failed\nexpected an evaluation of "
                     "'other.op', got none\n");
}

TEST(ScatterRule, WindowsAreWholeWhereTheyMove) {
  // Dim 0 has room for one start only, which an index may still miss.
  EXPECT_EQ(printRule(makeScatter({"", "5x3xf64", "2x1xi32", "0", "2x5x3xf64",
                                   "update_window_dims = [1, 2], "
                                   "scatter_dims_to_operand_dims = [0], "
                                   "index_vector_dim = 1"},
                                  "add")),
            "([b, d],[a, e],[a, c, d])->([b, d]) {a=2 reduced sum, b=5 whole, "
            "c=5 whole, d=3, e=1 whole}");
  // A dimension without an index is written at 0.
  EXPECT_EQ(printRule(makeScatter({"", "7x4xf64", "2xi32", "0", "2xf64",
                                   "inserted_window_dims = [0, 1], "
                                   "scatter_dims_to_operand_dims = [1], "
                                   "index_vector_dim = 1"},
                                  "add")),
            "([b, c],[a],[a])->([b, c]) {a=2 reduced sum, b=7 whole, c=4}");
}

TEST(ScatterEvaluation, IntegersWrap) {
  ScatterCase c = {
      "",
      "3xi8",
      "4xi32",
      "[1, 1, 2, 3]",
      "4xi8",
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1"};
  for (const char *body :
       {"add", "multiply", "maximum", "minimum", "and", "or", "subtract", ""})
    EXPECT_TRUE(checkKernels(makeScatter(c, body))) << body;
  std::string text = makeScatter(c, "add");
  text.insert(text.find(">, %i") + 1,
              " {test.values = dense<[1, 100, 3]> : tensor<3xi8>}");
  text.insert(text.find("%u: tensor<4xi8>") + 16,
              " {test.values = dense<[20, 30, 5, 9]> : tensor<4xi8>}");
  EXPECT_EQ(evaluate(text), std::vector<double>({1, -106, 8}));
}
} // namespace
