//===- GroupedDotTest.cpp - Answers of grouped_dot ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "GraphContext.h"
#include "RuleHarness.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"

using namespace llmc;
using namespace llmc::test;

namespace {
/// A function of one product, whose sizes are a constant.
std::string makeProduct(const std::string &x, const std::string &w,
                        const std::string &y, const std::string &sizes,
                        const std::string &dims, bool hasFirst = false) {
  std::string list = "tensor<" + sizes.substr(0, sizes.find('=')) + "xi32>",
              first = "tensor<i32>";
  return "func.func @f(%x: tensor<" + x + ">, %w: tensor<" + w +
         ">) -> tensor<" + y + "> {\n  %s = stablehlo.constant dense<" +
         sizes.substr(sizes.find('=') + 1) + "> : " + list +
         "\n  %b = stablehlo.constant dense<1> : " + first +
         "\n  %y = nn.grouped_dot %x, %w, %s " + (hasFirst ? "first %b " : "") +
         dims + " : (tensor<" + x + ">, tensor<" + w + ">, " + list +
         (hasFirst ? ", " + first : "") + ") -> tensor<" + y +
         ">\n  return %y : tensor<" + y + ">\n}";
}

const std::string kFree = "batch [] x [] contracting [1] x [1] rows 0 groups 0";
const std::string kContracted = "batch [] x [] contracting [0] x [0] rows 0";

std::string makeFree(const std::string &element = "f64") {
  return makeProduct("6x2x" + element, "2x2x4x" + element, "6x4x" + element,
                     "2=[3, 2]", kFree);
}
std::string makeContracted() {
  return makeProduct("6x2xf64", "6x4xf64", "2x2x4xf64", "2=[3, 2]",
                     kContracted);
}

using Numbers = std::vector<double>;

TEST(GroupedDot, RowsMeetTheMatrixOfTheirGroup) {
  std::string text = R"(
    func.func @f() -> tensor<5x1xf32> {
      %x = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0]]> : tensor<5x1xf32>
      %w = stablehlo.constant dense<[[[10.0]], [[20.0]], [[30.0]]]> : tensor<3x1x1xf32>
      %s = stablehlo.constant dense<[1, 0, 3]> : tensor<3xi32>
      %y = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<5x1xf32>, tensor<3x1x1xf32>, tensor<3xi32>) -> tensor<5x1xf32>
      return %y : tensor<5x1xf32>
    })";
  EXPECT_EQ(evaluate(text), (Numbers{10, 60, 90, 120, 0}));
  std::string second = text;
  second.replace(second.find("%w, %s"), 6, "%w, %s first %s1");
  second.replace(second.find(", tensor<3xi32>) ->"), 19,
                 ", tensor<3xi32>, tensor<i32>) ->");
  second.replace(second.find("%y ="), 4,
                 "%s1 = stablehlo.constant dense<2> : tensor<i32>\n%y =");
  EXPECT_EQ(evaluate(second), (Numbers{0, 20, 30, 40, 0}));
}

TEST(GroupedDot, ContractedRowsMakeAMatrixOfEachGroup) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<2x3x1x1xi32> {
      %x = stablehlo.constant dense<[[[1], [2], [3]], [[4], [5], [6]]]> : tensor<2x3x1xi32>
      %s = stablehlo.constant dense<[[1, 0, 1], [0, 3, 0]]> : tensor<2x3xi64>
      %y = nn.grouped_dot %x, %x, %s batch [0] x [0] contracting [1] x [1] rows 1 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>, tensor<2x3xi64>) -> tensor<2x3x1x1xi32>
      return %y : tensor<2x3x1x1xi32>
    })"),
            (Numbers{1, 0, 4, 0, 77, 0}));
}

TEST(GroupedDot, SizesFitTheRows) {
  for (auto [sizes, said] : {std::pair("[3, 4]", "got 4 of group 1 behind 3"),
                             {"[-1, 2]", "got -1 of group 0 behind 0"}}) {
    GraphContext context;
    std::string text = makeProduct("6x2xf64", "2x2x4xf64", "6x4xf64",
                                   std::string("2=") + sizes, kFree);
    auto module = context.parse(text);
    ASSERT_TRUE(static_cast<bool>(module));
    EXPECT_TRUE(evaluate(text).empty()) << said;
  }
}

