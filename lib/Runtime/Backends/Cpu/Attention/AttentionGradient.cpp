//===- AttentionGradient.cpp - Gradients of an attention by tiles ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of rows run outermost, in order, and tiles of columns within them, so
// that each sum has one order of additions. Scores and the products of
// cotangents and values are made once for a tile, five products in all:
//
//   scores = k * q^T     p  = exp(scores - logsumexp)     dv += p * cotangent
//   terms  = v * ct^T    ds = p * (terms - delta)         dk += ds * q
//                                                         dq += ds^T * k
//
// Tested by test/Runtime/Device/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionTask.h"

namespace llmc::rt::cpu {

namespace {

template <typename T> class GradientTask final : public AttentionBase<T> {
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
      Base::depthPadded, Base::valuePadded;
  using typename Base::Block, typename Base::Index;

  struct Tiles {
    Tiles(const GradientTask &of, Workspace &space) {
      int64_t rows = roundUp(std::min(tileRows, of.sizes.row.size), of.panel);
      int64_t columns = roundUp(of.sizes.column.size, of.kernels.block);
      buffer = space.take<T>(std::max(tileRows, tileColumns) *
                             std::max(of.depth, of.value));
      qTurned = space.take<T>(rows * of.depth);
      q = space.take<T>(rows * of.depthPadded);
      cotangentTurned = space.take<T>(rows * of.value);
      cotangent = space.take<T>(rows * of.valuePadded);
      k = space.take<T>(columns * of.depth);
      kPacked = space.take<T>(columns * of.depthPadded);
      v = space.take<T>(columns * of.value);
      // A power of two would put all columns in few places of a cache.
      stride = rows + of.panel / 2;
      scores = space.take<T>(tileColumns * stride);
      terms = space.take<T>(tileColumns * stride);
      bias = of.sizes.shape.hasBias ? space.take<T>(tileColumns * stride)
                                    : nullptr;
      factors = of.sizes.shape.hasDropout()
                    ? space.take<T>(tileColumns * stride)
                    : nullptr;
      limit = space.take<T>(of.panel);
      logsumexp = space.take<T>(rows);
      delta = space.take<T>(rows);
      dq = space.take<T>(rows * of.depthPadded);
      dk = space.take<T>(columns * of.depthPadded);
      dv = space.take<T>(columns * of.valuePadded);
    }

    int64_t stride; ///< From one column of scores to the next.
    T *buffer, *qTurned, *q, *cotangentTurned, *cotangent;
    T *k, *kPacked, *v, *scores, *terms, *bias, *factors;
    T *limit, *logsumexp, *delta, *dq, *dk, *dv;
  };

  /// A call's piece.
  struct Work {
    const AttentionBuffers &buffers;
    const AttentionPiece &piece;
    Tiles tiles;
    int64_t columnBegin, columnEnd;
    bool makesRows() const {
      return piece.kind != AttentionPiece::Kind::columns;
    }
    bool makesColumns() const {
      return piece.kind != AttentionPiece::Kind::rows;
    }
  };

  bool loadSums(const Work &work, const BatchPlace &place,
                const Block &block) const;
  void loadRowsOfBlock(const Work &work, const BatchPlace &place,
                       const Block &block) const;
  void packColumns(const Work &work, const BatchPlace &place, int64_t end,
                   AttentionPacked &packed) const;
  void runPanel(const Work &work, const BatchPlace &place, const Block &block,
                int64_t row) const;
  void sumTile(const Work &work, const Block &block) const;
  void runBlock(const Work &work, const BatchPlace &place, Block block,
                AttentionPacked &packed) const;
  void storeColumns(const Work &work, const BatchPlace &place) const;
};

/// Logsumexp and delta; true where a row counts what it does not see. Lanes
/// without a row have exponentials of 0, as have safe rows that see nothing.
template <typename T>
bool GradientTask<T>::loadSums(const Work &work, const BatchPlace &place,
                               const Block &block) const {
  const Tiles &tiles = work.tiles;
  int64_t rows = block.rowEnd - block.row;
  bool seesAll = false;
  for (int64_t i = 0; i < roundUp(rows, panel); ++i) {
    tiles.logsumexp[i] = static_cast<T>(INFINITY);
    tiles.delta[i] = 0;
    if (i < rows) {
      T each = *this->rowAt(work.buffers.logsumexp, place, block.row + i);
      if (sizes.shape.isSafe && each == static_cast<T>(-INFINITY)) {
        continue;
      }
      seesAll |= !(each > static_cast<T>(-INFINITY));
      tiles.logsumexp[i] = each * static_cast<T>(log2OfE);
      tiles.delta[i] = *this->rowAt(work.buffers.delta, place, block.row + i);
    }
  }
  return seesAll;
}

/// Queries and cotangents, each as rows and turned.
template <typename T>
void GradientTask<T>::loadRowsOfBlock(const Work &work, const BatchPlace &place,
                                      const Block &block) const {
  const Tiles &tiles = work.tiles;
  int64_t rows = block.rowEnd - block.row, padded = roundUp(rows, panel);
  auto load = [&](const StridedMatrix &from, int64_t columns, T factor,
                  T *turned, T *packed) {
    RowMatrix<T> all =
        loadRows(from.from(block.row), rows, columns, tiles.buffer);
    kernels.pack(all.base, all.row, rows, columns, padded, packed);
    for (int64_t i = 0; i < rows; i += panel) {
      kernels.packTransposed(all.base + i * all.row, all.row,
                             std::min(panel, rows - i), columns, factor,
                             turned + i * columns);
    }
  };
  load(this->matrix(work.buffers.q, place, &Index::strideQ, sizes.row,
                    sizes.depth),
       depth, static_cast<T>(sizes.shape.scale * log2OfE), tiles.qTurned,
       tiles.q);
  load(this->matrix(work.buffers.out, place, &Index::strideOut, sizes.row,
                    sizes.value),
       value, T(1), tiles.cotangentTurned, tiles.cotangent);
}

/// Keys, as rows and in panels, and values of the columns that are asked for,
/// at least up to `end`.
template <typename T>
void GradientTask<T>::packColumns(const Work &work, const BatchPlace &place,
                                  int64_t end, AttentionPacked &packed) const {
  const Tiles &tiles = work.tiles;
  StridedMatrix k = this->matrix(work.buffers.k, place, &Index::strideK,
                                 sizes.column, sizes.depth);
  StridedMatrix v = this->matrix(work.buffers.v, place, &Index::strideV,
                                 sizes.column, sizes.value);
  if (packed.k != k.offset || packed.v != v.offset) {
    packed = {k.offset, v.offset, work.columnBegin};
  }
  for (int64_t &at = packed.columns; at < end;) {
    int64_t count = std::min(tileColumns, sizes.column.size - at);
    int64_t padded = roundUp(count, kernels.block);
    T *keys = tiles.k + at * depth;
    copyRows(k.from(at), count, depth, padded, keys);
    copyRows(v.from(at), count, value, padded, tiles.v + at * value);
    kernels.pack(keys, depth, count, depth, count,
                 tiles.kPacked + at * depthPadded);
    at += count;
  }
}

template <typename T>
void GradientTask<T>::runPanel(const Work &work, const BatchPlace &place,
                               const Block &block, int64_t row) const {
  const Tiles &tiles = work.tiles;
  int64_t first = row - block.row;
  T *limit = tiles.limit;
  int64_t count = this->limitPanel(block, row, limit);
  int64_t m = roundUp(count, kernels.block);
  kernels.multiply({m, panel, depth, tiles.k + block.column * depth, depth, 1,
                    tiles.qTurned + first * depth, 0, tiles.scores + first,
                    tiles.stride, 0, false});
  kernels.multiply({m, panel, value, tiles.v + block.column * value, value, 1,
                    tiles.cotangentTurned + first * value, 0,
                    tiles.terms + first, tiles.stride, 0, false});
  if (tiles.bias) {
    this->loadBias(work.buffers, place, block, row, tiles.stride,
                   tiles.bias + first);
  }
  if (tiles.factors) {
    this->drawFactors(work.buffers, place, block, row, count, tiles.stride,
                      tiles.factors + first);
  }
  kernels.grade({tiles.scores + first, tiles.stride, count,
                 tiles.bias ? tiles.bias + first : nullptr, limit,
                 tiles.factors ? tiles.factors + first : nullptr},
                tiles.terms + first, roundUp(block.count, kernels.block),
                tiles.logsumexp + first, tiles.delta + first);
}

template <typename T>
void GradientTask<T>::sumTile(const Work &work, const Block &block) const {
  const Tiles &tiles = work.tiles;
  int64_t rows = roundUp(block.rowEnd - block.row, panel);
  int64_t columns = roundUp(block.count, kernels.block);
  int64_t first = block.column - work.columnBegin;
  if (work.makesColumns()) {
    kernels.multiply({columns, valuePadded, rows, tiles.scores, tiles.stride, 1,
                      tiles.cotangent, rows * panel,
                      tiles.dv + first * valuePadded, valuePadded, panel,
                      true});
    kernels.multiply({columns, depthPadded, rows, tiles.terms, tiles.stride, 1,
                      tiles.q, rows * panel, tiles.dk + first * depthPadded,
                      depthPadded, panel, true});
  }
  if (work.makesRows()) {
    int64_t packed = std::min(tileColumns, sizes.column.size - block.column);
    kernels.multiply({rows, depthPadded, block.count, tiles.terms, 1,
                      tiles.stride, tiles.kPacked + block.column * depthPadded,
                      packed * panel, tiles.dq, depthPadded, panel, true});
  }
}

template <typename T>
void GradientTask<T>::runBlock(const Work &work, const BatchPlace &place,
                               Block block, AttentionPacked &packed) const {
  const Tiles &tiles = work.tiles;
  block.seesAll = loadSums(work, place, block);
  int64_t last =
      block.seesAll ? work.columnEnd
                    : std::min(work.columnEnd,
                               this->visible(block.rowEnd - 1, block.diagonal));
  if (last > work.columnBegin) {
    loadRowsOfBlock(work, place, block);
    packColumns(work, place, last, packed);
  }
  int64_t rows = roundUp(block.rowEnd - block.row, panel);
  std::fill(tiles.dq, tiles.dq + rows * depthPadded, T(0));
  for (block.column = work.columnBegin; block.column < last;
       block.column += tileColumns) {
    block.count = std::min(tileColumns, last - block.column);
    for (int64_t row = block.row; row < block.rowEnd; row += panel) {
      runPanel(work, place, block, row);
    }
    sumTile(work, block);
  }
  if (!work.makesRows()) {
    return;
  }
  StridedMatrix dq = this->matrix(work.buffers.dq, place, &Index::strideDq,
                                  sizes.row, sizes.depth);
  for (int64_t row = block.row; row < block.rowEnd; ++row) {
    storeRow(dq, row, depth, tiles.dq + (row - block.row) * depthPadded,
             static_cast<T>(sizes.shape.scale));
  }
}

template <typename T>
void GradientTask<T>::storeColumns(const Work &work,
                                   const BatchPlace &place) const {
  StridedMatrix dk = this->matrix(work.buffers.dk, place, &Index::strideDk,
                                  sizes.column, sizes.depth);
  StridedMatrix dv = this->matrix(work.buffers.dv, place, &Index::strideDv,
                                  sizes.column, sizes.value);
  for (int64_t c = work.columnBegin; c < work.columnEnd; ++c) {
    int64_t i = c - work.columnBegin;
    storeRow(dk, c, depth, work.tiles.dk + i * depthPadded,
             static_cast<T>(sizes.shape.scale));
    storeRow(dv, c, value, work.tiles.dv + i * valuePadded, T(1));
  }
}

template <typename T>
void GradientTask<T>::run(const AttentionBuffers &buffers, void *workspace,
                          const AttentionPiece &piece,
                          AttentionPacked &packed) const {
  using Kind = AttentionPiece::Kind;
  // Only of the columns that are asked for is anything packed.
  packed = piece.kind == Kind::rows ? packed : AttentionPacked();
  Workspace space(workspace);
  bool isRows = piece.kind == Kind::rows,
       isColumns = piece.kind == Kind::columns;
  Work work{buffers, piece, Tiles(*this, space), isColumns ? piece.begin : 0,
            isColumns ? piece.end : sizes.column.size};
  int64_t columns = roundUp(work.columnEnd - work.columnBegin, kernels.block);
  if (!isRows) {
    std::fill(work.tiles.dk, work.tiles.dk + columns * depthPadded, T(0));
    std::fill(work.tiles.dv, work.tiles.dv + columns * valuePadded, T(0));
  }
  // Rows are of one group, which their batch counts.
  int64_t batch = isRows ? piece.batch / sizes.groups : piece.batch;
  int64_t group = isRows ? piece.batch % sizes.groups : 0;
  int64_t groupEnd = isRows ? group + 1 : sizes.groups;
  Block block;
  block.diagonal = this->diagonalOf(buffers);
  for (; group < groupEnd; ++group) {
    BatchPlace place(sizes, batch, group);
    int64_t last = isRows ? piece.end : sizes.row.size;
    for (block.row = isRows ? piece.begin : 0; block.row < last;
         block.row += tileRows) {
      block.rowEnd = std::min(block.row + tileRows, last);
      runBlock(work, place, block, packed);
    }
  }
  if (!isRows) {
    storeColumns(work, BatchPlace(sizes, batch, 0));
  }
}

} // namespace

std::unique_ptr<AttentionTask> makeGradientTask(const AttentionSizes &sizes) {
  if (sizes.shape.accumulate == DType::f64) {
    return std::make_unique<GradientTask<double>>(sizes);
  }
  return std::make_unique<GradientTask<float>>(sizes);
}

} // namespace llmc::rt::cpu
