//===- AttentionDrawBodies.h - Vectors and their random bits ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of AttentionKernelBodies.h for what drops weights: threefry on
// vectors of counters.
//
//===----------------------------------------------------------------------===//

// No guard: each including file defines another namespace.
#include "AttentionKernels.h"

namespace llmc::rt::cpu::LLMC_KERNEL_SPACE {

template <typename T> struct VectorOf {
  typedef T Type __attribute__((vector_size(LLMC_VECTOR_BYTES)));
  typedef T InMemory __attribute__((vector_size(LLMC_VECTOR_BYTES),
                                    aligned(sizeof(T)), may_alias));
};
template <typename T> using Vector = typename VectorOf<T>::Type;

template <typename T>
constexpr int lanes = LLMC_VECTOR_BYTES / static_cast<int>(sizeof(T));

template <typename T> static inline Vector<T> load(const T *from) {
  return *reinterpret_cast<const typename VectorOf<T>::InMemory *>(from);
}
template <typename T> static inline void store(T *to, Vector<T> value) {
  *reinterpret_cast<typename VectorOf<T>::InMemory *>(to) = value;
}
template <typename T> static inline Vector<T> splat(T value) {
  return value - Vector<T>{};
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

typedef uint32_t Words __attribute__((vector_size(LLMC_VECTOR_BYTES)));
constexpr int wordLanes = LLMC_VECTOR_BYTES / 4;

/// Threefry-2x32 with 20 rounds of n vectors of counters.
template <int n>
static inline void threefry(Words (&x)[n], Words (&y)[n],
                            const uint32_t (&key)[2]) {
  constexpr int distances[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  for (int i = 0; i < n; ++i) {
    x[i] += keys[0];
    y[i] += keys[1];
  }
  for (int group = 0; group < 5; ++group) {
    for (int distance : distances[group % 2]) {
      for (int i = 0; i < n; ++i) {
        x[i] += y[i];
        y[i] = ((y[i] << distance) | (y[i] >> (32 - distance))) ^ x[i];
      }
    }
    for (int i = 0; i < n; ++i) {
      x[i] += keys[(group + 1) % 3];
      y[i] += keys[(group + 2) % 3] + static_cast<uint32_t>(group + 1);
    }
  }
}

/// The factor where `isKept` has all bits, else 0.
static inline void storeFactors(float *to, Words isKept, float factor) {
  Vector<float> all = splat(factor);
  store(to,
        reinterpret_cast<Vector<float>>(reinterpret_cast<Words>(all) & isKept));
}
static inline void storeFactors(double *to, Words isKept, double factor) {
  for (int i = 0; i < wordLanes; ++i) {
    to[i] = isKept[i] ? factor : 0;
  }
}

template <typename T> static void draw(const TileDropout<T> &tile) {
  constexpr int n = 2 * lanes<T> / wordLanes;
  Words low[n], high[n];
  for (int lane = 0; lane < n * wordLanes; ++lane) {
    uint64_t step = static_cast<uint64_t>(lane) * tile.laneStep;
    low[lane / wordLanes][lane % wordLanes] = static_cast<uint32_t>(step);
    high[lane / wordLanes][lane % wordLanes] =
        static_cast<uint32_t>(step >> 32);
  }
  const auto limitLow = static_cast<uint32_t>(tile.limit);
  const auto limitHigh = static_cast<uint32_t>(tile.limit >> 32);
  uint64_t counter = tile.counter;
  for (int64_t c = 0; c < tile.count; ++c, counter += tile.columnStep) {
    const auto first = static_cast<uint32_t>(counter);
    Words x[n], y[n];
    for (int i = 0; i < n; ++i) {
      Words lower = low[i] + first;
      // A comparison that holds is -1.
      Words upper = high[i] + static_cast<uint32_t>(counter >> 32) -
                    reinterpret_cast<Words>(lower < first);
      x[i] = tile.swaps ? upper : lower;
      y[i] = tile.swaps ? lower : upper;
    }
    threefry(x, y, tile.key);
    for (int i = 0; i < n; ++i) {
      Words lower = tile.swaps ? y[i] : x[i], upper = tile.swaps ? x[i] : y[i];
      upper = tile.isXored ? x[i] ^ y[i] : upper;
      lower = tile.isXored ? Words{} : lower;
      Words isBelow = reinterpret_cast<Words>(
          (upper < limitHigh) | ((upper == limitHigh) & (lower < limitLow)));
      storeFactors(tile.factors + c * tile.row + i * wordLanes,
                   tile.keepsBelow ? isBelow : ~isBelow, tile.factor);
    }
  }
}

} // namespace llmc::rt::cpu::LLMC_KERNEL_SPACE
