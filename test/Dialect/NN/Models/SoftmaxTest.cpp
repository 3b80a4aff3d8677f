//===- SoftmaxTest.cpp - Answers of softmax and log_softmax ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"
#include <cmath>

using namespace llmc::test;

namespace {
const char *const kSoftmaxes[] = {"softmax", "log_softmax"};

std::string makeSoftmax(const std::string &name, const std::string &element,
                        int dim) {
  std::string type = "tensor<4x6x2x" + element + ">";
  return "func.func @f(%x: " + type +
         " {test.low = -3.0, test.high = 3.0}) -> " + type + " {\n  %y = nn." +
         name + " %x {dim = " + std::to_string(dim) + " : i64} : (" + type +
         ") -> " + type + "\n  return %y : " + type + "\n}";
}

std::string makeSoftmaxGradient(const std::string &name,
                                const std::string &element, int dim) {
  std::string type = "tensor<4x6x2x" + element + ">";
  return "func.func @f(%y: " + type +
         " {test.low = 0.0, test.high = 1.0}, %g: " + type + ") -> " + type +
         " {\n  %d = nn." + name +
         "_grad %y, %g {dim = " + std::to_string(dim) + " : i64} : (" + type +
         ", " + type + ") -> " + type + "\n  return %d : " + type + "\n}";
}

TEST(Softmax, DerivativeAgreesWithDifferences) {
  for (const char *name : kSoftmaxes)
    for (int dim : {0, 1, 2})
      EXPECT_TRUE(checkDerivative(makeSoftmax(name, "f64", dim)))
          << name << " " << dim;
}

TEST(Softmax, DecomposeIntoEqualOps) {
  struct {
    const char *element;
    double tolerance;
  } cases[] = {{"f64", 1e-14}, {"f32", 2e-6}, {"bf16", 2e-2}};
  for (const char *name : kSoftmaxes)
    for (int dim : {0, 1, 2})
      for (auto [element, tolerance] : cases) {
        EXPECT_TRUE(
            checkDecomposition(makeSoftmax(name, element, dim), tolerance))
            << name << " " << dim << " " << element;
        EXPECT_TRUE(checkDecomposition(makeSoftmaxGradient(name, element, dim),
                                       tolerance))
            << name << " " << dim << " " << element;
      }
}

TEST(Softmax, ExponentialsOfPartsAreJoined) {
  for (const char *name : kSoftmaxes)
    for (auto [element, tolerance] :
         {std::pair("f64", 1e-14), {"f32", 2e-6}, {"bf16", 2e-2}}) {
      EXPECT_TRUE(
          checkOneRound(makeSoftmax(name, element, 0), {4, 1, 1}, tolerance));
      EXPECT_TRUE(
          checkOneRound(makeSoftmax(name, element, 1), {1, 3, 1}, tolerance));
    }
}

// Of a row that is masked in part, wholly, that has an infinity or no number,
// the result is that of the op: a part may be masked where the row is not.
TEST(Softmax, PartsThatAreMaskedAreJoined) {
  for (const char *name : kSoftmaxes)
    EXPECT_TRUE(checkOneRound(
        std::string(R"(func.func @f() -> tensor<6x4xf32> {
      %x = stablehlo.constant dense<[
        [0xFF800000, 0xFF800000, -1.0e30, -1.0e30],
        [0xFF800000, 0xFF800000, 90.0, 95.0],
        [1.0e4, 1.0e4, 0xFF800000, -1.0e4],
        [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000],
        [1.0, 0x7F800000, 2.0, 3.0],
        [1.0, 2.0, 0x7FC00000, 3.0]]> : tensor<6x4xf32>
      %y = nn.)") +
            name +
            R"( %x {dim = 1 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
      return %y : tensor<6x4xf32>
    })",
        {1, 2}, 1e-6));
}

TEST(Softmax, RowsPassAndTheDimHasADistributedForm) {
  for (const char *name : kSoftmaxes) {
    EXPECT_EQ(printRule(makeSoftmax(name, "f32", 1)),
              "([a, b, c])->([a, b, c]) {a=4, b=6 whole, c=2}");
    RuleChecks checks;
    EXPECT_TRUE(checkRules(makeSoftmax(name, "f64", 1), &checks));
    EXPECT_EQ(checks.numHalved, 2);
    EXPECT_TRUE(checkRules(makeSoftmaxGradient(name, "f64", 2), &checks));
    EXPECT_EQ(checks.numCarried, 1);
  }
}

// Large logits, a row of -inf, and one of +inf.
TEST(Softmax, EdgesAreThoseOfTheOps) {
  std::vector<double> y = evaluate(R"(
    func.func @f() -> tensor<3x2xf64> {
      %x = stablehlo.constant dense<[[1000.0, 1000.0], [0xFFF0000000000000, 0xFFF0000000000000], [0x7FF0000000000000, 0.0]]> : tensor<3x2xf64>
      %y = nn.softmax %x {dim = 1 : i64} : (tensor<3x2xf64>) -> tensor<3x2xf64>
      return %y : tensor<3x2xf64>
    })");
  ASSERT_EQ(y.size(), 6u);
  EXPECT_EQ(y[0], 0.5);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]) && std::isnan(y[4]));
}

TEST(Softmax, SecondDerivativesAreRefused) {
  for (const char *name : kSoftmaxes) {
    std::string message = printVjp(makeSoftmaxGradient(name, "f64", 1),
                                   std::string("nn.") + name + "_grad");
    EXPECT_NE(message.find("second derivatives are not built"),
              std::string::npos)
        << message;
  }
}
} // namespace
