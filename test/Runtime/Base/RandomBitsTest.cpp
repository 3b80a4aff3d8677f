//===- RandomBitsTest.cpp - Bits of a key and a counter -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/RandomBits.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace llmc::rt;

using Words = std::array<uint32_t, 2>;

// The known answers that are published with the function.
TEST(RandomBits, Threefry) {
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (Words{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry2x32({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}),
            (Words{0xc4923a9c, 0x483df7a0}));
}

// The halves of counter and bits: low first of StableHLO, high first of JAX.
TEST(RandomBits, Kinds) {
  uint64_t key = 0x0370734413198a2e;
  uint64_t low = 0x85a308d3243f6a88, high = 0x243f6a8885a308d3;
  EXPECT_EQ(drawBits(RandomBits::threefry, key, low), 0x483df7a0c4923a9c);
  EXPECT_EQ(drawBits(RandomBits::jax64, key, high), 0xc4923a9c483df7a0);
  EXPECT_EQ(drawBits(RandomBits::jax32, key, high), 0xc4923a9cu ^ 0x483df7a0u);
  EXPECT_EQ(drawBits(RandomBits::none, key, low), 0u);
  EXPECT_EQ(widthOf(RandomBits::jax32), 32);
  EXPECT_EQ(widthOf(RandomBits::threefry), 64);
  EXPECT_EQ(nameOf(RandomBits::jax64), "jax64");
  EXPECT_EQ(nameOf(static_cast<RandomBits>(4)), "unknown");
}

TEST(RandomBits, Factors) {
  Dropout below{RandomBits::jax32, true, 10, 1.25};
  EXPECT_EQ(factorOf(below, 9), 1.25);
  EXPECT_EQ(factorOf(below, 10), 0);
  Dropout from{RandomBits::jax32, false, 10, 1.25};
  EXPECT_EQ(factorOf(from, 9), 0);
  EXPECT_EQ(factorOf(from, 10), 1.25);
}

TEST(RandomBits, SoundDropouts) {
  EXPECT_TRUE(isSound({}));
  EXPECT_FALSE(isSound({RandomBits::none, true, 0, 1}));
  EXPECT_FALSE(isSound({RandomBits::none, false, 1, 1}));
  EXPECT_FALSE(isSound({RandomBits::none, false, 0, 2}));
  EXPECT_TRUE(isSound({RandomBits::jax32, true, UINT32_MAX, 2}));
  EXPECT_FALSE(isSound({RandomBits::jax32, true, uint64_t(1) << 32, 2}));
  EXPECT_TRUE(isSound({RandomBits::jax64, true, UINT64_MAX, 2}));
  EXPECT_FALSE(isSound({static_cast<RandomBits>(4), true, 1, 2}));
  for (double factor : {0.0, -1.0, double(INFINITY), double(NAN)}) {
    EXPECT_FALSE(isSound({RandomBits::threefry, true, 1, factor})) << factor;
  }
}
