//===- ProductForm.h - Sums of products by own kernels ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution, a product of each group of rows with its own matrix, and a
// contraction that no library can express, as one matrix product whose left
// side is gathered:
//
//   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]
//
//   convolution   m: samples and places   n: output features
//                 k: input features and the elements of b's windows
//   groups        the rows are the outermost of m, or of k
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTFORM_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTFORM_H

#include "CallForm.h"

namespace llmc::kernels {

/// An index of a product, with its strides in elements. One of a window moves
/// along it by `step`, and in `a` by nothing else.
struct ProductDim {
  int64_t size = 1;
  int64_t a = 0, b = 0, c = 0, bias = 0;
  int window = -1;
  int64_t step = 0;
};

/// Elements of a along a window that m and k stand on: the position is `start`
/// and a step for each of their indices. Others than the multiples of
/// `dilation` below dilation * size are zero.
struct ProductWindow {
  int64_t size = 1, stride = 0, dilation = 1, start = 0;
};

/// Of GroupedContractionShape. The rows are the first index of m or of k.
struct ProductGroups {
  bool isContracted = false;
  int64_t rows = 0;
  rt::DType sizes = rt::DType::i32;
  int64_t numSizes = 1, groups = 1, stride = 0;
  bool hasOwnSizes = false, hasFirst = false;
};

struct Product {
  rt::DType a = rt::DType::f32, b = rt::DType::f32, c = rt::DType::f32,
            bias = rt::DType::f32, accumulate = rt::DType::f32;
  /// Major to minor; those of the batch as the call has them.
  SmallVector<ProductDim> batch, m, n, k;
  SmallVector<ProductWindow> windows;
  /// Added to every place of a.
  int64_t startA = 0;
  bool isAdded = false, hasBias = false;
  std::optional<ProductGroups> groups;

  /// Whether the elements of a side that lie side by side are of one row or
  /// column, and not of one term.
  bool loadsLeftAlongTerms() const;
  bool loadsRightAlongTerms() const;
};

/// How the product is cut: a block has a tile of `blockM` by `blockN` sums, a
/// thread `threadM` by `threadN` of them, and `depth` terms are in shared
/// memory at a time.
struct ProductTile {
  static constexpr int64_t depth = 16;
  /// Of a block that adds up splits.
  static constexpr int64_t sumThreads = 256;
  int64_t threadM = 4, threadN = 4, threadsM = 16, threadsN = 16;
  /// Parts of the terms that blocks of their own add up.
  int64_t splits = 1;

  int64_t blockM() const { return threadM * threadsM; }
  int64_t blockN() const { return threadN * threadsN; }
  int64_t threads() const { return threadsM * threadsN; }
};

int64_t countOf(ArrayRef<ProductDim> dims);
/// What sums are made in.
Type getSumType(mlir::MLIRContext *context, rt::DType accumulate);

Product makeProduct(const rt::ContractionShape &shape);
Product makeProduct(const rt::ConvolutionShape &shape);
Product makeProduct(const rt::GroupedContractionShape &shape);
ProductTile chooseTile(const Product &product);

/// The launches of a product: tiles, and where their terms are in parts the
/// sums of these, in order.
CallPlan planProduct(const Product &product,
                     ArrayRef<RankedTensorType> buffers);

/// Writes a thread of a block that has a tile. The memory is that of the call;
/// with several splits a, b and the sums of each, row-major [split, batch, m,
/// n].
void writeTile(GridCode &code, const Product &product, const ProductTile &tile);

/// Writes a thread that adds up the splits of one sum, in order. The memory is
/// the sums of each, the bias where there is one, and c.
void writeSum(GridCode &code, const Product &product, int64_t splits);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTFORM_H
