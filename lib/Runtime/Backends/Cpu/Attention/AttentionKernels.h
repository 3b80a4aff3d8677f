//===- AttentionKernels.h - The inner loops of attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and exponentials of tiles, once for each kind of vector that a
// processor may have. Tiles lie in panels: matrices of a few columns, as many
// as two vectors have lanes, row by row, so that a product reads and writes
// whole vectors.
//
//   b [k, n]  ->  [n / panel][k][panel]
//
// Scores are transposed: a row of a panel is a column of the attention, and its
// lanes are rows, each with its own greatest score and sum.
//
// This file is compiled for several processors: it may include nothing that
// has inline functions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONKERNELS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONKERNELS_H

#include <cstdint>

namespace llmc::rt::cpu {

/// c [m, n] = or += a [m, k] * b [k, n]; m is a multiple of `block`, n of
/// `panel`. Element (i, j) of a is at i * aRow + j * aStep.
template <typename T> struct TileProduct {
  int64_t m, n, k;
  const T *a;
  int64_t aRow, aStep;
  const T *b;
  int64_t bPanel; ///< From one panel to the next.
  T *c;
  int64_t cRow, cPanel;
  bool isAdded;
};

/// Scores of `count` columns by the lanes of a panel, in units of log 2.
template <typename T> struct TileScores {
  T *scores;
  int64_t row;      ///< From one column to the next, of the bias too.
  int64_t count;    ///< Columns.
  const T *bias;    ///< Or null.
  const T *limit;   ///< For each lane how many columns it sees; or null.
  const T *factors; ///< Of weights, 0 where they are dropped; or null.
};

/// What `count` columns by the lanes of a panel are multiplied by: 0 or
/// `factor`, by the random bits of counter + column * columnStep + lane *
/// laneStep. They are numbers of 64 bits, whose high half is the second word
/// that threefry makes of the counter's low and high half; where it swaps, the
/// first word that it makes of the high and the low half. Where they are xored
/// it is the exclusive or of both, and the low half 0.
template <typename T> struct TileDropout {
  uint32_t key[2];
  uint64_t counter, columnStep, laneStep;
  int64_t row, count;
  bool swaps, isXored, keepsBelow;
  uint64_t limit;
  T factor;
  T *factors;
};

template <typename T> struct AttentionKernels {
  int64_t panel, block;

  void (*multiply)(const TileProduct<T> &product);

  void (*draw)(const TileDropout<T> &tile);

  /// Scores become exp2(score - greatest), times their factors; `greatest` and
  /// `sum`, which knows no factors, are brought up to date, and `factor` is
  /// what sums before this tile are to be scaled by.
  void (*softmax)(const TileScores<T> &tile, T *greatest, T *sum, T *factor);

  /// With p = exp2(score - logsumexp) scores become p times their factors, and
  /// the products of cotangents with values beside them p * (product times its
  /// factor - delta). Columns from `count` to `padded` become 0.
  void (*grade)(const TileScores<T> &tile, T *products, int64_t padded,
                const T *logsumexp, const T *delta);

  /// Scales row i of [rows, columns] by factor[i].
  void (*scale)(T *matrix, int64_t row, int64_t rows, int64_t columns,
                const T *factor);

  /// Panels of a matrix [k, n] with rows from `row` to `row`; zeros up to
  /// `padded` rows, and up to a multiple of the panel.
  void (*pack)(const T *matrix, int64_t row, int64_t k, int64_t n,
               int64_t padded, T *panels);

  /// One panel of factor * the transposed of [n, k], n at most a panel.
  void (*packTransposed)(const T *matrix, int64_t row, int64_t n, int64_t k,
                         T factor, T *panel);
};

/// Those that this processor runs, best first; how many there are.
template <typename T>
int listAttentionKernels(const AttentionKernels<T> *(&list)[3]);

/// The best.
template <typename T> const AttentionKernels<T> &attentionKernels();

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONKERNELS_H
