//===- Windows.h - Slices under a moving window -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the expansions of reduce_window and convolution share.
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

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_WINDOWS_H
