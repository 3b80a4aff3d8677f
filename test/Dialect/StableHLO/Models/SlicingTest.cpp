//===- SlicingTest.cpp - Answers of slice, pad and concatenate ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace llmc;
using namespace llmc::test;

namespace {
struct SlicingCase {
  const char *name, *from, *how, *to;
};

std::string makeSlice(const SlicingCase &c) {
  return std::string("func.func @f(%x: tensor<") + c.from + ">) -> tensor<" +
         c.to + "> {\n  %y = stablehlo.slice %x [" + c.how + "] : (tensor<" +
         c.from + ">) -> tensor<" + c.to + ">\n  return %y : tensor<" + c.to +
         ">\n}";
}

std::string makePad(const SlicingCase &c) {
  return std::string("func.func @f(%x: tensor<") + c.from +
         ">, %v: tensor<f64>) -> tensor<" + c.to +
         "> {\n  %y = stablehlo.pad %x, %v, " + c.how + " : (tensor<" + c.from +
         ">, tensor<f64>) -> tensor<" + c.to + ">\n  return %y : tensor<" +
         c.to + ">\n}";
}

class SliceAnswers : public testing::TestWithParam<SlicingCase> {};
class PadAnswers : public testing::TestWithParam<SlicingCase> {};
std::string nameOf(const testing::TestParamInfo<SlicingCase> &info) {
  return info.param.name;
}

TEST_P(SliceAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(makeSlice(GetParam())));
  EXPECT_TRUE(checkKernels(makeSlice(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    All, SliceAnswers,
    testing::Values(
        SlicingCase{"plain", "3x4xf64", "1:2, 0:4", "1x4xf64"},
        SlicingCase{"strided", "9x4xf64", "1:8:3, 0:4:2", "3x2xf64"},
        // The last stride ends before the limit.
        SlicingCase{"remainder", "9xf64", "0:9:4", "3xf64"},
        SlicingCase{"short_limit", "9xf64", "2:8:5", "2xf64"},
        SlicingCase{"empty", "3xf64", "2:2", "0xf64"},
        SlicingCase{"of_empty", "0xf64", "0:0", "0xf64"},
        SlicingCase{"size_one", "1x1xf64", "0:1, 0:1:7", "1x1xf64"}),
    nameOf);

TEST_P(PadAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(makePad(GetParam())));
  EXPECT_TRUE(checkKernels(makePad(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    All, PadAnswers,
    testing::Values(
        SlicingCase{"edges", "2x3xf64",
                    "low = [1, 0], high = [2, 3], interior = [0, 0]",
                    "5x6xf64"},
        SlicingCase{"interior", "2x3xf64",
                    "low = [0, 0], high = [0, 0], interior = [1, 2]",
                    "3x7xf64"},
        SlicingCase{"cropped", "4x5xf64",
                    "low = [-1, 2], high = [0, -3], interior = [0, 0]",
                    "3x4xf64"},
        SlicingCase{"cropped_at_the_end", "4xf64",
                    "low = [0], high = [-1], interior = [0]", "3xf64"},
        // Low and high cut inside the holes between elements.
        SlicingCase{"cropped_in_holes", "4xf64",
                    "low = [-2], high = [-1], interior = [2]", "7xf64"},
        SlicingCase{"cropped_to_nothing", "2xf64",
                    "low = [-1], high = [-1], interior = [0]", "0xf64"},
        SlicingCase{"only_padding", "2xf64",
                    "low = [-5], high = [8], interior = [1]", "6xf64"},
        SlicingCase{"of_empty", "0x2xf64",
                    "low = [1, 0], high = [1, 0], interior = [3, 0]",
                    "2x2xf64"},
        SlicingCase{"scalar", "f64", "low = [], high = [], interior = []",
                    "f64"},
        SlicingCase{"nothing", "2xf64", "low = [0], high = [0], interior = [0]",
                    "2xf64"}),
    nameOf);

const char *concatenation = R"(
  func.func @f(%x: tensor<2x3xf64>, %y: tensor<2x0xf64>, %z: tensor<2x1xf64>) -> tensor<2x7xf64> {
    %r = stablehlo.concatenate %x, %y, %z, %x, dim = 1
        : (tensor<2x3xf64>, tensor<2x0xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x7xf64>
    return %r : tensor<2x7xf64>
  })";

TEST(ConcatenateAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(concatenation));
  EXPECT_TRUE(checkKernels(concatenation));
  EXPECT_EQ(printRule(concatenation),
            "([a, c],[a, d],[a, e],[a, f])->([a, b]) {a=2, b=7 permuted, c=3 "
            "permuted, d=0 permuted, e=1 permuted, f=3 permuted}");
}

TEST(SlicingRule, ChangedDimensionsShareNoFactor) {
  EXPECT_EQ(printRule(makeSlice({"", "3x4xf64", "1:2, 0:4", "1x4xf64"})),
            "([a, c])->([b, c]) {a=3 permuted, b=1 permuted, c=4}");
  EXPECT_EQ(
      printRule(makePad({"", "4x5xf64",
                         "low = [-1, 0], high = [1, 0], interior = [0, 0]",
                         "4x5xf64"})),
      "([a, c],[])->([b, c]) {a=4 permuted, b=4 permuted, c=5}");
}

TEST(SlicingEvaluation, PadsAfterInteriorPadding) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<5xi32> {
      %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
      %v = stablehlo.constant dense<9> : tensor<i32>
      %y = stablehlo.pad %x, %v, low = [-1], high = [1], interior = [1]
          : (tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
      return %y : tensor<5xi32>
    })"),
            std::vector<double>({9, 2, 9, 3, 9}));
}

TEST(SlicingDerivative, DerivesWhatIsNeeded) {
  std::string text =
      makePad({"", "2x3xf64", "low = [1, 0], high = [-1, 3], interior = [0, 1]",
               "2x8xf64"});
  EXPECT_TRUE(checkDerivative(fix(text, "%x")));
  EXPECT_TRUE(checkDerivative(fix(text, "%v")));
  for (const char *argument : {"%x", "%y", "%z"})
    EXPECT_TRUE(checkDerivative(fix(concatenation, argument))) << argument;
}

TEST(MovementDerivative, BroadcastsSumAndTurnBack) {
  for (auto [from, dims, to] : {std::tuple("2x3", "1, 0", "3x2"),
                                {"2x3", "2, 0", "3x5x2"},
                                {"2x1", "1, 0", "4x2"},
                                {"2x3", "0, 1", "2x3"}}) {
    std::string in = std::string("tensor<") + from + "xf64>",
                out = std::string("tensor<") + to + "xf64>";
    std::string text = "func.func @f(%x: " + in + ") -> " + out +
                       " {\n  %y = stablehlo.broadcast_in_dim %x, dims = [" +
                       dims + "] : (" + in + ") -> " + out +
                       "\n  return %y : " + out + "\n}";
    EXPECT_TRUE(checkLinear(text)) << text;
    EXPECT_TRUE(checkKernels(text)) << text;
  }
}

TEST(MovementDerivative, BarriersPassWhatIsThere) {
  auto text = [](const std::string &returned) {
    return "func.func @f(%x: tensor<2xf64>, %y: tensor<3xf64>, %n: "
           "tensor<i32>) -> " +
           std::string(returned == "%z#0" ? "tensor<2xf64>" : "tensor<3xf64>") +
           " {\n  %z:3 = stablehlo.optimization_barrier %x, %y, %n : "
           "tensor<2xf64>, tensor<3xf64>, tensor<i32>\n  return " +
           returned + " : " +
           std::string(returned == "%z#0" ? "tensor<2xf64>" : "tensor<3xf64>") +
           "\n}";
  };
  for (const char *returned : {"%z#0", "%z#1"}) {
    EXPECT_TRUE(checkLinear(text(returned))) << returned;
    for (const char *argument : {"%x", "%y"})
      EXPECT_TRUE(checkDerivative(fix(text(returned), argument)))
          << returned << argument;
  }
  EXPECT_EQ(printVjp(text("%z#1"), "optimization_barrier"),
            "stablehlo.optimization_barrier %arg0, %arg1, %arg2 : "
            "tensor<2xf64>, tensor<3xf64>, tensor<i32>\n"
            "stablehlo.optimization_barrier %arg3 : tensor<3xf64>\n");
}

// What has no elements has no factors to share.
TEST(MovementRule, ReshapesOfNothingAreWhole) {
  EXPECT_EQ(printRule(R"(
    func.func @f(%x: tensor<0x4xf64>) -> tensor<2x0x3xf64> {
      %y = stablehlo.reshape %x : (tensor<0x4xf64>) -> tensor<2x0x3xf64>
      return %y : tensor<2x0x3xf64>
    })"),
            "([a, b])->([c, d, e]) {a=0 whole, b=4 whole, c=2 whole, d=0 "
            "whole, e=3 whole}");
}

/// With which operand the padded value is a sum, a product and a maximum.
std::vector<int> sizesOfGroups(const char *value) {
  GraphContext context;
  auto module = context.parse(std::string(R"(
    func.func @f(%x: tensor<4xf32>) -> tensor<6xf32> {
      %v = stablehlo.constant dense<)") +
                              value + R"(> : tensor<f32>
      %y = stablehlo.pad %x, %v, low = [1], high = [1], interior = [0]
          : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
      return %y : tensor<6xf32>
    })");
  std::vector<int> sizes;
  if (!module)
    return sizes;
  module->walk([&](graph::ShardingRuleOpInterface op) {
    if (op->getNumOperands() != 2)
      return;
    graph::ShardingRule rule = op.getShardingRule();
    for (ReductionKind kind :
         {ReductionKind::sum, ReductionKind::product, ReductionKind::max})
      for (const graph::Linearity &linear : rule.carries)
        if (linear.kind == kind && linear.groups.size() == 1)
          sizes.push_back(int(linear.groups[0].size()));
  });
  return sizes;
}

// What is neutral every device may repeat; another value is a term.
TEST(SlicingRules, NeutralPaddingIsNoTerm) {
  EXPECT_EQ(sizesOfGroups("0.0"), std::vector<int>({1, 2, 2}));
  EXPECT_EQ(sizesOfGroups("1.0"), std::vector<int>({2, 1, 2}));
  EXPECT_EQ(sizesOfGroups("0xFF800000"), std::vector<int>({2, 2, 1}));
  EXPECT_EQ(sizesOfGroups("2.0"), std::vector<int>({2, 2, 2}));
}
} // namespace
