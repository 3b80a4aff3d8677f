//===- ScatterTest.cpp - Answers of scatter -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
struct Case {
  const char *name, *operand, *indices, *values, *updates, *dims;
};

/// `body` names the op that combines; empty: assignment.
std::string makeScatter(const Case &c, const std::string &body,
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

const Case cases[] = {
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
    {"no_updates", "5xf64", "0xi32", "[]", "0xf64",
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1"}};

class ScatterAnswers : public testing::TestWithParam<Case> {};

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
  Case c = {"",
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
  Case c = {"",
            "3xf64",
            "3xi32",
            "[1, 1, 2]",
            "3xf64",
            "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
            "index_vector_dim = 1"};
  EXPECT_EQ(computeGradients(makeScatter(c, ""))[1],
            std::vector<double>({0, 1, 1}));
}

TEST(ScatterDerivative, RefusesOtherBodies) {
  std::string message = printVjp(makeScatter(cases[0], "maximum"), "scatter");
  EXPECT_NE(message.find("expected a scatter of one input that adds or assigns "
                         "to derive, got another body"),
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
} // namespace
