//===- AttentionTask.h - What forward and gradient share --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTASK_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTASK_H

#include "Attention.h"
#include "AttentionKernels.h"
#include "AttentionTiles.h"

#include <algorithm>
#include <cmath>

namespace llmc::rt::cpu {

inline int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Columns of a tile: the scores of a panel and what they are multiplied with
/// stay in the nearest cache.
inline constexpr int64_t tileColumns = 128;
/// Rows of a gradient's tile.
inline constexpr int64_t tileRows = 128;

/// Scores are made in units of log 2, in which powers are simplest.
inline constexpr double log2OfE = 1.44269504088896340736;

/// Where the operands of one batch and group begin, in elements.
class BatchPlace {
public:
  explicit BatchPlace(const AttentionSizes &sizes, int64_t batch,
                      int64_t group) {
    add(sizes.batch, batch);
    add(sizes.group, group);
  }
  int64_t of(int64_t AttentionIndex::*stride) const { return at.*stride; }

private:
  /// Position `rest` of a row-major walk. Where there are no rows to compute,
  /// gradients of zeros still begin somewhere.
  void add(const std::vector<AttentionIndex> &indices, int64_t rest) {
    for (size_t i = indices.size(); i-- > 0;) {
      int64_t size = std::max<int64_t>(indices[i].size, 1);
      int64_t here = rest % size;
      rest /= size;
      for (const AttentionStride &each : attentionStrides) {
        at.*each.stride += here * (indices[i].*each.stride);
      }
    }
  }

  AttentionIndex at;
};

/// Rows from `row` to `rowEnd`, and a tile of columns from `column` on.
struct AttentionBlock {
  int64_t row = 0, rowEnd = 0;
  int64_t column = 0, count = 0;
  int64_t diagonal = 0;
  /// Of a gradient: a row has a logsumexp that is no number above -inf, so that
  /// what it does not see counts as well.
  bool seesAll = false;
};

template <typename T> class AttentionBase : public AttentionTask {
public:
  explicit AttentionBase(const AttentionSizes &sizes)
      : sizes(sizes), kernels(attentionKernels<T>()), panel(kernels.panel),
        depth(sizes.depth.size), value(sizes.value.size),
        depthPadded(roundUp(depth, panel)), valuePadded(roundUp(value, panel)) {
  }

protected:
  using Index = AttentionIndex;
  using Block = AttentionBlock;

  /// A matrix of an operand at `place`.
  StridedMatrix matrix(const void *base, const BatchPlace &place,
                       int64_t Index::*stride, const Index &row,
                       const Index &column) const {
    return {const_cast<void *>(base), sizes.shape.dtype, place.of(stride),
            row.*stride, column.*stride};
  }
  /// Logsumexp or delta of a row.
  T *rowAt(const void *base, const BatchPlace &place, int64_t row) const {
    return static_cast<T *>(const_cast<void *>(base)) +
           place.of(&Index::strideRows) + row * sizes.row.strideRows;
  }
  /// Where the diagonal stands in this call.
  int64_t diagonalOf(const AttentionBuffers &buffers) const;
  /// How many columns a row sees.
  int64_t visible(int64_t row, int64_t diagonal) const;
  /// How many of a tile's columns the rows from `row` on of a panel see at
  /// most; fills `limit` where they are not as many for all, else makes it
  /// null.
  int64_t limitPanel(const Block &block, int64_t row, T *&limit) const;
  /// The bias of a panel's rows, transposed, in units of log 2.
  void loadBias(const AttentionBuffers &buffers, const BatchPlace &place,
                const Block &block, int64_t row, int64_t stride, T *bias) const;
  /// What dropout multiplies the first `count` weights of a panel's rows by.
  void drawFactors(const AttentionBuffers &buffers, const BatchPlace &place,
                   const Block &block, int64_t row, int64_t count,
                   int64_t stride, T *factors) const;

  AttentionSizes sizes;
  const AttentionKernels<T> &kernels;
  int64_t panel, depth, value, depthPadded, valuePadded;
};

template <typename T>
int64_t AttentionBase<T>::diagonalOf(const AttentionBuffers &buffers) const {
  int32_t offset = 0;
  if (buffers.offset) {
    std::memcpy(&offset, buffers.offset, sizeof(offset));
  }
  return sizes.shape.shift + offset;
}

template <typename T>
int64_t AttentionBase<T>::visible(int64_t row, int64_t diagonal) const {
  int64_t columns = sizes.column.size;
  return sizes.shape.isCausal
             ? std::clamp<int64_t>(row + diagonal + 1, 0, columns)
             : columns;
}

template <typename T>
int64_t AttentionBase<T>::limitPanel(const Block &block, int64_t row,
                                     T *&limit) const {
  int64_t rows = std::min(panel, block.rowEnd - row);
  auto seen = [&](int64_t i) {
    return std::clamp<int64_t>(visible(row + i, block.diagonal) - block.column,
                               0, block.count);
  };
  int64_t most = block.seesAll ? block.count : seen(rows - 1);
  if (seen(0) == most) {
    limit = nullptr;
    return most;
  }
  for (int64_t i = 0; i < panel; ++i) {
    limit[i] = static_cast<T>(i < rows ? seen(i) : block.count);
  }
  return most;
}

template <typename T>
void AttentionBase<T>::loadBias(const AttentionBuffers &buffers,
                                const BatchPlace &place, const Block &block,
                                int64_t row, int64_t stride, T *bias) const {
  int64_t rows = std::min(panel, block.rowEnd - row);
  StridedMatrix from{const_cast<void *>(buffers.bias), sizes.shape.bias,
                     place.of(&Index::strideBias) + row * sizes.row.strideBias +
                         block.column * sizes.column.strideBias,
                     sizes.column.strideBias, sizes.row.strideBias};
  for (int64_t c = 0; c < block.count; ++c) {
    T *to = bias + c * stride;
    loadRow(from, c, rows, to);
    for (int64_t i = 0; i < rows; ++i) {
      to[i] *= static_cast<T>(log2OfE);
    }
    std::fill(to + rows, to + panel, T(0));
  }
}

template <typename T>
void AttentionBase<T>::drawFactors(const AttentionBuffers &buffers,
                                   const BatchPlace &place, const Block &block,
                                   int64_t row, int64_t count, int64_t stride,
                                   T *factors) const {
  const Dropout &dropout = sizes.shape.dropout;
  uint64_t state[2];
  std::memcpy(state, buffers.state, sizeof(state));
  auto columnStep = static_cast<uint64_t>(sizes.column.strideBits),
       rowStep = static_cast<uint64_t>(sizes.row.strideBits);
  bool isXored = dropout.bits == RandomBits::jax32;
  TileDropout<T> tile;
  tile.key[0] = static_cast<uint32_t>(state[0]);
  tile.key[1] = static_cast<uint32_t>(state[0] >> 32);
  tile.counter = state[1] +
                 static_cast<uint64_t>(place.of(&Index::strideBits)) +
                 static_cast<uint64_t>(row) * rowStep +
                 static_cast<uint64_t>(block.column) * columnStep;
  tile.columnStep = columnStep;
  tile.laneStep = rowStep;
  tile.row = stride;
  tile.count = count;
  tile.swaps = dropout.bits != RandomBits::threefry;
  tile.isXored = isXored;
  tile.keepsBelow = dropout.keepsBelow;
  tile.limit = isXored ? dropout.limit << 32 : dropout.limit;
  tile.factor = static_cast<T>(dropout.factor);
  tile.factors = factors;
  kernels.draw(tile);
}

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTASK_H
