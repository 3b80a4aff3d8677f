//===- AttentionTest.cpp - Answers of attention and its gradient ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "GraphContext.h"
#include "RuleHarness.h"
#include "llmc/Runtime/Base/RandomBits.h"
#include <cmath>

using namespace llmc::test;

namespace {
/// Batches of 2, groups of 2, 6 rows, 4 columns, depth 4, 2 values.
struct Attention {
  std::string element = "f64";
  std::string how = "";    ///< "causal 0", "safe".
  std::string bias = "";   ///< Its dims, "2x1x1x4"; none where empty.
  std::string offset = ""; ///< Its value; none where empty.
  std::string drop = "";   ///< Kind and limit; none where empty.
  std::string returned = "%y, %l";
  std::string strides = "[48, 24, 4, 1]";

  std::string tensor(const std::string &dims) const {
    return "tensor<" + dims + "x" + element + ">";
  }
  std::string wide(const std::string &dims) const {
    return "tensor<" + dims + "x" + (element == "f64" ? "f64" : "f32") + ">";
  }
  std::string masks() const {
    return (bias.empty() ? "" : " bias %b") +
           std::string(offset.empty() ? "" : " offset %o") +
           (drop.empty() ? ""
                         : " dropout %s strides " + strides + " <" + drop +
                               " factor 1.5>") +
           " scale 0.7 " + how;
  }
  std::string maskTypes() const {
    return (bias.empty() ? "" : ", " + wide(bias)) +
           std::string(offset.empty() ? "" : ", tensor<i32>") +
           (drop.empty() ? "" : ", tensor<2xui64>");
  }
  std::string arguments() const {
    std::string text = "%q: " + tensor("2x2x6x4") + ", %k: " + tensor("2x4x4") +
                       ", %v: " + tensor("2x4x2");
    if (!bias.empty())
      text += ", %b: " + wide(bias);
    if (!offset.empty())
      text += ", %o: tensor<i32> {test.values = dense<" + offset +
              "> : tensor<i32>}";
    if (!drop.empty())
      text += ", %s: tensor<2xui64> {test.values = dense<[4886718345, "
              "4294967290]> : tensor<2xui64>}";
    return text;
  }

