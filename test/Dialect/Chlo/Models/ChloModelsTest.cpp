//===- ChloModelsTest.cpp - Answers of the chlo ops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "ElementHarness.h"

using namespace llmc::test;

namespace {
struct Domain {
  const char *op;
  double low, high;
};
class ChloDerivative : public testing::TestWithParam<Domain> {};

/// @f(%x) = op(%x), with %x in the domain.
std::string makeUnary(const Domain &domain, const std::string &element) {
  std::string type = "tensor<7x" + element + ">";
  return "func.func @f(%x: " + type +
         " {test.low = " + std::to_string(domain.low) +
         " : f64, test.high = " + std::to_string(domain.high) + " : f64}) -> " +
         type + " {\n %y = chlo." + domain.op + " %x : " + type + " -> " +
         type + "\n return %y : " + type + "\n}";
}

TEST_P(ChloDerivative, AgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(makeUnary(GetParam(), "f64")));
}

// The series of gamma and Bessel functions round elsewhere than the
// evaluation's: test/EndToEnd/semantics.test compares both with XLA.
TEST_P(ChloDerivative, ScalarCodeAgreesWithEvaluation) {
  llvm::StringRef op = GetParam().op;
  if (op.contains("gamma") || op.contains("bessel"))
    return;
  for (const char *element : {"f64", "f32"})
    EXPECT_TRUE(checkElements(makeUnary(GetParam(), element))) << element;
}

INSTANTIATE_TEST_SUITE_P(
    All, ChloDerivative,
    testing::Values(Domain{"square", -2, 2}, Domain{"erf", -2, 2},
                    Domain{"erfc", -2, 2}, Domain{"acos", -0.9, 0.9},
                    Domain{"acosh", 1.1, 4}, Domain{"asin", -0.9, 0.9},
                    Domain{"asinh", -3, 3}, Domain{"atan", -3, 3},
                    Domain{"atanh", -0.9, 0.9}, Domain{"cosh", -2, 2},
                    Domain{"sinh", -2, 2}, Domain{"erf_inv", -0.9, 0.9},
                    Domain{"bessel_i1e", -7, 7}, Domain{"bessel_i1e", 7, 40},
                    Domain{"lgamma", 0.2, 20}, Domain{"lgamma", -3.7, -3.2},
                    Domain{"digamma", 0.2, 20}, Domain{"digamma", -3.7, -3.2}));

// An order that is a constant, as JAX has it for the derivative of digamma.
TEST(ChloPolygamma, AgreesWithDifferences) {
  for (int order = 0; order < 4; ++order)
    EXPECT_TRUE(checkDerivative(
        "func.func @f(%x: tensor<7xf64> {test.low = 0.3 : f64, test.high = "
        "6.0 : f64}) -> tensor<7xf64> {\n %n = stablehlo.constant dense<" +
        std::to_string(order) +
        ".0> : tensor<7xf64>\n %y = chlo.polygamma %n, %x : tensor<7xf64>, "
        "tensor<7xf64> -> tensor<7xf64>\n return %y : tensor<7xf64>\n}"))
        << order;
}

std::string makeFunction(const std::string &op, const std::string &element) {
  std::string type = "tensor<7x" + element + ">";
  return "func.func @f(%x: " + type + ") -> " + type + " {\n %y = chlo." + op +
         " %x : " + type + " -> " + type + "\n return %y : " + type + "\n}";
}

// The square of a narrow number would lose what the exponential needs.
TEST(ChloErf, NarrowTypesAreDerivedInSingle) {
  using Pair = std::pair<const char *, const char *>;
  for (auto [element, wide] : {Pair{"bf16", "f32"}, Pair{"f16", "f32"},
                               Pair{"f32", "f32"}, Pair{"f64", "f64"}})
    for (const char *op : {"erf", "erfc"}) {
      std::string vjp = printVjp(makeFunction(op, element), "exponential");
      EXPECT_NE(vjp.find(std::string(" : tensor<7x") + wide + ">\n"),
                std::string::npos)
          << element << ": " << vjp;
    }
}
} // namespace
