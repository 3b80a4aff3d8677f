//===- ConvolutionTest.cpp - Answers of convolution -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
/// Types of operands and result, and what stands between them in the text.
struct ConvolutionCase {
  const char *name, *lhs, *rhs, *result, *dims, *window;
  int featureGroups = 1, batchGroups = 1;
};

std::string makeText(const ConvolutionCase &c, const char *lhsMark,
                     const char *rhsMark) {
  std::string x = std::string("tensor<") + c.lhs + ">",
              w = std::string("tensor<") + c.rhs + ">",
              y = std::string("tensor<") + c.result + ">";
  return "func.func @f(%x: " + x + lhsMark + ", %w: " + w + rhsMark + ") -> " +
         y +
         " {\n  %y = stablehlo.convolution(%x, %w) dim_numbers = " + c.dims +
         ", window = {" + c.window +
         "} {batch_group_count = " + std::to_string(c.batchGroups) +
         " : i64, feature_group_count = " + std::to_string(c.featureGroups) +
         " : i64} : (" + x + ", " + w + ") -> " + y + "\n  return %y : " + y +
         "\n}";
}

std::string makeText(const ConvolutionCase &c) { return makeText(c, "", ""); }

class ConvolutionDerivative : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(ConvolutionDerivative, IsLinearInEachOperand) {
  EXPECT_TRUE(checkLinear(makeText(GetParam(), "", " {test.fixed}")));
  EXPECT_TRUE(checkLinear(makeText(GetParam(), " {test.fixed}", "")));
}

TEST_P(ConvolutionDerivative, AgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(makeText(GetParam())));
}

constexpr const char *kLine = "[b, 0, f]x[0, i, o]->[b, 0, f]";
constexpr const char *kPicture = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";