  std::string forward() const {
    std::string y = tensor("2x2x6x2"), l = wide("2x2x6");
    std::string types = returned == "%y"   ? y
                        : returned == "%l" ? l
                                           : y + ", " + l;
    return "func.func @f(" + arguments() + ") -> (" + types +
           ") {\n  %y, %l = nn.attention %q, %k, %v" + masks() + " : (" +
           tensor("2x2x6x4") + ", " + tensor("2x4x4") + ", " + tensor("2x4x2") +
           maskTypes() + ") -> (" + y + ", " + l + ")\n  return " + returned +
           " : " + types + "\n}";
  }
  std::string gradient() const {
    std::string inputs =
        tensor("2x2x6x4") + ", " + tensor("2x4x4") + ", " + tensor("2x4x2");
    std::string rows = wide("2x2x6"), cotangent = tensor("2x2x6x2");
    return "func.func @f(" + arguments() + ", %l: " + rows +
           " {test.low = 1.0, test.high = 2.0}, %d: " + rows +
           ", %g: " + cotangent + ") -> (" + inputs +
           ") {\n  %x, %y, %z = nn.attention_grad %q, %k, %v, %l, %d, %g" +
           masks() + " : (" + inputs + ", " + rows + ", " + rows + ", " +
           cotangent + maskTypes() + ") -> (" + inputs +
           ")\n  return %x, %y, %z : " + inputs + "\n}";
  }
};

const Attention kForms[] = {
    {"f64"},
    {"f64", "causal 0"},
    {"f64", "causal 2", "2x1x1x4"},
    {"f64", "safe", "1x2x6x4"},
    {"f64", "causal 1 safe", "", "1"},
    {"f64", "causal 0", "2x2x6x1", "3"},
    {"f64", "", "", "", "jax32 below 3000000000"},
    {"f64", "causal 1 safe", "2x1x1x4", "1",
     "threefry from 5000000000000000000", "%y, %l", "[0, 3, 100, 7]"},
    {"f64", "causal 2", "", "", "jax64 below 9000000000000000000"}};

TEST(Attention, DerivativeAgreesWithDifferences) {
  for (Attention form : kForms)
    for (const char *returned : {"%y", "%l", "%y, %l"}) {
      form.returned = returned;
      EXPECT_TRUE(checkDerivative(form.forward())) << form.forward();
    }
}

TEST(Attention, DecomposesIntoEqualOps) {
  for (Attention form : kForms)
    for (auto [element, tolerance] :
         {std::pair("f64", 1e-14), {"f32", 1e-6}, {"bf16", 1e-2}}) {
      form.element = element;
      EXPECT_TRUE(checkDecomposition(form.forward(), tolerance))
          << form.forward();
      EXPECT_TRUE(checkDecomposition(form.gradient(), tolerance))
          << form.gradient();
    }
}

// Both by plain loops and in global ops: rows that see nothing are NaN, or 0 in
// result and gradients.
TEST(Attention, RowsThatSeeNothing) {
  Attention form{"f64", "causal -3"};
  std::vector<double> bare = evaluate(form.forward());
  form.how = "causal -3 safe";
  std::vector<double> safe = evaluate(form.forward());
  ASSERT_EQ(bare.size(), 48u);
  for (size_t i = 0; i < bare.size(); ++i) {
    bool sees = i / 2 % 6 >= 3;
    EXPECT_EQ(std::isnan(bare[i]), !sees) << i;
    EXPECT_EQ(safe[i] == 0, !sees) << i;
  }
  EXPECT_TRUE(checkDecomposition(form.forward(), 1e-14));
}

TEST(Attention, Rules) {
  Attention form{"f32", "", "2x1x1x4"};
  EXPECT_EQ(printRule(form.forward()),
            "([a, b, c, e],[a, d, e],[a, d, f],[a, 1, 1, d])->"
            "([a, b, c, f],[a, b, c]) {a=2, b=2, c=6, d=4 whole, e=4 whole, "
            "f=2}");
  EXPECT_EQ(printRule(form.gradient()),
            "([a, b, c, e],[a, d, e],[a, d, f],[a, b, c],[a, b, c],"
            "[a, b, c, f],[a, 1, 1, d])->([a, b, c, e],[a, d, e],[a, d, f]) "
            "{a=2, b=2 whole, c=6 whole, d=4 whole, e=4 whole, f=2 whole}");
}

TEST(Attention, RulesOfDropout) {
  Attention form{"f32", "", "", "", "jax32 below 5"};
  EXPECT_EQ(printRule(form.forward()),
            "([a, b, c, e],[a, d, e],[a, d, f],[g])->([a, b, c, f],[a, b, c]) "
            "{a=2, b=2, c=6, d=4 whole, e=4 whole, f=2, g=2 whole}");
}

TEST(Attention, RulesAreTrueOfTheEvaluation) {
  for (const char *how : {"", "safe"}) {
    RuleChecks checks;
    Attention form{"f64", how, "2x1x6x1"};
    EXPECT_TRUE(checkRules(form.forward(), &checks));
    EXPECT_EQ(checks.numHalved, 4);
    EXPECT_TRUE(checkRules(form.gradient(), &checks));
    EXPECT_EQ(checks.numHalved, 5);
    EXPECT_EQ(checks.numCarried, 1);
  }
}

// Of each weight: the result for values that are a unit matrix.
TEST(Attention, DroppedWeightsAreThoseOfTheBits) {
  using llmc::rt::RandomBits;
  std::string text = R"(
    func.func @f(%q: tensor<6x4xf64>) -> tensor<6x4xf64> {
      %s = stablehlo.constant dense<[4886718345, 4294967290]> : tensor<2xui64>
      %k = stablehlo.constant dense<0.0> : tensor<4x4xf64>
      %v = stablehlo.constant dense<[[4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 4.0]]> : tensor<4x4xf64>
      %y, %l = nn.attention %q, %k, %v dropout %s strides [4, 1] <jax32 below 3000000000 factor 1.5> scale 1.0
        : (tensor<6x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>, tensor<2xui64>) -> (tensor<6x4xf64>, tensor<6xf64>)
      return %y : tensor<6x4xf64>
    })";
  std::vector<double> factors = evaluate(text);
  ASSERT_EQ(factors.size(), 24u);
  int numKept = 0;
  for (uint64_t i = 0; i < 24; ++i) {
    uint64_t bits =
        llmc::rt::drawBits(RandomBits::jax32, 4886718345, 4294967290 + i);
    EXPECT_NEAR(factors[i], bits < 3000000000 ? 1.5 : 0, 1e-14) << i;
    numKept += factors[i] != 0;
  }
  EXPECT_GT(numKept, 8);
  EXPECT_LT(numKept, 24);
  EXPECT_TRUE(checkDecomposition(text, 1e-14));
}

TEST(Attention, SecondDerivativesAreRefused) {
  std::string message = printVjp(Attention().gradient(), "attention_grad");
  EXPECT_NE(message.find("second derivatives are not built"), std::string::npos)
      << message;
}
} // namespace
