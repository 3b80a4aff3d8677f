//===- ChloModelsTest.cpp - Answers of the chlo ops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
} // namespace
