//===- RandomTest.cpp - Counter-based random values -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace llmc::rt;

// The known answers of the authors' own test of Philox4x32-10.
TEST(Random, PhiloxKnownAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NormalIsTheInverseOfItsDistribution) {
  RandomStream stream(7, "blocks.0.w");
  for (uint64_t i = 0; i < 20000; ++i) {
    double p = stream.uniform(i), x = stream.normal(i);
    double back = 0.5 * std::erfc(-x / std::sqrt(2.0));
    EXPECT_NEAR(back, p, 1e-14) << i;
  }
}

TEST(Random, Moments) {
  RandomStream stream(1, "w");
  double sum = 0, squares = 0, fourth = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    double x = drawElement({DrawKind::normal, 1.0, 2.0}, stream, i);
    double z = (x - 1) / 2;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.015);
  EXPECT_NEAR(fourth / n, 3, 0.1);
}

TEST(Random, TruncationHolds) {
  RandomStream stream(1, "w");
  for (int i = 0; i < 10000; ++i) {
    double x = drawElement({DrawKind::truncatedNormal, 0, 0.5}, stream, i);
    EXPECT_LE(std::fabs(x), 1.0);
  }
}

TEST(Random, ShardsAgreeWithTheWhole) {
  RandomStream stream(3, "w");
  Draw draw{DrawKind::normal, 0, 0.02};
  std::vector<float> whole(100), part(40);
  drawSpan(draw, stream, 0, 100, DType::f32, whole.data());
  drawSpan(draw, stream, 30, 40, DType::f32, part.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 30));
}

TEST(Random, SeedAndNameMatter) {
  EXPECT_NE(RandomStream(1, "a").bits(0), RandomStream(2, "a").bits(0));
  EXPECT_NE(RandomStream(1, "a").bits(0), RandomStream(1, "b").bits(0));
  EXPECT_NE(RandomStream(1, "a").bits(0), RandomStream(1, "a").bits(1));
}

// A change of these bits changes every model that is trained from scratch.
TEST(Random, BitsAreFrozen) {
  RandomStream stream(42, "wte");
  EXPECT_EQ(stream.uniform(0), 0x1.5186fc94782bep-2);
  EXPECT_EQ(stream.normal(0), -0x1.c38e4398fcbddp-2);
  EXPECT_EQ(stream.normal(1), -0x1.059d6a6b4169bp-5);
  EXPECT_EQ(stream.normal(123456789), -0x1.bcacfb6d88fb2p-5);
}
