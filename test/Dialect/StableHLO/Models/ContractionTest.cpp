//===- ContractionTest.cpp - Answers of dot_general -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
/// Types of operands and result, and the dimension numbers in the text.
struct ContractionCase {
  const char *name, *lhs, *rhs, *dims, *result;
};

std::string makeDot(const ContractionCase &c, const char *lhsMark,
                    const char *rhsMark) {
  return std::string("func.func @f(%x: tensor<") + c.lhs + ">" + lhsMark +
         ", %y: tensor<" + c.rhs + ">" + rhsMark + ") -> tensor<" + c.result +
         "> {\n  %z = stablehlo.dot_general %x, %y, " + c.dims + " : (tensor<" +
         c.lhs + ">, tensor<" + c.rhs + ">) -> tensor<" + c.result +
         ">\n  return %z : tensor<" + c.result + ">\n}";
}

class DotDerivative : public testing::TestWithParam<ContractionCase> {};

TEST_P(DotDerivative, IsLinearInEachOperand) {
  EXPECT_TRUE(checkLinear(makeDot(GetParam(), "", " {test.fixed}")));
  EXPECT_TRUE(checkLinear(makeDot(GetParam(), " {test.fixed}", "")));
}

TEST_P(DotDerivative, AgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(makeDot(GetParam(), "", "")));
}

INSTANTIATE_TEST_SUITE_P(
    All, DotDerivative,
    testing::Values(
        ContractionCase{"matrices", "2x3xf64", "3x4xf64",
                        "contracting_dims = [1] x [0]", "2x4xf64"},
        ContractionCase{
            "batch", "5x2x3xf64", "5x3x4xf64",
            "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
            "5x2x4xf64"},
        ContractionCase{
            "batch_not_leading", "2x5x3xf64", "3x4x5xf64",
            "batching_dims = [1] x [2], contracting_dims = [2] x [0]",
            "5x2x4xf64"},
        ContractionCase{
            "two_batches_crossed", "2x5x3x4xf64", "5x3x2xf64",
            "batching_dims = [1, 0] x [0, 2], contracting_dims = [2] x [1]",
            "5x2x4xf64"},
        ContractionCase{"contracted_out_of_order", "2x3x4x5xf64", "5x6x3xf64",
                        "contracting_dims = [1, 3] x [2, 0]", "2x4x6xf64"},
        ContractionCase{"contracted_list_reversed", "3x4x2xf64", "3x4x5xf64",
                        "contracting_dims = [1, 0] x [1, 0]", "2x5xf64"},
        ContractionCase{"three_contracted", "3x4x2x7xf64", "2x3x4x5xf64",
                        "contracting_dims = [2, 0, 1] x [0, 1, 2]", "7x5xf64"},
        ContractionCase{"outer_product", "2x3xf64", "4xf64",
                        "contracting_dims = [] x []", "2x3x4xf64"},
        ContractionCase{"outer_with_batch", "2x3xf64", "2x4xf64",
                        "batching_dims = [0] x [0], contracting_dims = [] x []",
                        "2x3x4xf64"},
        ContractionCase{"vectors", "3xf64", "3xf64",
                        "contracting_dims = [0] x [0]", "f64"},
        ContractionCase{"only_batch", "3xf64", "3xf64",
                        "batching_dims = [0] x [0], contracting_dims = [] x []",
                        "3xf64"},
        ContractionCase{"size_one", "1x3xf64", "3x1xf64",
                        "contracting_dims = [1] x [0]", "1x1xf64"},
        ContractionCase{"empty_contraction", "2x0xf64", "0x4xf64",
                        "contracting_dims = [1] x [0]", "2x4xf64"},
        ContractionCase{"empty_rows", "0x3xf64", "3x4xf64",
                        "contracting_dims = [1] x [0]", "0x4xf64"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Contraction, DerivativeHasOperandTypesWhenTheResultIsWider) {
  EXPECT_EQ(printVjp(R"(
    func.func @f(%x: tensor<2x3xbf16>, %y: tensor<3x4xbf16>) -> tensor<2x4xf32> {
      %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0],
          precision = [HIGHEST, DEFAULT]
          : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
      return %z : tensor<2x4xf32>
    })",
                     "dot_general"),
            "stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], "
            "precision = [HIGHEST, DEFAULT] : (tensor<2x3xbf16>, "
            "tensor<3x4xbf16>) -> tensor<2x4xf32>\n"
            "stablehlo.dot_general %arg2, %1, contracting_dims = [1] x [1], "
            "precision = [HIGHEST, DEFAULT] : (tensor<2x4xf32>, "
            "tensor<3x4xf32>) -> tensor<2x3xf32>\n"
            "stablehlo.dot_general %4, %arg2, contracting_dims = [0] x [0], "
            "precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, "
            "tensor<2x4xf32>) -> tensor<3x4xf32>\n");
}