TEST(GroupedDot, Rules) {
  EXPECT_EQ(printRule(makeFree()),
            "([a, c],[d, c, b],[e])->([a, b]) {a=6, b=4, c=2 reduced sum, "
            "d=2 reduced sum, e=2 whole}");
  EXPECT_EQ(printRule(makeContracted()),
            "([c, a],[c, b],[e])->([d, a, b]) {a=2, b=4, c=6 reduced sum, "
            "d=2, e=2 whole}");
  for (const std::string &text : {makeFree(), makeContracted()}) {
    RuleChecks checks;
    EXPECT_TRUE(checkRules(text, &checks));
    EXPECT_EQ(checks.numCarried, 2);
    EXPECT_GE(checks.numHalved, 1);
  }
}

// With a first group, batches, and dims in other places.
TEST(GroupedDot, Derivatives) {
  EXPECT_TRUE(checkDerivative(makeFree()));
  EXPECT_TRUE(checkDerivative(makeContracted()));
  EXPECT_TRUE(checkDerivative(makeProduct("6x2xf64", "2x2x4xf64", "6x4xf64",
                                          "4=[1, 2, 0, 2]", kFree, true)));
  EXPECT_TRUE(checkDerivative(makeProduct(
      "6x2xf64", "6x4xf64", "2x2x4xf64", "4=[1, 2, 0, 2]", kContracted, true)));
  EXPECT_TRUE(checkDerivative(makeProduct(
      "2x3x5x4x2xf64", "4x3x2x6x2xf64", "2x5x2x6xf64", "2=[2, 2]",
      "batch [0] x [4] contracting [3, 1] x [0, 1] rows 2 groups 2")));
  EXPECT_TRUE(checkDerivative(
      makeProduct("2x3x5x4xf64", "4x5x2x6xf64", "2x2x3x6xf64", "2=[2, 2]",
                  "batch [0] x [2] contracting [3, 2] x [0, 1] rows 3")));
}

/// Of the only product of a module.
template <typename Get> auto askProduct(StringRef text, Get get) {
  GraphContext context;
  auto module = context.parse(text);
  EXPECT_TRUE(static_cast<bool>(module)) << context.takeMessages();
  Operation *found = nullptr;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "nn.grouped_dot")
      found = op;
  });
  return get(found);
}

TEST(GroupedDot, CostsWhatItsRowsCost) {
  auto flops = [](Operation *op) {
    return llvm::cast<graph::CostOpInterface>(op).getCost().flops;
  };
  EXPECT_EQ(askProduct(makeFree(), flops), 2 * 6 * 2 * 4);
  EXPECT_EQ(askProduct(makeContracted(), flops), 2 * 6 * 2 * 4);
}

TEST(GroupedDot, ALibraryIsCalledWhereThereIsSomethingToMultiply) {
  auto form = [](Operation *op) {
    return llvm::cast<graph::KernelOpInterface>(op).getKernelForm();
  };
  EXPECT_EQ(askProduct(makeFree(), form), graph::KernelForm::Library);
  std::string empty =
      makeProduct("0x2xf64", "2x2x4xf64", "0x4xf64", "2=[0, 0]", kFree);
  EXPECT_EQ(askProduct(empty, form), graph::KernelForm::Decompose);
  EXPECT_TRUE(checkDecomposition(empty, 0));
  std::string nothing =
      makeProduct("0x2xf64", "0x4xf64", "2x2x4xf64", "2=[0, 0]", kContracted);
  EXPECT_TRUE(checkDecomposition(nothing, 0));
  std::string mixed =
      makeProduct("6x2xbf16", "2x2x4xf32", "6x4xf32", "2=[3, 2]", kFree);
  EXPECT_EQ(askProduct(mixed, form), graph::KernelForm::Decompose);
  EXPECT_TRUE(checkDecomposition(mixed, 0));
  EXPECT_TRUE(askProduct(makeFree(), [](Operation *op) {
    mlir::OpBuilder builder(op);
    auto call =
        llvm::cast<graph::KernelOpInterface>(op).buildLibraryCall(builder);
    return llvm::isa<dist::ContractGroupsOp>(call) &&
           call->getResultTypes() == op->getResultTypes();
  }));
}
} // namespace
