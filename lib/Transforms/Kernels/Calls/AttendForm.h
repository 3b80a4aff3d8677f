//===- AttendForm.h - Attention by own kernels ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention and its gradient (AttentionShape) without a matrix of rows by
// columns in memory. A block *owns* a tile of lines and goes through the
// *other* lines tile by tile:
//
//             owns      others    adds up
//   forward   rows      columns   out = weights * v, greatest score, sum
//   dq        rows      columns   dq = ds * k
//   dk, dv    columns   rows      dv = weights^T * cotangent, dk = ds^T * q
//
// Dao et al. 2022 (2205.14135); that rows are a loop of a block's own, and the
// two launches of the gradient, which need no atomic additions: Dao 2023
// (2307.08691).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDFORM_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDFORM_H

#include "CallForm.h"
#include "llvm/Support/MathExtras.h"

namespace llmc::kernels {

/// An AttentionShape with its indices by kind.
struct Attention {
  rt::AttentionShape shape;
  /// Batch indices; of a gradient `group` has those that dk and dv are sums
  /// over.
  SmallVector<rt::AttentionIndex> batch, group;
  rt::AttentionIndex row, column, depth, value;
  /// Of the call, in order.
  std::vector<rt::LibraryOperand> operands;
};

enum class AttendKind { Forward, Rows, Columns };

/// How a launch is cut. A thread has `own` by `other` scores, and `own` by
/// `depth` or `value` sums of a result, whose columns are in `parts`: a block
/// has one part of each.
struct AttendTile {
  /// Whether tensor cores multiply: then `own` is 2, a warp has 16 lines, and a
  /// thread of it two neighbours of each 8 columns (LaneTiles.h).
  bool isMatrix = false;
  /// Terms that are in shared memory at a time.
  static constexpr int64_t chunk = 16;
  /// The same where there are `size` terms.
  static int64_t chunkOf(int64_t size) {
    return std::min<int64_t>(chunk, llvm::PowerOf2Ceil(size));
  }
  int64_t own = 4, other = 4, threadsM = 16, threadsN = 16;
  /// Columns of a thread; 0 where the launch makes no such sums.
  int64_t depth = 0, value = 0;
  int64_t parts = 1;

  int64_t blockOwn() const { return own * threadsM; }
  int64_t blockOther() const { return other * threadsN; }
  int64_t threads() const { return threadsM * threadsN; }
  /// Terms of a product of `size` terms, followed by zeros.
  static int64_t padded(int64_t size) { return llvm::alignTo(size, 16); }
};

/// Whether tensor cores multiply: floats of 16 bits, with sums of f32, of at
/// most 128 elements of depth and values.
bool hasMatrixTiles(const rt::AttentionShape &shape);

Attention makeAttention(const rt::AttentionShape &shape);
AttendTile chooseTile(const Attention &attention, AttendKind kind);

/// One launch forward, two of a gradient.
CallPlan planAttention(const Attention &attention,
                       ArrayRef<RankedTensorType> buffers);

/// Write a thread of a block. `arguments` names the memory that the launch has,
/// as rt::operandsOf does.
void writeAttend(GridCode &code, const Attention &attention,
                 const AttendTile &tile, ArrayRef<StringRef> arguments);
void writeAttendRows(GridCode &code, const Attention &attention,
                     const AttendTile &tile, ArrayRef<StringRef> arguments);
void writeAttendColumns(GridCode &code, const Attention &attention,
                        const AttendTile &tile, ArrayRef<StringRef> arguments);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDFORM_H
