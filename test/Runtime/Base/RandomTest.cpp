//===- RandomTest.cpp - Counter-based random values -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Random.h"
#include "llmc/Runtime/Base/Hash.h"

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

namespace {
/// Where a stream named "w" has given bits: Philox is a permutation of its
/// counters, so it can be walked back.
struct Place {
  uint64_t seed, index;
};
} // namespace

static uint32_t inverseOf(uint32_t odd) {
  uint32_t inverse = 1;
  for (int i = 0; i < 5; ++i) {
    inverse *= 2 - odd * inverse;
  }
  return inverse;
}

static Place placeOfBits(uint64_t bits) {
  uint64_t key = hash64("w");
  uint32_t x[] = {uint32_t(bits), uint32_t(bits >> 32), 0, 0};
  for (uint32_t round = 10; round-- > 0;) {
    uint32_t k0 = uint32_t(key) + round * 0x9E3779B9u;
    uint32_t k1 = uint32_t(key >> 32) + round * 0xBB67AE85u;
    uint32_t x0 = x[3] * inverseOf(0xD2511F53u);
    uint32_t x2 = x[1] * inverseOf(0xCD9E8D57u);
    uint32_t x1 = x[0] ^ uint32_t(uint64_t(0xCD9E8D57u) * x2 >> 32) ^ k0;
    uint32_t x3 = x[2] ^ uint32_t(uint64_t(0xD2511F53u) * x0 >> 32) ^ k1;
    x[0] = x0, x[1] = x1, x[2] = x2, x[3] = x3;
  }
  return {x[2] | uint64_t(x[3]) << 32, x[0] | uint64_t(x[1]) << 32};
}

// The whole range, tails and the seams of the three approximations included;
// random draws meet the outer one, beyond five deviations of the root of the
// logarithm, once in 1e11.
TEST(Random, NormalOfEveryProbability) {
  std::vector<uint64_t> ks = {0, 1, 2, 5, 1000};
  for (double p : {1e-14, 1.38e-11, 1.39e-11, 1e-8, 1e-3, 0.02, 0.0749, 0.075,
                   0.0751, 0.2, 0.4999999}) {
    ks.push_back(static_cast<uint64_t>(p * 0x1p52));
  }
  for (uint64_t k : ks) {
    for (uint64_t each : {k, (uint64_t(1) << 52) - 1 - k}) {
      Place place = placeOfBits(each << 12);
      RandomStream stream(place.seed, "w");
      double p = stream.uniform(place.index), x = stream.normal(place.index);
      ASSERT_EQ(p, (static_cast<double>(each) + 0.5) * 0x1p-52);
      double tail = std::min(p, 1 - p);
      double back = 0.5 * std::erfc(std::fabs(x) / std::sqrt(2.0));
      EXPECT_NEAR(back / tail, 1, 1e-12) << p;
      EXPECT_EQ(x < 0, p < 0.5) << p;
    }
  }
}

TEST(Random, EachKindOfDraw) {
  RandomStream stream(1, "w");
  double u = stream.uniform(9), z = stream.normal(9);
  auto draw = [&](DrawKind kind) {
    return drawElement({kind, 3, 5}, stream, 9);
  };
  EXPECT_EQ(draw(DrawKind::zeros), 0);
  EXPECT_EQ(draw(DrawKind::ones), 1);
  EXPECT_EQ(draw(DrawKind::constant), 3);
  EXPECT_EQ(draw(DrawKind::uniform), 3 + 2 * u);
  EXPECT_EQ(draw(DrawKind::normal), 3 + 5 * z);
  EXPECT_NE(draw(DrawKind::truncatedNormal), draw(DrawKind::normal));
  const char *names[] = {"zeros",   "ones",   "constant",
                         "uniform", "normal", "truncated_normal"};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(nameOf(static_cast<DrawKind>(i)), names[i]);
  }
}

// The cut takes away what lies beyond two deviations, no more and no less: the
// least and the greatest uniform value come out at the ends.
TEST(Random, TruncationReachesItsEnds) {
  for (uint64_t k : {uint64_t(0), (uint64_t(1) << 52) - 1}) {
    Place place = placeOfBits(k << 12);
    RandomStream stream(place.seed, "w");
    double x =
        drawElement({DrawKind::truncatedNormal, 10, 0.5}, stream, place.index);
    EXPECT_NEAR(x, k ? 11 : 9, 1e-12);
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
