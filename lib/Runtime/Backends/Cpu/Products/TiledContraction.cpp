//===- TiledContraction.cpp - Contractions of f64 in tiles ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN has no products of f64 on processors. A tile of sums stays in vector
// registers while k runs over packed parts of both sides (Goto and van de
// Geijn, 2008). Each sum is of the same products in the same order as in plain
// loops, and no product is fused into its addition, so that both have the same
// bits on every processor.
//
// Test: test/Runtime/Backends/Cpu/TiledContractionTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#define LLMC_TARGET(features) __attribute__((target(features)))
#endif

namespace llmc::rt::cpu {

namespace {

// Sums in registers; sums of a block, whose parts stay in the caches near by;
// how many products of each are added before the next parts are packed.
constexpr int64_t tileRows = 8, tileColumns = 16, blockSize = 64, depth = 128;

typedef double Vector __attribute__((vector_size(64)));
constexpr int64_t lanes = 8;

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

/// Adds `count` products to `rows` x `vectors` sums of a tile: a has tileRows
/// elements for each k, b tileColumns.
template <int rows, int vectors>
inline __attribute__((always_inline)) void
addPart(const double *a, const double *b, int64_t count, double *sums) {
  Vector sum[rows][vectors], right[vectors];
  for (int row = 0; row < rows; ++row) {
    for (int v = 0; v < vectors; ++v) {
      std::memcpy(&sum[row][v], sums + row * tileColumns + v * lanes,
                  sizeof(Vector));
    }
  }
  for (int64_t k = 0; k < count; ++k, a += tileRows, b += tileColumns) {
    std::memcpy(right, b, sizeof(right));
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors; ++v) {
        sum[row][v] += a[row] * right[v];
      }
    }
  }
  for (int row = 0; row < rows; ++row) {
    for (int v = 0; v < vectors; ++v) {
      std::memcpy(sums + row * tileColumns + v * lanes, &sum[row][v],
                  sizeof(Vector));
    }
  }
}

/// A tile in parts of `rows` x `vectors` sums, as many as the processor's
/// registers hold.
template <int rows, int vectors>
inline __attribute__((always_inline)) void
addTile(const double *a, const double *b, int64_t count, double *sums) {
  for (int64_t row = 0; row < tileRows; row += rows) {
    for (int64_t column = 0; column < tileColumns; column += vectors * lanes) {
      addPart<rows, vectors>(a + row, b + column, count,
                             sums + row * tileColumns + column);
    }
  }
}

using TileSum = void (*)(const double *, const double *, int64_t, double *);

void addTilePlain(const double *a, const double *b, int64_t count,
                  double *sums) {
  addTile<1, 1>(a, b, count, sums);
}

#if defined(__x86_64__)
LLMC_TARGET("avx2")
void addTileAvx2(const double *a, const double *b, int64_t count,
                 double *sums) {
  addTile<4, 1>(a, b, count, sums);
}
LLMC_TARGET("avx512f")
void addTileAvx512(const double *a, const double *b, int64_t count,
                   double *sums) {
  addTile<8, 2>(a, b, count, sums);
}
#endif

TileSum chooseTileSum() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return addTileAvx512;
  }
  if (__builtin_cpu_supports("avx2")) {
    return addTileAvx2;
  }
#endif
  return addTilePlain;
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

/// Where the operands stand.
struct Place {
  int64_t a = 0, b = 0, c = 0, bias = 0;

  Place moved(const ContractionIndex &index, int64_t by) const {
    return {a + by * index.strideA, b + by * index.strideB,
            c + by * index.strideC, bias + by * index.strideBias};
  }
};

/// Position `rest` of a row-major walk.
Place placeOf(const std::vector<ContractionIndex> &indices, int64_t rest) {
  Place place;
  for (size_t i = indices.size(); i-- > 0; rest /= indices[i].size) {
    place = place.moved(indices[i], rest % indices[i].size);
  }
  return place;
}

int64_t countOf(const std::vector<ContractionIndex> &indices) {
  int64_t count = 1;
  for (const ContractionIndex &index : indices) {
    count *= index.size;
  }
  return count;
}