INSTANTIATE_TEST_SUITE_P(
    All, ConvolutionDerivative,
    testing::Values(
        ConvolutionCase{"plain", "2x7x3xf64", "3x3x4xf64", "2x5x4xf64", kLine,
                        ""},
        ConvolutionCase{"padded", "2x7x3xf64", "3x3x4xf64", "2x8x4xf64", kLine,
                        "pad = [[2, 1]]"},
        // One element of the input is seen by no window.
        ConvolutionCase{"strided", "2x8x3xf64", "3x3x4xf64", "2x3x4xf64", kLine,
                        "stride = [2]"},
        ConvolutionCase{"strided_and_padded", "2x7x3xf64", "3x3x4xf64",
                        "2x4x4xf64", kLine, "stride = [2], pad = [[1, 1]]"},
        ConvolutionCase{"cropped", "2x9x3xf64", "3x3x4xf64", "2x2x4xf64", kLine,
                        "stride = [2], pad = [[-2, -1]]"},
        ConvolutionCase{"input_dilated", "2x4x3xf64", "3x3x4xf64", "2x8x4xf64",
                        kLine, "pad = [[2, 1]], lhs_dilate = [2]"},
        ConvolutionCase{"kernel_dilated", "2x9x3xf64", "3x3x4xf64", "2x5x4xf64",
                        kLine, "rhs_dilate = [2]"},
        ConvolutionCase{
            "all_at_once", "2x7x3xf64", "3x3x4xf64", "2x6x4xf64", kLine,
            "stride = [2], pad = [[2, -1]], lhs_dilate = [3], rhs_dilate = "
            "[4], reverse = [true]"},
        ConvolutionCase{"reversed", "2x7x3xf64", "3x3x4xf64", "2x7x4xf64",
                        kLine, "pad = [[2, 0]], reverse = [true]"},
        ConvolutionCase{"only_padding_is_seen", "1x2x3xf64", "1x3x4xf64",
                        "1x4x4xf64", kLine, "stride = [3], pad = [[3, 5]]"},
        ConvolutionCase{"no_window", "4x3xf64", "3x5xf64", "4x5xf64",
                        "[b, f]x[i, o]->[b, f]", ""},
        ConvolutionCase{"no_window_in_other_orders", "3x4xf64", "5x3xf64",
                        "5x4xf64", "[f, b]x[o, i]->[f, b]", ""},
        ConvolutionCase{"picture", "2x5x6x3xf64", "3x2x3x4xf64", "2x3x5x4xf64",
                        kPicture, "stride = [2, 1], pad = [[1, 1], [0, 0]]"},
        ConvolutionCase{"dims_in_other_orders", "3x5x2x6xf64", "4x3x2x3xf64",
                        "5x2x4x3xf64",
                        "[f, 1, b, 0]x[o, i, 1, 0]->[1, b, f, 0]",
                        "stride = [2, 1], pad = [[1, 1], [0, 1]]"},
        ConvolutionCase{"space", "1x3x4x3x2xf64", "2x2x1x2x3xf64",
                        "1x2x3x3x3xf64",
                        "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", ""},
        ConvolutionCase{"feature_groups", "2x5x6xf64", "3x3x8xf64", "2x5x8xf64",
                        kLine, "pad = [[1, 1]]", 2},
        ConvolutionCase{"each_feature", "2x5x3xf64", "3x1x6xf64", "2x3x6xf64",
                        kLine, "stride = [2], pad = [[1, 1]]", 3},
        ConvolutionCase{"feature_groups_in_other_orders", "6x2x5xf64",
                        "8x3x3xf64", "5x8x2xf64",
                        "[f, b, 0]x[o, 0, i]->[0, f, b]", "pad = [[1, 1]]", 2},
        ConvolutionCase{"batch_groups", "4x5x3xf64", "3x3x6xf64", "2x3x6xf64",
                        kLine, "", 1, 2},
        ConvolutionCase{"batch_groups_in_other_orders", "3x6x5xf64",
                        "6x3x3xf64", "3x6x2xf64",
                        "[f, b, 0]x[o, 0, i]->[0, f, b]", "reverse = [true]", 1,
                        3},
        ConvolutionCase{"no_features", "2x5x0xf64", "3x0x4xf64", "2x3x4xf64",
                        kLine, ""},
        ConvolutionCase{"no_samples", "0x5x3xf64", "3x3x4xf64", "0x3x4xf64",
                        kLine, ""},
        ConvolutionCase{"no_places", "2x2x3xf64", "3x3x4xf64", "2x0x4xf64",
                        kLine, ""},
        ConvolutionCase{"no_kernel", "2x5x3xf64", "0x3x4xf64", "2x6x4xf64",
                        kLine, ""}),
    [](const auto &info) { return std::string(info.param.name); });

// The derivative of a derivative: the kernel is reversed, the input dilated.
TEST(Convolution, DerivativeIsOfTheKind) {
  EXPECT_EQ(
      printVjp(R"(
    func.func @f(%x: tensor<2x8x6xbf16>, %w: tensor<3x3x4xbf16>) -> tensor<2x4x4xf32> {
      %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
          window = {stride = [2], pad = [[1, 0]]}
          {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}
          : (tensor<2x8x6xbf16>, tensor<3x3x4xbf16>) -> tensor<2x4x4xf32>
      return %y : tensor<2x4x4xf32>
    })",
               "convolution"),
      "stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, "
      "o]->[b, 0, f], window = {stride = [2], pad = [[1, 0]]} "
      "{batch_group_count = 1 : i64, feature_group_count = 2 : i64, "
      "precision_config = [#stablehlo<precision HIGHEST>, "
      "#stablehlo<precision DEFAULT>]} : (tensor<2x8x6xbf16>, "
      "tensor<3x3x4xbf16>) -> tensor<2x4x4xf32>\n"
      "stablehlo.convolution(%arg2, %4) dim_numbers = [b, 0, f]x[0, o, i]->[b, "
      "0, f], window = {stride = [1], pad = [[1, 2]], lhs_dilate = [2], "
      "rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, "
      "feature_group_count = 2 : i64, precision_config = [#stablehlo<precision "
      "HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4xf32>, "
      "tensor<3x6x2xf32>) -> tensor<2x8x6xf32>\n"
      "stablehlo.convolution(%7, %arg2) dim_numbers = [f, 0, b]x[i, 0, o]->[0, "
      "b, f], window = {stride = [1], pad = [[1, 0]], lhs_dilate = [1], "
      "rhs_dilate = [2], reverse = [false]} {batch_group_count = 2 : i64, "
      "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision "
      "HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x6xf32>, "
      "tensor<2x4x4xf32>) -> tensor<3x3x4xf32>\n");
}

