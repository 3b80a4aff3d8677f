//===- HyperRuleTest.cpp - Per-step scalars -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/HyperRule.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::rt;

TEST(HyperRule, NamesRoundTrip) {
  for (int i = 0; i < 7; ++i) {
    auto kind = static_cast<HyperKind>(i);
    EXPECT_EQ(parseHyperKind(nameOf(kind)), kind);
  }
  EXPECT_FALSE(parseHyperKind("cosine"));
}

TEST(HyperRule, CosineAgreesWithLibm) {
  for (int i = 0; i <= 1000; ++i) {
    double x = i / 1000.0;
    EXPECT_NEAR(cosPi(x), std::cos(M_PI * x), 4e-16) << x;
  }
}

TEST(HyperRule, WarmupThenCosine) {
  HyperRule rule{HyperKind::warmupCosine, 1.0, 0.1, 10, 110};
  EXPECT_DOUBLE_EQ(evaluate(rule, 0, 0), 0.1);
  EXPECT_DOUBLE_EQ(evaluate(rule, 9, 0), 1.0);
  EXPECT_DOUBLE_EQ(evaluate(rule, 10, 0), 1.0);
  EXPECT_NEAR(evaluate(rule, 60, 0), 0.55, 1e-15);
  EXPECT_DOUBLE_EQ(evaluate(rule, 110, 0), 0.1);
  EXPECT_DOUBLE_EQ(evaluate(rule, 1000, 0), 0.1);
}

TEST(HyperRule, OtherKinds) {
  EXPECT_EQ(evaluate({HyperKind::step, 1}, 4, 9), 5);
  EXPECT_EQ(evaluate({HyperKind::seed}, 4, 9), 9);
  EXPECT_EQ(evaluate({HyperKind::constant, 3}, 4, 9), 3);
  EXPECT_EQ(evaluate({HyperKind::warmupConstant, 2, 0, 4, 0}, 1, 0), 1);
  EXPECT_EQ(evaluate({HyperKind::warmupConstant, 2, 0, 4, 0}, 50, 0), 2);
  EXPECT_EQ(evaluate({HyperKind::warmupLinear, 2, 0, 0, 4}, 1, 0), 1.5);
}
