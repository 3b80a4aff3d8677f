//===- CrossEntropyTest.cpp - Answers of softmax_cross_entropy ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace llmc::test;

namespace {
/// @f gives loss, logsumexp or both; one target lies outside of the classes.
std::string makeLoss(const std::string &element, const std::string &returned) {
  std::string rows = "tensor<2x2x" + element + ">";
  std::string types = returned.find(',') == std::string::npos
                          ? rows
                          : "(" + rows + ", " + rows + ")";
  std::string list =
      returned.find(',') == std::string::npos ? rows : rows + ", " + rows;
  return "func.func @f(%x: tensor<2x2x5x" + element +
         "> {test.low = -3.0, test.high = 3.0}, %c: tensor<2x2xi32> "
         "{test.values = dense<[[0, 4], [-1, 2]]> : tensor<2x2xi32>}) -> " +
         types +
         " {\n  %l, %s = nn.softmax_cross_entropy %x, %c : (tensor<2x2x5x" +
         element + ">, tensor<2x2xi32>) -> (" + rows + ", " + rows +
         ")\n  return " + returned + " : " + list + "\n}";
}

std::string makeGradient(const std::string &element) {
  std::string rows = "tensor<3x" + element + ">",
              logits = "tensor<3x5x" + element + ">";
  return "func.func @f(%x: " + logits +
         ", %c: tensor<3xi8> {test.values = dense<[0, 4, 9]> : tensor<3xi8>}, "
         "%s: " +
         rows + " {test.low = 1.5, test.high = 2.5}, %g: " + rows + ") -> " +
         logits +
         " {\n  %d = nn.softmax_cross_entropy_grad %x, %c, %s, %g : (" +
         logits + ", tensor<3xi8>, " + rows + ", " + rows + ") -> " + logits +
         "\n  return %d : " + logits + "\n}";
}

TEST(CrossEntropy, DerivativeAgreesWithDifferences) {
  for (const char *returned : {"%l", "%s", "%l, %s"})
    EXPECT_TRUE(checkDerivative(makeLoss("f64", returned))) << returned;
}

TEST(CrossEntropy, ExponentialsOfPartsAreJoined) {
  EXPECT_TRUE(checkOneRound(makeLoss("f64", "%l, %s"), {1, 1, 5}, 1e-14));
  EXPECT_TRUE(checkOneRound(makeLoss("f32", "%l, %s"), {1, 1, 5}, 1e-6));
  EXPECT_TRUE(checkOneRound(makeLoss("bf16", "%l, %s"), {1, 1, 5}, 1e-2));
}

TEST(CrossEntropy, DecomposesIntoEqualOps) {
  EXPECT_TRUE(checkDecomposition(makeLoss("f64", "%l, %s"), 1e-14));
  EXPECT_TRUE(checkDecomposition(makeLoss("f32", "%l, %s"), 1e-6));
  EXPECT_TRUE(checkDecomposition(makeLoss("bf16", "%l, %s"), 1e-2));
  EXPECT_TRUE(checkDecomposition(makeGradient("f64"), 1e-14));
  EXPECT_TRUE(checkDecomposition(makeGradient("f32"), 1e-6));
  EXPECT_TRUE(checkDecomposition(makeGradient("bf16"), 1e-2));
}

TEST(CrossEntropy, ComparesClassesBeyondTheTargetsType) {
  // 200 does not fit i8; class 200 - 256 = -56 must not be picked by -56.
  EXPECT_TRUE(checkDecomposition(R"(
    func.func @f(%x: tensor<1x300xf32>, %c: tensor<1xi8> {test.values = dense<-56> : tensor<1xi8>}) -> tensor<1xf32> {
      %l, %s = nn.softmax_cross_entropy %x, %c
          : (tensor<1x300xf32>, tensor<1xi8>) -> (tensor<1xf32>, tensor<1xf32>)
      return %l : tensor<1xf32>
    })",
                                 1e-6));
}

TEST(CrossEntropy, IsStableForLargeLogits) {
  std::vector<double> loss = evaluate(R"(
    func.func @f() -> tensor<1xf32> {
      %x = stablehlo.constant dense<[[1000.0, 1000.0]]> : tensor<1x2xf32>
      %c = stablehlo.constant dense<1> : tensor<1xi32>
      %l, %s = nn.softmax_cross_entropy %x, %c
          : (tensor<1x2xf32>, tensor<1xi32>) -> (tensor<1xf32>, tensor<1xf32>)
      return %l : tensor<1xf32>
    })");
  ASSERT_EQ(loss.size(), 1u);
  EXPECT_NEAR(loss[0], std::log(2.0), 1e-4);
}

TEST(CrossEntropy, RowsPassAndClassesHaveADistributedForm) {
  EXPECT_EQ(printRule(makeLoss("f32", "%l")),
            "([a, b, c],[a, b])->([a, b],[a, b]) {a=2, b=2, c=5 whole}");
  EXPECT_EQ(printRule(makeGradient("f32")),
            "([a, b],[a],[a],[a])->([a, b]) {a=3, b=5 whole}");
}

TEST(CrossEntropy, SecondDerivativesAreRefused) {
  std::string message =
      printVjp(makeGradient("f64"), "softmax_cross_entropy_grad");
  EXPECT_NE(message.find("second derivatives are not built"), std::string::npos)
      << message;
}

// Targets have no derivative, so that nothing is built where the logits need
// none.
TEST(CrossEntropy, NoGradientWhereNoneIsNeeded) {
  GraphContext context;
  auto module = context.parse(makeLoss("f32", "%l"));
  ASSERT_TRUE(module) << context.takeMessages();
  mlir::Operation *op = &getFunction(*module).front().front();
  mlir::OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
  for (bool isNeeded : {false, true}) {
    llvm::SmallVector<mlir::Value> gradients(2);
    ASSERT_TRUE(llvm::succeeded(
        mlir::cast<llmc::graph::DerivativeOpInterface>(op).buildDerivative(
            builder, {op->getResult(0), mlir::Value()}, {isNeeded, false},
            gradients)));
    EXPECT_EQ(static_cast<bool>(gradients[0]), isNeeded);
    EXPECT_FALSE(gradients[1]);
  }
}
} // namespace
