//===- UnaryTest.cpp - Answers of functions of one operand ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivativeHarness.h"
#include <gmock/gmock.h>

using namespace llmc::test;
using testing::ElementsAre;

namespace {
struct UnaryCase {
  const char *op;
  double low, high;
};

/// @f(%x) = op(%x), with %x in [low, high).
std::string makeUnary(const UnaryCase &c, const std::string &element) {
  std::string type = "tensor<2x3x" + element + ">";
  return "func.func @f(%x: " + type + " {test.low = " + std::to_string(c.low) +
         " : f64, test.high = " + std::to_string(c.high) + " : f64}) -> " +
         type + " {\n  %y = stablehlo." + c.op + " %x : " + type +
         "\n  return %y : " + type + "\n}";
}

class UnaryDerivative : public testing::TestWithParam<UnaryCase> {};

TEST_P(UnaryDerivative, AgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(makeUnary(GetParam(), "f64")));
}

INSTANTIATE_TEST_SUITE_P(
    All, UnaryDerivative,
    testing::Values(UnaryCase{"negate", -1, 1}, UnaryCase{"abs", 0.1, 1},
                    UnaryCase{"abs", -1, -0.1}, UnaryCase{"cbrt", 0.2, 2},
                    UnaryCase{"cbrt", -2, -0.2}, UnaryCase{"cosine", -3, 3},
                    UnaryCase{"exponential", -2, 2},
                    UnaryCase{"exponential_minus_one", -1, 1},
                    UnaryCase{"log", 0.2, 3},
                    UnaryCase{"log_plus_one", -0.5, 2},
                    UnaryCase{"logistic", -4, 4}, UnaryCase{"rsqrt", 0.2, 3},
                    UnaryCase{"sine", -3, 3}, UnaryCase{"sqrt", 0.2, 3},
                    UnaryCase{"tan", -1, 1}, UnaryCase{"tanh", -2, 2}));
// At both zeros the slope is 1, as JAX has it.
TEST(UnaryDerivative, AbsAtZero) {
  auto gradients = computeGradients(R"(
    func.func @f(%x: tensor<4xf64> {test.values = dense<[-1.0, -0.0, 0.0, 1.0]> : tensor<4xf64>})
        -> tensor<4xf64> {
      %0 = stablehlo.abs %x : tensor<4xf64>
      return %0 : tensor<4xf64>
    })");
  EXPECT_THAT(gradients, ElementsAre(ElementsAre(-1, 1, 1, 1)));
}
} // namespace