TEST(Convolution, RuleNamesAllFactors) {
  EXPECT_EQ(printRule(makeText(
                {"", "2x8x6xf32", "3x3x8xf32", "2x6x8xf32", kLine, "", 2})),
            "([b, e, ad],[f, d, ac])->([b, g, ac]) {a=2, b=2, c=4, d=3 reduced "
            "sum, e=8 whole, f=3 whole, g=6 whole}");
  EXPECT_EQ(printRule(makeText(
                {"", "6x8x3xf32", "3x3x8xf32", "3x6x8xf32", kLine, "", 1, 2})),
            "([ab, e, d],[f, d, ac])->([b, g, ac]) {a=2, b=3, c=4, d=3 reduced "
            "sum, e=8 whole, f=3 whole, g=6 whole}");
  EXPECT_EQ(printRule(makeText({"", "6x4xi1", "4x3xi1", "6x3xi1",
                                "[b, f]x[i, o]->[b, f]", ""})),
            "([a, c],[c, b])->([a, b]) {a=6, b=3, c=4 reduced or}");
}

// Samples of none are no multiple of groups.
TEST(Convolution, RuleOfNothing) {
  EXPECT_EQ(printRule(makeText({"", "0x3xf32", "3x2xf32", "0x2xf32",
                                "[b, f]x[i, o]->[b, f]", "", 1, 2})),
            "([a, b],[c, d])->([e, f]) {a=0 whole, b=3 whole, c=3 whole, d=2 "
            "whole, e=0 whole, f=2 whole}");
}

/// The factors of places of a line: input, kernel, result.
std::string ruleOfPlaces(const char *lhs, const char *rhs, const char *result,
                         const char *window) {
  return printRule(makeText({"", lhs, rhs, result, kLine, window}));
}

// Places pass under a kernel of one element and are reduced by one as large as
// its input; so it is for the cotangents of both.
TEST(Convolution, RuleOfPlacesThatAreEqual) {
  std::string passes =
      "([a, d, c],[1, c, b])->([a, d, b]) {a=2, b=4, c=3 reduced sum, d=8}";
  EXPECT_EQ(ruleOfPlaces("2x8x3xf32", "1x3x4xf32", "2x8x4xf32", ""), passes);
  EXPECT_EQ(ruleOfPlaces("2x8x3xf32", "1x3x4xf32", "2x8x4xf32",
                         "rhs_dilate = [3], reverse = [true]"),
            passes);
  EXPECT_EQ(ruleOfPlaces("2x8x3xf32", "8x3x4xf32", "2x1x4xf32", "stride = [2]"),
            "([a, d, c],[d, c, b])->([a, 1, b]) {a=2, b=4, c=3 reduced sum, "
            "d=8 reduced sum}");
  EXPECT_EQ(ruleOfPlaces("2x1x3xf32", "8x3x4xf32", "2x8x4xf32",
                         "pad = [[7, 7]], lhs_dilate = [2], reverse = [true]"),
            "([a, 1, c],[d, c, b])->([a, d, b]) {a=2, b=4, c=3 reduced sum, "
            "d=8}");
}

