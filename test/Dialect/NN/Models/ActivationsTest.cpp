//===- ActivationsTest.cpp - Answers of gelu and silu ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "ElementHarness.h"
#include "RuleHarness.h"
#include <cmath>

using namespace llmc::test;

namespace {
const char *const kActivations[] = {"gelu", "silu"};

/// `attributes` as in "{tanh}".
std::string makeActivation(const std::string &name, const std::string &element,
                           const std::string &attributes = "") {
  std::string type = "tensor<4x6x" + element + ">";
  return "func.func @f(%x: " + type +
         " {test.low = -4.0, test.high = 4.0}) -> " + type + " {\n  %y = nn." +
         name + " %x " + attributes + " : (" + type + ") -> " + type +
         "\n  return %y : " + type + "\n}";
}

std::string makeSlope(const std::string &name, const std::string &element,
                      const std::string &attributes = "") {
  std::string type = "tensor<4x6x" + element + ">";
  return "func.func @f(%x: " + type +
         " {test.low = -4.0, test.high = 4.0}, %g: " + type + ") -> " + type +
         " {\n  %y = nn." + name + "_grad %x, %g " + attributes + " : (" +
         type + ", " + type + ") -> " + type + "\n  return %y : " + type +
         "\n}";
}

TEST(Activations, DerivativeAgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(makeActivation("gelu", "f64")));
  EXPECT_TRUE(checkDerivative(makeActivation("gelu", "f64", "{tanh}")));
  EXPECT_TRUE(checkDerivative(makeActivation("silu", "f64")));
}

/// Every op of the two families on elements of one type.
std::vector<std::string> makeAll(const std::string &element) {
  std::vector<std::string> texts = {makeActivation("silu", element),
                                    makeSlope("silu", element)};
  for (const char *attributes : {"", "{tanh}"}) {
    texts.push_back(makeActivation("gelu", element, attributes));
    texts.push_back(makeSlope("gelu", element, attributes));
  }
  return texts;
}

// In f32 the steps round; f16 and bf16 are rounded once.
TEST(Activations, ScalarCodeIsTheEvaluation) {
  for (const std::string &text : makeAll("f64"))
    EXPECT_TRUE(checkKernels(text, 1e-14)) << text;
  for (const std::string &text : makeAll("f32"))
    EXPECT_TRUE(checkKernels(text, 1e-6)) << text;
  for (const char *element : {"f16", "bf16"})
    for (const std::string &text : makeAll(element))
      EXPECT_TRUE(checkElements(text)) << text;
}

// The definitions, written out in ops.
TEST(Activations, AreTheirFormulas) {
  auto run = [](const std::string &op) {
    return evaluate(R"(
      func.func @f() -> tensor<4xf64> {
        %x = stablehlo.constant dense<[-3.0, -0.5, 0.0, 2.0]> : tensor<4xf64>
        %y = nn.)" + op +
                    R"( : (tensor<4xf64>) -> tensor<4xf64>
        return %y : tensor<4xf64>
      })");
  };
  const double points[] = {-3.0, -0.5, 0.0, 2.0};
  std::vector<double> gelu = run("gelu %x"), tanh = run("gelu %x {tanh}"),
                      silu = run("silu %x");
  ASSERT_TRUE(gelu.size() == 4 && tanh.size() == 4 && silu.size() == 4);
  for (int i = 0; i < 4; ++i) {
    double x = points[i];
    EXPECT_NEAR(gelu[i], x / 2 * (1 + std::erf(x / std::sqrt(2.0))), 1e-15);
    double inner = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(tanh[i], x / 2 * (1 + std::tanh(inner)), 1e-15);
    EXPECT_NEAR(silu[i], x / (1 + std::exp(-x)), 1e-15);
  }
}

TEST(Activations, DimsPassAndTheCotangentMayBePartial) {
  for (const char *name : kActivations) {
    EXPECT_EQ(printRule(makeActivation(name, "f32")),
              "([a, b])->([a, b]) {a=4, b=6}");
    RuleChecks checks;
    EXPECT_TRUE(checkRules(makeSlope(name, "f64"), &checks));
    EXPECT_EQ(checks.numHalved, 2);
    EXPECT_EQ(checks.numCarried, 1);
  }
}

TEST(Activations, SecondDerivativesAreRefused) {
  for (const char *name : kActivations) {
    std::string message =
        printVjp(makeSlope(name, "f64"), std::string("nn.") + name + "_grad");
    EXPECT_NE(message.find("second derivatives are not built"),
              std::string::npos)
        << message;
  }
}
} // namespace