/// Copies `count` of a walk at each of `depths` positions of another one, and
/// zeros up to `width`.
void pack(const double *from, int64_t stride, int64_t count, int64_t width,
          int64_t step, int64_t depths, double *to) {
  for (int64_t k = 0; k < depths; ++k, to += width) {
    for (int64_t i = 0; i < count; ++i) {
      to[i] = from[i * stride + k * step];
    }
    std::fill(to + count, to + width, 0.0);
  }
}

class TiledSlice final : public OpSlice {
public:
  explicit TiledSlice(const MatrixShape &shape) : shape(shape) {}

  uint64_t workspaceBytes() const override { return 0; }

  void run(const SliceBuffers &buffers) override {
    int64_t batches = countOf(shape.batch);
    for (int64_t batch = 0; batch < batches; ++batch) {
      for (int64_t n = 0; n < shape.n.size; n += blockSize) {
        for (int64_t m = 0; m < shape.m.size; m += blockSize) {
          runBlock(
              buffers,
              placeOf(shape.batch, batch).moved(shape.m, m).moved(shape.n, n),
              std::min(blockSize, shape.m.size - m),
              std::min(blockSize, shape.n.size - n));
        }
      }
    }
  }

private:
  /// Tiles of sums, and the parts of both sides that are packed.
  struct Work {
    alignas(64) std::array<double, blockSize * blockSize> sums;
    alignas(64) std::array<double, depth * blockSize> right;
    alignas(64) std::array<double, depth * tileRows> left;
  };

  void runBlock(const SliceBuffers &buffers, Place at, int64_t rows,
                int64_t columns) const {
    Work work;
    int64_t fullRows = (rows + tileRows - 1) / tileRows * tileRows;
    std::fill_n(work.sums.data(), fullRows * blockSize, 0.0);
    int64_t outer = countOf(shape.outerK);
    for (int64_t o = 0; o < outer; ++o) {
      Place inner = placeOf(shape.outerK, o);
      for (int64_t k = 0; k < shape.k.size; k += depth) {
        Place from{at.a + inner.a, at.b + inner.b};
        addProducts(buffers, from.moved(shape.k, k), rows, columns,
                    std::min(depth, shape.k.size - k), work);
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        finish(buffers, at.moved(shape.m, row).moved(shape.n, column),
               work.sums[placeOfSum(row, column)]);
      }
    }
  }

  static int64_t placeOfSum(int64_t row, int64_t column) {
    int64_t tile =
        row / tileRows * (blockSize / tileColumns) + column / tileColumns;
    return tile * tileRows * tileColumns + row % tileRows * tileColumns +
           column % tileColumns;
  }

  void addProducts(const SliceBuffers &buffers, Place at, int64_t rows,
                   int64_t columns, int64_t count, Work &work) const {
    const auto *a = static_cast<const double *>(buffers.a) + at.a;
    const auto *b = static_cast<const double *>(buffers.b) + at.b;
    for (int64_t n = 0; n < columns; n += tileColumns) {
      pack(b + n * shape.n.strideB, shape.n.strideB,
           std::min(tileColumns, columns - n), tileColumns, shape.k.strideB,
           count, work.right.data() + n * depth);
    }
    for (int64_t m = 0; m < rows; m += tileRows) {
      pack(a + m * shape.m.strideA, shape.m.strideA,
           std::min(tileRows, rows - m), tileRows, shape.k.strideA, count,
           work.left.data());
      for (int64_t n = 0; n < columns; n += tileColumns) {
        add(work.left.data(), work.right.data() + n * depth, count,
            work.sums.data() + placeOfSum(m, n));
      }
    }
  }

  void finish(const SliceBuffers &buffers, Place at, double sum) const {
    const ContractionShape &what = shape.shape;
    auto *c = static_cast<double *>(buffers.c) + at.c;
    if (what.alpha != 1) {
      sum *= what.alpha;
    }
    if (what.beta != 0) {
      sum += *c;
    }
    if (what.hasBias) {
      sum += loadElement(what.bias, buffers.bias, at.bias);
    }
    *c = sum;
  }

  MatrixShape shape;
  TileSum add = chooseTileSum();
};

} // namespace

std::unique_ptr<OpSlice> makeTiledSlice(const MatrixShape &shape) {
  const ContractionShape &what = shape.shape;
  bool isWide = what.a == DType::f64 && what.b == DType::f64 &&
                what.c == DType::f64 && what.activation == Activation::none;
  return isWide ? std::make_unique<TiledSlice>(shape) : nullptr;
}

} // namespace llmc::rt::cpu