// Whatever moves the window off that, even by one element.
TEST(Convolution, RuleOfPlacesThatAreNot) {
  auto isWhole = [](const char *lhs, const char *rhs, const char *result,
                    const char *window) {
    std::string rule = ruleOfPlaces(lhs, rhs, result, window);
    EXPECT_NE(rule.find("whole"), std::string::npos) << rule;
  };
  isWhole("2x8x3xf32", "1x3x4xf32", "2x4x4xf32", "stride = [2]");
  isWhole("2x8x3xf32", "1x3x4xf32", "2x8x4xf32", "pad = [[1, -1]]");
  isWhole("2x8x3xf32", "1x3x4xf32", "2x9x4xf32", "pad = [[0, 1]]");
  isWhole("2x4x3xf32", "1x3x4xf32", "2x7x4xf32", "lhs_dilate = [2]");
  isWhole("2x8x3xf32", "8x3x4xf32", "2x1x4xf32", "pad = [[1, -1]]");
  isWhole("2x8x3xf32", "8x3x4xf32", "2x2x4xf32", "pad = [[0, 1]]");
  isWhole("2x8x3xf32", "8x3x4xf32", "2x1x4xf32", "reverse = [true]");
  isWhole("2x8x3xf32", "7x3x4xf32", "2x1x4xf32", "stride = [2]");
  isWhole("2x8x3xf32", "8x3x4xf32", "2x1x4xf32",
          "pad = [[0, 7]], rhs_dilate = [2]");
  isWhole("2x8x3xf32", "8x3x4xf32", "2x1x4xf32",
          "pad = [[0, -7]], lhs_dilate = [2]");
  isWhole("2x1x3xf32", "8x3x4xf32", "2x8x4xf32", "pad = [[7, 7]]");
  isWhole("2x1x3xf32", "8x3x4xf32", "2x8x4xf32",
          "pad = [[6, 8]], reverse = [true]");
  isWhole("2x1x3xf32", "8x3x4xf32", "2x4x4xf32",
          "stride = [2], pad = [[7, 7]], reverse = [true]");
  isWhole("2x1x3xf32", "8x3x4xf32", "2x7x4xf32",
          "pad = [[7, 6]], reverse = [true]");
  isWhole("2x1x3xf32", "8x3x4xf32", "2x8x4xf32",
          "pad = [[7, 14]], rhs_dilate = [2], reverse = [true]");
}

TEST(Convolution, EvaluatesIntegersModuloTheirWidth) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<1x2x1xi8> {
      %x = stablehlo.constant dense<[[[100], [2], [3]]]> : tensor<1x3x1xi8>
      %w = stablehlo.constant dense<[[[2]], [[-50]]]> : tensor<2x1x1xi8>
      %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x3x1xi8>, tensor<2x1x1xi8>) -> tensor<1x2x1xi8>
      return %y : tensor<1x2x1xi8>
    })"),
            std::vector<double>({100, 110}));
}

// Booleans are added by "or".
TEST(Convolution, EvaluatesBooleans) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<1x3x1xi1> {
      %x = stablehlo.constant dense<[[[true], [true], [false], [false]]]> : tensor<1x4x1xi1>
      %w = stablehlo.constant dense<true> : tensor<2x1x1xi1>
      %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x4x1xi1>, tensor<2x1x1xi1>) -> tensor<1x3x1xi1>
      return %y : tensor<1x3x1xi1>
    })"),
            std::vector<double>({1, 1, 0}));
}

// 2^24 + 1 - 2^24 needs more digits than f32 has.
TEST(Convolution, EvaluatesInWiderTypes) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<1x1x1xf32> {
      %x = stablehlo.constant dense<[[[1.6777216e7], [1.0], [-1.6777216e7]]]> : tensor<1x3x1xf32>
      %w = stablehlo.constant dense<1.0> : tensor<3x1x1xf32>
      %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x3x1xf32>, tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
      return %y : tensor<1x1x1xf32>
    })"),
            std::vector<double>({1}));
}

TEST(ConvolutionDecomposition, OfNothing) {
  for (const ConvolutionCase &c :
       {ConvolutionCase{"", "2x5x0xf64", "3x0x4xf64", "2x3x4xf64", kLine, ""},
        ConvolutionCase{"", "2x5x3xf64", "0x3x4xf64", "2x6x4xf64", kLine, ""},
        ConvolutionCase{"", "2x2x3xf64", "3x3x4xf64", "2x0x4xf64", kLine, ""}})
    EXPECT_TRUE(checkDecomposition(makeText(c), 0));
}
} // namespace
