//===- RandomBits.h - Bits of a key and a counter ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random bits that a program draws while it runs. An element's bits are a pure
// function of a key and of a counter, so what is drawn again, or elsewhere, is
// the same.
//
//   x        = the counter's halves, low first, of `threefry`, else high first
//   x        = threefry2x32(x) under the key's halves, low first
//   threefry   x[0] + x[1] * 2^32    rng_bit_generator of StableHLO, THREE_FRY
//   jax32      x[0] xor x[1]         jax.random, 32 bits
//   jax64      x[1] + x[0] * 2^32    jax.random, 64 bits
//
// The function: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011, with 20 rounds.
//
// Test: test/Runtime/Base/RandomBitsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_RANDOMBITS_H
#define LLMC_RUNTIME_BASE_RANDOMBITS_H

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace llmc::rt {

/// The numbers are stored in plan files: append only.
enum class RandomBits : uint8_t {
  none = 0,
  threefry = 1,
  jax32 = 2,
  jax64 = 3,
};
inline constexpr std::array<std::string_view, 4> randomBitsNames = {
    "none", "threefry", "jax32", "jax64"};

constexpr std::string_view nameOf(RandomBits bits) {
  auto index = static_cast<size_t>(bits);
  return index < randomBitsNames.size() ? randomBitsNames[index] : "unknown";
}

/// How many bits an element has.
constexpr int widthOf(RandomBits bits) {
  return bits == RandomBits::jax32 ? 32 : 64;
}

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> x,
                                     std::array<uint32_t, 2> key);

/// Of `none` they are 0.
uint64_t drawBits(RandomBits bits, uint64_t key, uint64_t counter);

/// Which elements are dropped, and by what the others are multiplied.
struct Dropout {
  RandomBits bits = RandomBits::none; ///< none: nothing is dropped.
  /// Those are kept whose bits are below the limit, else those whose are not.
  bool keepsBelow = false;
  uint64_t limit = 0;
  double factor = 1;

  auto tied() const { return std::tie(bits, keepsBelow, limit, factor); }
};
inline bool operator==(const Dropout &x, const Dropout &y) {
  return x.tied() == y.tied();
}
inline bool operator<(const Dropout &x, const Dropout &y) {
  return x.tied() < y.tied();
}

/// 0 where an element with these bits is dropped, else the factor.
inline double factorOf(const Dropout &dropout, uint64_t bits) {
  return (bits < dropout.limit) == dropout.keepsBelow ? dropout.factor : 0;
}

/// The bits are of a kind that there is, of which the limit is a number, and
/// the factor is positive and finite; those of no dropout are all as above.
bool isSound(const Dropout &dropout);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_RANDOMBITS_H
