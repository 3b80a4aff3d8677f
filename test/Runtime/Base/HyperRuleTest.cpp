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

// The last step of warm-up, the first after it; the last of the decay, the
// first after that; a decay that warm-up leaves no step.
TEST(HyperRule, Ends) {
  HyperRule rule{HyperKind::warmupLinear, 1.0, 0.2, 4, 8};
  const double expected[] = {0.25, 0.5, 0.75, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2};
  for (int step = 0; step < 10; ++step) {
    EXPECT_DOUBLE_EQ(evaluate(rule, step, 0), expected[step]) << step;
  }
  rule.total = 4;
  EXPECT_DOUBLE_EQ(evaluate(rule, 4, 0), 0.2);
  rule.total = 2;
  EXPECT_DOUBLE_EQ(evaluate(rule, 4, 0), 0.2);
  EXPECT_DOUBLE_EQ(evaluate(rule, 3, 0), 1);
  EXPECT_EQ(evaluate({HyperKind::external, 7}, 4, 9), 7);
  EXPECT_EQ(evaluate({HyperKind::step, 0.5}, 0, 9), 0.5);
  EXPECT_EQ(evaluate({HyperKind::warmupConstant, 3, 1, 2, 4}, 9, 0), 3);
}

// The bits are the same everywhere: a change of them changes every run.
TEST(HyperRule, BitsOfTheCosineAreFrozen) {
  EXPECT_DOUBLE_EQ(cosPi(0), 1.0);
  EXPECT_EQ(cosPi(0.5), 0.0);
  EXPECT_DOUBLE_EQ(cosPi(1), -1.0);
  EXPECT_EQ(cosPi(0.25), 0x1.6a09e667f3bccp-1);
  EXPECT_EQ(cosPi(0.1), 0x1.e6f0e134455p-1);
}
