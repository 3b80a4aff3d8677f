//===- Windows.h - Slices under a moving window -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the expansions of reduce_window, select_and_scatter and convolution
// share: inputs are padded, and one dimension after another, the last one
// first, slices are combined, of which each has one element of every window:
//
//   window 3, stride 2:   op(op(x[0::2], x[1::2]), x[2::2])
//
// A long window is put together from runs of 1, 2, 4, ... elements, each made
// of two halves.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_WINDOWS_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_WINDOWS_H

#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::stablehlo {

/// `x` dilated and padded by `value` along dims[i] as window[i] says.
Value padWindows(OpBuilder &builder, Location loc, Value x, Value value,
                 ArrayRef<int64_t> dims, ArrayRef<WindowDim> window);

/// The elements start, start + step, ... along `dim`, `count` of them.
Value takeAlong(OpBuilder &builder, Location loc, Value x, int64_t dim,
                int64_t start, int64_t count, int64_t step = 1);

/// Windows longer than this are made of runs.
constexpr int64_t kMostSlices = 8;

/// What is combined: tensors of one shape.
using Tensors = SmallVector<Value>;

/// What stands for the elements `earlier` and `later`, of which the latter
/// follow. Associative.
using Combine =
    llvm::function_ref<Tensors(ArrayRef<Value> earlier, ArrayRef<Value> later)>;

/// The windows of the padded `xs` along `dim`, at `count` places, combined.
Tensors combineAlong(OpBuilder &builder, Location loc, Tensors xs, int64_t dim,
                     const WindowDim &window, int64_t count, Combine combine);

/// The elements up to each along `dim` combined; from each on, if `isReversed`.
/// As jax.lax.associative_scan does it: pairs, then pairs of pairs.
Tensors combineUpToEach(OpBuilder &builder, Location loc, Tensors xs,
                        int64_t dim, bool isReversed, Combine combine);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_WINDOWS_H
