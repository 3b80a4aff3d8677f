//===- AttentionKernelBodies.h - For one kind of vector ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AttentionKernels.h declares, for vectors of LLMC_VECTOR_BYTES and blocks
// of LLMC_BLOCK_ROWS, in namespace LLMC_KERNEL_SPACE. A file that includes it
// has its own compiler options, so nothing here may be shared with another.
//
//===----------------------------------------------------------------------===//

// No guard: each including file defines another namespace.
#include "AttentionDrawBodies.h"

namespace llmc::rt::cpu::LLMC_KERNEL_SPACE {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A block of rows by a panel: its sums stay in registers.
template <typename T>
static inline void multiplyBlock(const TileProduct<T> &p, const T *a,
                                 const T *b, T *c) {
  constexpr int rows = LLMC_BLOCK_ROWS, width = lanes<T>;
  Vector<T> left[rows], right[rows];
  for (int i = 0; i < rows; ++i) {
    left[i] = p.isAdded ? load(c + i * p.cRow) : Vector<T>{};
    right[i] = p.isAdded ? load(c + i * p.cRow + width) : Vector<T>{};
  }
  for (int64_t k = 0; k < p.k; ++k, a += p.aStep, b += 2 * width) {
    Vector<T> first = load(b), second = load(b + width);
    for (int i = 0; i < rows; ++i) {
      Vector<T> each = splat(a[i * p.aRow]);
      left[i] += each * first;
      right[i] += each * second;
    }
  }
  for (int i = 0; i < rows; ++i) {
    store(c + i * p.cRow, left[i]);
    store(c + i * p.cRow + width, right[i]);
  }
}

template <typename T> static void multiply(const TileProduct<T> &p) {
  constexpr int panel = 2 * lanes<T>;
  for (int64_t n = 0; n < p.n / panel; ++n) {
    for (int64_t m = 0; m < p.m; m += LLMC_BLOCK_ROWS) {
      multiplyBlock(p, p.a + m * p.aRow, p.b + n * p.bPanel,
                    p.c + m * p.cRow + n * p.cPanel);
    }
  }
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// 2^x within 2 units in the last place, by a polynomial of least relative
/// error on [-1/2, 1/2]; below 2^-126 it is 0, NaN stays NaN.
static inline Vector<float> exp2Of(Vector<float> x) {
  typedef int32_t Bits __attribute__((vector_size(LLMC_VECTOR_BYTES)));
  x = x < -127.0f ? splat(-127.0f) : x;
  x = x > 128.0f ? splat(128.0f) : x;
  // The nearest integer, in the low bits of a number without a fraction.
  Vector<float> shifted = x + 12582912.0f;
  Vector<float> f = x - (shifted - 12582912.0f);
  Vector<float> y = splat(0.001326472731f);
  y = y * f + 0.009671512991f;
  y = y * f + 0.05550733581f;
  y = y * f + 0.2402224243f;
  y = y * f + 0.6931470037f;
  y = y * f + 1.0f;
  Bits bits = reinterpret_cast<Bits>(shifted);
  bits = (bits << 23) + (127 << 23);
  return y * reinterpret_cast<Vector<float>>(bits);
}

static inline Vector<double> exp2Of(Vector<double> x) {
  for (int i = 0; i < lanes<double>; ++i) {
    x[i] = __builtin_exp2(x[i]);
  }
  return x;
}

template <typename T>
static inline Vector<T> greater(Vector<T> x, Vector<T> y) {
  return x > y ? x : y;
}

/// The score of column c with its bias, -inf where the lane does not see it.
template <typename T>
static inline Vector<T> scoreAt(const TileScores<T> &tile, int64_t c,
                                int lane) {
  Vector<T> score = load(tile.scores + c * tile.row + lane);
  if (tile.bias) {
    score += load(tile.bias + c * tile.row + lane);
  }
  if (tile.limit) {
    Vector<T> limit = load(tile.limit + lane);
    score = limit > static_cast<T>(c) ? score
                                      : splat(static_cast<T>(-__builtin_inf()));
  }
  return score;
}

/// What is dropped is 0, whatever it was.
template <typename T>
static inline Vector<T> keep(const TileScores<T> &tile, int64_t at,
                             Vector<T> value) {
  if (!tile.factors) {
    return value;
  }
  Vector<T> factor = load(tile.factors + at);
  return factor == Vector<T>{} ? Vector<T>{} : value * factor;
}

template <typename T>
static void softmax(const TileScores<T> &tile, T *greatest, T *sum, T *factor) {
  constexpr int width = lanes<T>;
  const T low = static_cast<T>(-__builtin_inf());
  Vector<T> most[2] = {load(greatest), load(greatest + width)};
  Vector<T> before[2] = {most[0], most[1]}, total[2] = {};
  bool isChanged = tile.bias || tile.limit;
  for (int64_t c = 0; c < tile.count; ++c) {
    for (int i = 0; i < 2; ++i) {
      Vector<T> score = scoreAt(tile, c, i * width);
      if (isChanged) {
        store(tile.scores + c * tile.row + i * width, score);
      }
      most[i] = greater<T>(most[i], score);
    }
  }
  Vector<T> base[2];
  for (int i = 0; i < 2; ++i) {
    // A lane that has seen nothing has no greatest score to subtract.
    base[i] = most[i] == low ? Vector<T>{} : most[i];
  }
  for (int64_t c = 0; c < tile.count; ++c) {
    for (int i = 0; i < 2; ++i) {
      int64_t at = c * tile.row + i * width;
      Vector<T> p = exp2Of(load(tile.scores + at) - base[i]);
      store(tile.scores + at, keep(tile, at, p));
      total[i] += p;
    }
  }
  for (int i = 0; i < 2; ++i) {
    Vector<T> scale = exp2Of(before[i] - base[i]);
    store(factor + i * width, scale);
    store(greatest + i * width, most[i]);
    store(sum + i * width, load(sum + i * width) * scale + total[i]);
  }
}

template <typename T>
static void grade(const TileScores<T> &tile, T *products, int64_t padded,
                  const T *logsumexp, const T *delta) {
  constexpr int width = lanes<T>;
  Vector<T> base[2] = {load(logsumexp), load(logsumexp + width)};
  Vector<T> less[2] = {load(delta), load(delta + width)};
  for (int64_t c = 0; c < tile.count; ++c) {
    for (int i = 0; i < 2; ++i) {
      int64_t at = c * tile.row + i * width;
      Vector<T> p = exp2Of(scoreAt(tile, c, i * width) - base[i]);
      Vector<T> product = keep(tile, at, load(products + at));
      store(tile.scores + at, keep(tile, at, p));
      store(products + at, p * (product - less[i]));
    }
  }
  for (int64_t c = tile.count; c < padded; ++c) {
    for (int i = 0; i < 2; ++i) {
      store(tile.scores + c * tile.row + i * width, Vector<T>{});
      store(products + c * tile.row + i * width, Vector<T>{});
    }
  }
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

template <typename T>
static void scale(T *matrix, int64_t row, int64_t rows, int64_t columns,
                  const T *factor) {
  for (int64_t i = 0; i < rows; ++i) {
    if (factor[i] == 1) {
      continue;
    }
    for (int64_t j = 0; j < columns; j += lanes<T>) {
      T *at = matrix + i * row + j;
      store(at, load(at) * factor[i]);
    }
  }
}

template <typename T>
static void pack(const T *matrix, int64_t row, int64_t k, int64_t n,
                 int64_t padded, T *panels) {
  constexpr int width = lanes<T>, panel = 2 * width;
  for (int64_t j = 0; j < n; j += panel) {
    for (int64_t i = 0; i < padded; ++i, panels += panel) {
      const T *from = matrix + i * row + j;
      if (i < k && j + panel <= n) {
        store(panels, load(from));
        store(panels + width, load(from + width));
        continue;
      }
      for (int64_t l = 0; l < panel; ++l) {
        panels[l] = i < k && j + l < n ? from[l] : T(0);
      }
    }
  }
}

template <typename T>
static void packTransposed(const T *matrix, int64_t row, int64_t n, int64_t k,
                           T factor, T *panel) {
  constexpr int width = 2 * lanes<T>;
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      panel[j * width + i] = matrix[i * row + j] * factor;
    }
    for (int64_t i = n; i < width; ++i) {
      panel[j * width + i] = 0;
    }
  }
}

template <typename T>
static constexpr AttentionKernels<T> kernels = {
    2 * lanes<T>, LLMC_BLOCK_ROWS, multiply<T>, draw<T>,          softmax<T>,
    grade<T>,     scale<T>,        pack<T>,     packTransposed<T>};

} // namespace llmc::rt::cpu::LLMC_KERNEL_SPACE
