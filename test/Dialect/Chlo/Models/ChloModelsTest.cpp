//===- ChloModelsTest.cpp - Answers of the chlo ops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
class ChloDerivative : public testing::TestWithParam<const char *> {};

TEST_P(ChloDerivative, AgreesWithDifferences) {
  EXPECT_TRUE(checkDerivative(
      std::string("func.func @f(%x: tensor<7xf64> {test.low = -2.0 : f64, "
                  "test.high = 2.0 : f64}) -> tensor<7xf64> {\n %y = chlo.") +
      GetParam() +
      " %x : tensor<7xf64> -> tensor<7xf64>\n return %y : tensor<7xf64>\n}"));
}

INSTANTIATE_TEST_SUITE_P(All, ChloDerivative,
                         testing::Values("square", "erf", "erfc"));

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
