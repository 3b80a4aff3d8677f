//===- AttentionForward.cpp - Attention by tiles --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values are packed once for a batch. Tiles of columns run outermost,
// so that they stay in a cache for a block of rows; the rows of a panel then go
// through scores, exponentials and sums while their scores lie in the nearest
// cache:
//
//   scores = k tile * q panel      greatest, sum, factor = softmax(scores)
//   out    = factor * out + scores^T * v tile
//
// Tested by test/Runtime/Device/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionTask.h"

namespace llmc::rt::cpu {

namespace {

template <typename T> class ForwardTask final : public AttentionBase<T> {
public:
  using AttentionBase<T>::AttentionBase;

  uint64_t workspaceBytes() const override {
    Workspace space(nullptr);
    Tiles count(*this, space);
    return static_cast<uint64_t>(space.bytes());
  }
  void run(const AttentionBuffers &buffers, void *workspace,
           const AttentionPiece &piece, AttentionPacked &packed) const override;

private:
  using Base = AttentionBase<T>;
  using Base::depth, Base::kernels, Base::panel, Base::sizes, Base::value,
      Base::valuePadded;
  using typename Base::Block, typename Base::Index;

  struct Tiles {
    Tiles(const ForwardTask &of, Workspace &space) {
      int64_t rows = roundUp(of.sizes.blockRows, of.panel);
      int64_t scoresOf = tileColumns * of.panel;
      buffer = space.take<T>(std::max(of.panel, tileColumns) *
                             std::max(of.depth, of.value));
      q = space.take<T>(rows * of.depth);
      int64_t columns = roundUp(of.sizes.column.size, of.kernels.block);
      k = space.take<T>(columns * of.depth);
      v = space.take<T>(columns * of.valuePadded);
      out = space.take<T>(rows * of.valuePadded);
      scores = space.take<T>(scoresOf);
      bias = of.sizes.shape.hasBias ? space.take<T>(scoresOf) : nullptr;
      factors = of.sizes.shape.hasDropout() ? space.take<T>(scoresOf) : nullptr;
      greatest = space.take<T>(rows);
      sum = space.take<T>(rows);
      limit = space.take<T>(of.panel);
      factor = space.take<T>(of.panel);
    }

    T *buffer, *q, *k, *v, *out, *scores, *bias, *factors;
    T *greatest, *sum, *limit, *factor;
  };

  void loadRowsOfBlock(const AttentionBuffers &buffers, const BatchPlace &place,
                       const Tiles &tiles, const Block &block) const;
  void packColumns(const AttentionBuffers &buffers, const BatchPlace &place,
                   const Tiles &tiles, int64_t end,
                   AttentionPacked &packed) const;
  void runPanel(const AttentionBuffers &buffers, const BatchPlace &place,
                const Tiles &tiles, const Block &block, int64_t row) const;
  void storeBlock(const AttentionBuffers &buffers, const BatchPlace &place,
                  const Tiles &tiles, const Block &block) const;
};

template <typename T>
void ForwardTask<T>::loadRowsOfBlock(const AttentionBuffers &buffers,
                                     const BatchPlace &place,
                                     const Tiles &tiles,
                                     const Block &block) const {
  int64_t rows = roundUp(block.rowEnd - block.row, panel);
  std::fill(tiles.out, tiles.out + rows * valuePadded, T(0));
  std::fill(tiles.greatest, tiles.greatest + rows, static_cast<T>(-INFINITY));
  std::fill(tiles.sum, tiles.sum + rows, T(0));
  StridedMatrix q =
      this->matrix(buffers.q, place, &Index::strideQ, sizes.row, sizes.depth);
  auto factor = static_cast<T>(sizes.shape.scale * log2OfE);
  for (int64_t row = block.row; row < block.rowEnd; row += panel) {
    int64_t n = std::min(panel, block.rowEnd - row);
    RowMatrix<T> each = loadRows(q.from(row), n, depth, tiles.buffer);
    kernels.packTransposed(each.base, each.row, n, depth, factor,
                           tiles.q + (row - block.row) * depth);
  }
}

/// Keys row by row and values in panels, tile by tile, at least up to `end`.
template <typename T>
void ForwardTask<T>::packColumns(const AttentionBuffers &buffers,
                                 const BatchPlace &place, const Tiles &tiles,
                                 int64_t end, AttentionPacked &packed) const {
  StridedMatrix k = this->matrix(buffers.k, place, &Index::strideK,
                                 sizes.column, sizes.depth);
  StridedMatrix v = this->matrix(buffers.v, place, &Index::strideV,
                                 sizes.column, sizes.value);
  if (packed.k != k.offset || packed.v != v.offset) {
    packed = {k.offset, v.offset, 0};
  }
  for (int64_t &at = packed.columns; at < end;) {
    int64_t count = std::min(tileColumns, sizes.column.size - at);
    copyRows(k.from(at), count, depth, roundUp(count, kernels.block),
             tiles.k + at * depth);
    RowMatrix<T> rows = loadRows(v.from(at), count, value, tiles.buffer);
    kernels.pack(rows.base, rows.row, count, value, count,
                 tiles.v + at * valuePadded);
    at += count;
  }
}

template <typename T>
void ForwardTask<T>::runPanel(const AttentionBuffers &buffers,
                              const BatchPlace &place, const Tiles &tiles,
                              const Block &block, int64_t row) const {
  int64_t first = row - block.row;
  T *limit = tiles.limit;
  int64_t count = this->limitPanel(block, row, limit);
  if (count == 0) {
    return;
  }
  kernels.multiply({roundUp(count, kernels.block), panel, depth,
                    tiles.k + block.column * depth, depth, 1,
                    tiles.q + first * depth, 0, tiles.scores, panel, 0, false});
  if (buffers.bias) {
    this->loadBias(buffers, place, block, row, panel, tiles.bias);
  }
  if (tiles.factors) {
    this->drawFactors(buffers, place, block, row, count, panel, tiles.factors);
  }
  kernels.softmax(
      {tiles.scores, panel, count, tiles.bias, limit, tiles.factors},
      tiles.greatest + first, tiles.sum + first, tiles.factor);
  T *out = tiles.out + first * valuePadded;
  if (block.column != 0) {
    kernels.scale(out, valuePadded, panel, valuePadded, tiles.factor);
  }
  int64_t packed = std::min(tileColumns, sizes.column.size - block.column);
  kernels.multiply({panel, valuePadded, count, tiles.scores, 1, panel,
                    tiles.v + block.column * valuePadded, packed * panel, out,
                    valuePadded, panel, true});
}

/// A row that has seen nothing is 0 / 0, or 0 where that is safe.
template <typename T>
void ForwardTask<T>::storeBlock(const AttentionBuffers &buffers,
                                const BatchPlace &place, const Tiles &tiles,
                                const Block &block) const {
  StridedMatrix out = this->matrix(buffers.out, place, &Index::strideOut,
                                   sizes.row, sizes.value);
  for (int64_t row = block.row; row < block.rowEnd; ++row) {
    int64_t i = row - block.row;
    T logsumexp =
        tiles.greatest[i] / static_cast<T>(log2OfE) + std::log(tiles.sum[i]);
    *this->rowAt(buffers.logsumexp, place, row) = logsumexp;
    T *sums = tiles.out + i * valuePadded;
    bool isZero = sizes.shape.isSafe && logsumexp == static_cast<T>(-INFINITY);
    if (isZero) {
      std::fill(sums, sums + value, T(0));
    }
    storeRow(out, row, value, sums, isZero ? T(1) : 1 / tiles.sum[i]);
  }
}

template <typename T>
void ForwardTask<T>::run(const AttentionBuffers &buffers, void *workspace,
                         const AttentionPiece &piece,
                         AttentionPacked &packed) const {
  Workspace space(workspace);
  Tiles tiles(*this, space);
  BatchPlace place(sizes, piece.batch, 0);
  Block block;
  block.row = piece.begin;
  block.rowEnd = piece.end;
  block.diagonal = this->diagonalOf(buffers);
  loadRowsOfBlock(buffers, place, tiles, block);
  int64_t last = this->visible(block.rowEnd - 1, block.diagonal);
  packColumns(buffers, place, tiles, last, packed);
  for (; block.column < last; block.column += tileColumns) {
    block.count = std::min(tileColumns, last - block.column);
    for (int64_t row = block.row; row < block.rowEnd; row += panel) {
      runPanel(buffers, place, tiles, block, row);
    }
  }
  storeBlock(buffers, place, tiles, block);
}

} // namespace

std::unique_ptr<AttentionTask> makeForwardTask(const AttentionSizes &sizes) {
  if (sizes.shape.accumulate == DType::f64) {
    return std::make_unique<ForwardTask<double>>(sizes);
  }
  return std::make_unique<ForwardTask<float>>(sizes);
}

} // namespace llmc::rt::cpu
