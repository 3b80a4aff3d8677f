//===- RandomBits.cpp - Bits of a key and a counter -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/RandomBitsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/RandomBits.h"

#include <cmath>

namespace llmc::rt {

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> x,
                                     std::array<uint32_t, 2> key) {
  constexpr unsigned distances[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t keys[] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  x[0] += keys[0];
  x[1] += keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (unsigned distance : distances[group % 2]) {
      x[0] += x[1];
      x[1] = ((x[1] << distance) | (x[1] >> (32 - distance))) ^ x[0];
    }
    x[0] += keys[(group + 1) % 3];
    x[1] += keys[(group + 2) % 3] + group + 1;
  }
  return x;
}

static std::array<uint32_t, 2> halvesOf(uint64_t x) {
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)};
}

uint64_t drawBits(RandomBits bits, uint64_t key, uint64_t counter) {
  std::array<uint32_t, 2> x = halvesOf(counter);
  if (bits != RandomBits::threefry) {
    std::swap(x[0], x[1]);
  }
  x = threefry2x32(x, halvesOf(key));
  switch (bits) {
  case RandomBits::threefry:
    return x[0] | uint64_t(x[1]) << 32;
  case RandomBits::jax32:
    return x[0] ^ x[1];
  case RandomBits::jax64:
    return x[1] | uint64_t(x[0]) << 32;
  default:
    return 0;
  }
}

bool isSound(const Dropout &dropout) {
  if (dropout.bits == RandomBits::none) {
    return dropout == Dropout();
  }
  return static_cast<size_t>(dropout.bits) < randomBitsNames.size() &&
         (widthOf(dropout.bits) == 64 || dropout.limit <= UINT32_MAX) &&
         std::isfinite(dropout.factor) && dropout.factor > 0;
}

} // namespace llmc::rt