TEST(Contraction, RuleNamesAllFactors) {
  EXPECT_EQ(printRule(R"(
    func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<3x4x5xf32>) -> tensor<5x2x4xf32> {
      %z = stablehlo.dot_general %x, %y, batching_dims = [1] x [2],
          contracting_dims = [2] x [0]
          : (tensor<2x5x3xf32>, tensor<3x4x5xf32>) -> tensor<5x2x4xf32>
      return %z : tensor<5x2x4xf32>
    })"),
            "([b, a, d],[d, c, a])->([a, b, c]) {a=5, b=2, c=4, d=3 reduced "
            "sum}");
}

TEST(Contraction, EvaluatesInWiderTypes) {
  // 2^24 + 1 - 2^24 needs more digits than f32 has.
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<f32> {
      %x = stablehlo.constant dense<[1.6777216e7, 1.0, -1.6777216e7]> : tensor<3xf32>
      %y = stablehlo.constant dense<1.0> : tensor<3xf32>
      %z = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
          : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
      return %z : tensor<f32>
    })"),
            std::vector<double>({1}));
}

TEST(Contraction, EvaluatesIntegersModuloTheirWidth) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<2xi8> {
      %x = stablehlo.constant dense<[[100, 2], [-100, 3]]> : tensor<2x2xi8>
      %y = stablehlo.constant dense<[2, 10]> : tensor<2xi8>
      %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<2x2xi8>, tensor<2xi8>) -> tensor<2xi8>
      return %z : tensor<2xi8>
    })"),
            std::vector<double>({-36, 86}));
}

TEST(Contraction, EvaluatesMoreColumnsThanOneBlock) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<f32> {
      %x = stablehlo.constant dense<1.0> : tensor<2x3xf32>
      %y = stablehlo.iota dim = 1 : tensor<3x700xf32>
      %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<2x3xf32>, tensor<3x700xf32>) -> tensor<2x700xf32>
      %last = stablehlo.slice %z [1:2, 699:700]
          : (tensor<2x700xf32>) -> tensor<1x1xf32>
      %r = stablehlo.reshape %last : (tensor<1x1xf32>) -> tensor<f32>
      return %r : tensor<f32>
    })"),
            std::vector<double>({2097}));
}

TEST(ContractionDecomposition, OfIntegersOfTwoWidths) {
  EXPECT_TRUE(checkDecomposition(R"(
    func.func @f(%x: tensor<2x3xi8> {test.low = -128.0, test.high = 127.0}, %y: tensor<3x4xi32> {test.low = -1.0e9, test.high = 1.0e9}) -> tensor<2x4xi32> {
      %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<2x3xi8>, tensor<3x4xi32>) -> tensor<2x4xi32>
      return %z : tensor<2x4xi32>
    })",
                                 0));
}

// One side without elements is enough.
TEST(ContractionDecomposition, OfNothing) {
  for (bool isLeft : {false, true}) {
    std::string x = isLeft ? "tensor<0xf64>" : "tensor<2xf64>",
                y = isLeft ? "tensor<2xf64>" : "tensor<0xf64>",
                z = isLeft ? "tensor<0x2xf64>" : "tensor<2x0xf64>";
    EXPECT_TRUE(checkDecomposition(
        "func.func @f(%x: " + x + ", %y: " + y + ") -> " + z +
            " {\n  %z = stablehlo.dot_general %x, %y, contracting_dims = [] x "
            "[] : (" +
            x + ", " + y + ") -> " + z + "\n  return %z : " + z + "\n}",
        0));
  }
}
} // namespace
