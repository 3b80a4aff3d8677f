//===- BatchNormTest.cpp - Answers of batch_norm --------------------------===//
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
/// Both ops on 4 x 6 x 2 elements.
struct BatchNormText {
  std::string full, features, attributes;
  BatchNormText(const std::string &element, int dim, bool isOfSquares = false)
      : full("tensor<4x6x2x" + element + ">"),
        features("tensor<" +
                 std::string(dim == 0   ? "4x"
                             : dim == 1 ? "6x"
                                        : "2x") +
                 (element == "bf16" ? "f32" : element) + ">"),
        attributes("{dim = " + std::to_string(dim) +
                   " : i64, epsilon = 0.1 : f64" +
                   (isOfSquares ? ", squares}" : "}")) {}

  /// Returns what is named of the results %y, %m and %v, of the type.
  std::string forward(const std::string &named, const std::string &type) const {
    return "func.func @f(%x: " + full +
           " {test.low = -3.0, test.high = 3.0}, %s: " + features +
           ", %o: " + features + ") -> (" + type +
           ") {\n  %y, %m, %v = nn.batch_norm %x, %s, %o " + attributes +
           " : (" + full + ", " + features + ", " + features + ") -> (" + full +
           ", " + features + ", " + features + ")\n  return " + named + " : " +
           type + "\n}";
  }
  std::string forward() const { return forward("%y", full); }
  std::string statistics() const {
    return forward("%y, %m, %v", full + ", " + features + ", " + features);
  }
  std::string gradient() const {
    std::string results = full + ", " + features + ", " + features;
    return "func.func @f(%x: " + full + ", %s: " + features +
           ", %m: " + features + ", %v: " + features +
           " {test.low = 0.5, test.high = 2.0}, %g: " + full + ") -> (" +
           results + ") {\n  %d:3 = nn.batch_norm_grad %x, %s, %m, %v, %g " +
           attributes + " : (" + full + ", " + features + ", " + features +
           ", " + features + ", " + full + ") -> (" + results +
           ")\n  return %d#0, %d#1, %d#2 : " + results + "\n}";
  }
};

TEST(BatchNorm, DerivativeAgreesWithDifferences) {
  for (int dim : {0, 1, 2})
    for (bool isOfSquares : {false, true}) {
      BatchNormText text("f64", dim, isOfSquares);
      EXPECT_TRUE(checkDerivative(text.forward())) << dim;
      // Through the statistics, alone and together.
      EXPECT_TRUE(checkDerivative(text.forward("%m", text.features))) << dim;
      EXPECT_TRUE(checkDerivative(text.forward("%v", text.features))) << dim;
      EXPECT_TRUE(checkDerivative(text.statistics())) << dim;
    }
}

TEST(BatchNorm, DecomposeIntoEqualOps) {
  struct {
    const char *element;
    double tolerance;
  } cases[] = {{"f64", 1e-13}, {"f32", 1e-5}, {"bf16", 4e-2}};
  for (int dim : {0, 1, 2})
    for (auto [element, tolerance] : cases) {
      for (bool isOfSquares : {false, true})
        EXPECT_TRUE(checkDecomposition(
            BatchNormText(element, dim, isOfSquares).statistics(), tolerance))
            << dim << " " << element;
      EXPECT_TRUE(
          checkDecomposition(BatchNormText(element, dim).gradient(), tolerance))
          << dim << " " << element;
    }
}

TEST(BatchNorm, MomentsOfPartsAreJoined) {
  const std::vector<int64_t> parts[] = {
      {2, 1, 1}, {4, 1, 2}, {1, 3, 2}, {1, 6, 1}};
  for (int dim : {0, 1, 2})
    for (ArrayRef<int64_t> of : parts)
      if (of[dim] == 1)
        for (auto [element, tolerance] :
             {std::pair("f64", 1e-13), {"f32", 1e-5}, {"bf16", 4e-2}})
          EXPECT_TRUE(checkOneRound(BatchNormText(element, dim).statistics(),
                                    of, tolerance))
              << dim << " " << element;
}

// A mean of ten thousand deviations: parts written out, and one value of all.
// Tolerances are two units of the last place of such a mean in f64, and one in
// f32; the form of two rounds is held to them too.
TEST(BatchNorm, MeansFarFromZeroLoseNothingInOneRound) {
  for (const char *element : {"f64", "f32"}) {
    std::string full = std::string("tensor<256x2x") + element + ">",
                features = std::string("tensor<2x") + element + ">";
    std::string text =
        "func.func @f(%x: " + full +
        " {test.low = 9998.3, test.high = 10001.7}, %s: " + features +
        ", %o: " + features + ") -> (" + full + ", " + features +
        ") {\n  %y, %m, %v = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon "
        "= 1.0e-5 : f64} : (" +
        full + ", " + features + ", " + features + ") -> (" + full + ", " +
        features + ", " + features + ")\n  return %y, %v : " + full + ", " +
        features + "\n}";
    double tolerance = std::string(element) == "f64" ? 4e-12 : 1e-3;
    EXPECT_TRUE(checkDecomposition(text, tolerance));
    for (int64_t parts : {2, 8, 64})
      EXPECT_TRUE(checkOneRound(text, {parts, 1}, tolerance)) << parts;
  }
}

TEST(BatchNorm, FeaturesPassAndTheirElementsHaveADistributedForm) {
  BatchNormText text("f64", 1);
  EXPECT_EQ(printRule(text.forward()),
            "([a, b, c],[b],[b])->([a, b, c],[b],[b]) {a=4 whole, b=6, c=2 "
            "whole}");
  RuleChecks checks;
  EXPECT_TRUE(checkRules(text.statistics(), &checks));
  EXPECT_EQ(checks.numHalved, 1);
  EXPECT_TRUE(checkRules(text.gradient(), &checks));
  EXPECT_EQ(checks.numHalved, 2);
  EXPECT_EQ(checks.numCarried, 1);
}

// A feature of equal elements has the variance 0, however it is computed.
TEST(BatchNorm, EqualElementsGiveTheOffset) {
  for (const char *form : {"", ", squares"}) {
    std::vector<double> y = evaluate(
        std::string(R"(
    func.func @f() -> tensor<2x1xf32> {
      %x = stablehlo.constant dense<0.1> : tensor<2x1xf32>
      %s = stablehlo.constant dense<2.0> : tensor<1xf32>
      %o = stablehlo.constant dense<3.0> : tensor<1xf32>
      %y:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-30 : f64)") +
        form +
        R"(} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>)
      return %y#0 : tensor<2x1xf32>
    })");
    EXPECT_EQ(y, (std::vector<double>{3, 3}));
  }
}

TEST(BatchNorm, SecondDerivativesAreRefused) {
  std::string message =
      printVjp(BatchNormText("f64", 1).gradient(), "nn.batch_norm_grad");
  EXPECT_NE(message.find("second derivatives are not built"), std::string::npos)
      << message;
}

// Two sums over the batch are all that the gradients of three operands need.
TEST(BatchNorm, DerivativeIsOneOp) {
  std::string text = BatchNormText("f64", 1).forward();
  std::string vjp = printVjp(text, "batch_norm_grad");
  EXPECT_EQ(vjp.find("nn.batch_norm_grad"), 0u) << vjp;
  EXPECT_EQ(vjp.find('\n'), vjp.size() - 1) << vjp;
  EXPECT_EQ(printVjp(text, "reduce"), "");
}
} // namespace
