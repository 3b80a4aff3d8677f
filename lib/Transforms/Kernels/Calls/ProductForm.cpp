//===- ProductForm.cpp - Sums of products by own kernels ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The indices of a product in the order that blocks go through them, and how it
// is cut. The order is that of memory: neighbouring threads find neighbours.
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "ProductForm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc::kernels {

int64_t countOf(ArrayRef<ProductDim> dims) {
  int64_t count = 1;
  for (const ProductDim &dim : dims)
    count *= dim.size;
  return count;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The larger strides first, those of c before those of a; without indices of
/// one element.
static void sortDims(SmallVector<ProductDim> &dims) {
  llvm::erase_if(dims, [](const ProductDim &dim) { return dim.size == 1; });
  llvm::sort(dims, [](const ProductDim &left, const ProductDim &right) {
    auto rank = [](const ProductDim &dim) {
      return std::tuple(dim.c, std::abs(dim.a), dim.b, dim.size, dim.step,
                        dim.window);
    };
    return rank(left) > rank(right);
  });
}

template <typename Shape>
static void addIndices(Product &product, const Shape &shape) {
  using Kind = rt::ContractionIndexKind;
  for (const rt::ContractionIndex &index : shape.indices) {
    SmallVector<ProductDim> &dims = index.kind == Kind::batch ? product.batch
                                    : index.kind == Kind::m   ? product.m
                                    : index.kind == Kind::n   ? product.n
                                                              : product.k;
    dims.push_back({index.size, index.strideA, index.strideB, index.strideC,
                    index.strideBias});
  }
  product.a = shape.a;
  product.b = shape.b;
  product.c = shape.c;
  product.bias = shape.bias;
  product.accumulate = shape.accumulate;
  product.isAdded = shape.beta != 0;
  product.hasBias = shape.hasBias;
}

/// The places and the elements of b along one window. Where each place meets an
/// element of a, they walk along a themselves.
static void addWindow(Product &product, const rt::ConvolutionWindow &window) {
  int64_t step = window.isReversed ? -window.dilationB : window.dilationB;
  int64_t start = -window.low;
  if (window.isReversed)
    start += window.dilationB * (window.sizeB - 1);
  ProductDim place{window.sizeC, 0, 0, window.strideC};
  ProductDim element{window.sizeB, 0, window.strideB};
  int64_t last = window.stepC * (window.sizeC - 1) +
                 window.dilationB * (window.sizeB - 1) - window.low;
  bool isInside = window.low <= 0 && last < window.sizeA;
  if (window.dilationA == 1) {
    place.a = window.stepC * window.strideA;
    element.a = step * window.strideA;
    product.startA += start * window.strideA;
  }
  if (window.dilationA > 1 || !isInside) {
    place.window = element.window = product.windows.size();
    place.step = window.stepC;
    element.step = step;
    product.windows.push_back(
        {window.sizeA, window.strideA, window.dilationA, start});
  }
  product.m.push_back(place);
  product.k.push_back(element);
}

Product makeProduct(const rt::ContractionShape &shape) {
  Product product;
  addIndices(product, shape);
  for (auto *dims : {&product.m, &product.n, &product.k})
    sortDims(*dims);
  return product;
}

Product makeProduct(const rt::ConvolutionShape &shape) {
  Product product;
  addIndices(product, shape);
  for (const rt::ConvolutionWindow &window : shape.windows)
    addWindow(product, window);
  for (auto *dims : {&product.m, &product.n, &product.k})
    sortDims(*dims);
  return product;
}

Product makeProduct(const rt::GroupedContractionShape &shape) {
  using Kind = rt::ContractionIndexKind;
  const rt::ContractionIndex &rows = shape.product.indices[shape.rows];
  rt::ContractionShape others = shape.product;
  others.indices.erase(others.indices.begin() + shape.rows);
  Product product;
  addIndices(product, others);
  for (auto *dims : {&product.m, &product.n, &product.k})
    sortDims(*dims);
  ProductGroups groups{rows.kind == Kind::k, rows.size,     shape.sizes,
                       shape.numSizes,       shape.groups,  shape.stride,
                       shape.hasOwnSizes,    shape.hasFirst};
  SmallVector<ProductDim> &dims = groups.isContracted ? product.k : product.m;
  dims.insert(dims.begin(),
              {rows.size, rows.strideA, rows.strideB, rows.strideC});
  product.groups = groups;
  return product;
}

/// The stride of neighbours along the innermost of `dims`; far where there is
/// none.
static int64_t strideOf(ArrayRef<ProductDim> dims, int64_t ProductDim::*side) {
  return dims.empty() ? INT64_MAX : std::abs(dims.back().*side);
}

bool Product::loadsLeftAlongTerms() const {
  return strideOf(k, &ProductDim::a) < strideOf(m, &ProductDim::a);
}

bool Product::loadsRightAlongTerms() const {
  return strideOf(k, &ProductDim::b) < strideOf(n, &ProductDim::b);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Blocks that keep all multiprocessors of a large device busy, and as many as
/// terms are cut for where there are fewer.
static constexpr int64_t manyBlocks = 128;

/// The least parts of the terms that are worth a block.
static constexpr int64_t leastSteps = 8;

static int64_t countTiles(const Product &product, const ProductTile &tile) {
  return countOf(product.batch) *
         llvm::divideCeil(countOf(product.m), tile.blockM()) *
         llvm::divideCeil(countOf(product.n), tile.blockN());
}

/// Cuts the terms into parts of whole steps, none of them empty.
static int64_t chooseSplits(const Product &product, const ProductTile &tile) {
  int64_t steps = llvm::divideCeil(countOf(product.k), tile.depth);
  int64_t tiles = countTiles(product, tile);
  if (product.groups || tiles >= manyBlocks || steps < 2 * leastSteps)
    return 1;
  int64_t splits = std::min<int64_t>(llvm::divideCeil(2 * manyBlocks, tiles),
                                     steps / leastSteps);
  return llvm::divideCeil(steps, llvm::divideCeil(steps, splits));
}

ProductTile chooseTile(const Product &product) {
  int64_t m = countOf(product.m), n = countOf(product.n);
  // A thread that loads several rows has their places in registers, which are
  // few beside 64 sums.
  ProductTile wide{8, product.loadsLeftAlongTerms() ? 4 : 8};
  if (product.accumulate == rt::DType::f32 && m >= wide.blockM() &&
      n >= wide.blockN() && countTiles(product, wide) >= manyBlocks)
    return wide;
  auto toPower = [](int64_t size) -> int64_t {
    return llvm::PowerOf2Ceil(std::max<int64_t>(size, 1));
  };
  ProductTile tile;
  tile.threadM = std::min<int64_t>(4, toPower(m));
  tile.threadN = std::min<int64_t>(4, toPower(n));
  tile.threadsM = std::min<int64_t>(16, toPower(m) / tile.threadM);
  tile.threadsN = std::min<int64_t>(16, toPower(n) / tile.threadN);
  while (tile.threads() < 32) // A warp.
    tile.threadsM *= 2;
  tile.splits = chooseSplits(product, tile);
  return tile;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Blocks of the launch that has the tiles.
static int64_t countBlocks(const Product &product, const ProductTile &tile) {
  if (!product.groups)
    return tile.splits * countTiles(product, tile);
  const ProductGroups &groups = *product.groups;
  if (groups.isContracted)
    return groups.groups * countTiles(product, tile);
  // Each group, and what is of none, may end within a tile.
  int64_t tiles =
      llvm::divideCeil(countOf(product.m), tile.blockM()) + groups.numSizes + 1;
  return countOf(product.batch) * tiles *
         llvm::divideCeil(countOf(product.n), tile.blockN());
}

/// A bound of all numbers that the code of a product computes.
static int64_t findMost(const Product &product, const ProductTile &tile,
                        ArrayRef<RankedTensorType> buffers) {
  int64_t sums = countOf(product.m) * countOf(product.n);
  int64_t most = std::max({2 * countOf(product.k), 2 * countOf(product.m),
                           countBlocks(product, tile),
                           tile.splits * countOf(product.batch) * sums});
  for (RankedTensorType buffer : buffers)
    most = std::max(most, buffer.getNumElements());
  int64_t positions = 0;
  for (const ProductWindow &window : product.windows)
    positions += std::abs(window.start) + window.size * window.dilation;
  for (const auto *dims : {&product.m, &product.k})
    for (const ProductDim &dim : *dims)
      positions += std::abs(dim.step) * dim.size;
  return std::max(most, positions);
}

CallPlan planProduct(const Product &product,
                     ArrayRef<RankedTensorType> buffers) {
  using dist::Access;
  ProductTile tile = chooseTile(product);
  unsigned last = buffers.size() - 1, parts = buffers.size();
  CallMemory result{last, product.isAdded ? Access::ReadWrite : Access::Write};
  CallLaunch tiles;
  tiles.isWide = needsWide(findMost(product, tile, buffers));
  tiles.rows = countBlocks(product, tile);
  tiles.shape.threads = tile.threads();
  tiles.shape.alignment = 16;
  tiles.write = [product, tile](GridCode &code) {
    writeTile(code, product, tile);
  };
  if (tile.splits == 1) {
    for (unsigned number = 0; number < last; ++number)
      tiles.memory.push_back({number});
    tiles.memory.push_back(result);
    return {{}, {tiles}};
  }
  int64_t sums =
      countOf(product.batch) * countOf(product.m) * countOf(product.n);
  RankedTensorType partial = RankedTensorType::get(
      {tile.splits * sums},
      getSumType(buffers[0].getContext(), product.accumulate));
  tiles.memory = {{0}, {1}, {parts, Access::Write}};
  CallLaunch sum;
  sum.isWide = tiles.isWide;
  sum.rows = sums;
  sum.share = 0;
  sum.shape.threads = sum.shape.rowsPerBlock = ProductTile::sumThreads;
  sum.shape.alignment = 16;
  sum.memory = {{parts}};
  if (product.hasBias)
    sum.memory.push_back({2});
  sum.memory.push_back(result);
  sum.write = [product, splits = tile.splits](GridCode &code) {
    writeSum(code, product, splits);
  };
  return {{partial}, {tiles, sum}};
}

} // namespace llmc::kernels
