//===- Random.h - Random values that do not depend on the layout ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011) as a pure function of (seed, name of the state, element index in the
// whole tensor). So shards, parts, replicas and both copies of a tied weight
// agree on every machine.
//
//   key     = XXH3-64(name), low word first
//   counter = (index low, index high, seed low, seed high)
//
// No libm: the normal distribution is the inverse of its cumulative function by
// rational approximation (Wichura, AS 241), with our own logarithm; sqrt is
// exact by IEEE 754. Computed in double, without contraction.
//
// Test: test/Runtime/Base/RandomTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_RANDOM_H
#define LLMC_RUNTIME_BASE_RANDOM_H

#include "llmc/Runtime/Base/DType.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace llmc::rt {

/// The four words of block `counter` under `key`.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// A stream of values indexed by position.
class RandomStream {
public:
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t bits(uint64_t index) const;
  /// In the open interval (0, 1): (k + 0.5) / 2^52 with k of 52 bits.
  double uniform(uint64_t index) const;
  /// Mean 0, deviation 1.
  double normal(uint64_t index) const;

private:
  uint64_t seed_;
  uint64_t key_;
};

/// Where a shuffle of [0, count) has `index`, which lies in it: a permutation
/// for each (seed, epoch), without a table. Eight Feistel rounds on the least
/// even number of bits that hold `count`, walked along their cycle until they
/// fall into the range (Black and Rogaway, "Ciphers with arbitrary finite
/// domains", CT-RSA 2002), on average at most four times. The function of a
/// round is the first word of Philox with
///
///   key     = (seed low, seed high)
///   counter = (right half, round, epoch low, epoch high)
uint64_t permute(uint64_t index, uint64_t count, uint64_t seed, uint64_t epoch);

/// The numbers are stored in plan files: append only.
enum class DrawKind : uint8_t {
  zeros = 0,
  ones = 1,
  constant = 2, ///< a
  uniform = 3,  ///< in (a, b)
  normal = 4,   ///< mean a, deviation b
  /// Mean a, deviation b before truncation to [a - 2b, a + 2b].
  truncatedNormal = 5,
};

/// How the initial values of a state are drawn.
struct Draw {
  DrawKind kind = DrawKind::zeros;
  double a = 0;
  double b = 0;
};

/// "zeros", "normal", ...
std::string_view nameOf(DrawKind kind);

double drawElement(const Draw &draw, const RandomStream &stream,
                   uint64_t index);

/// Writes the elements [first, first + count) of the whole tensor to `out`.
void drawSpan(const Draw &draw, const RandomStream &stream, uint64_t first,
              int64_t count, DType type, void *out);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_RANDOM_H
