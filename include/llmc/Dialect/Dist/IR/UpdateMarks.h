//===- UpdateMarks.h - What an update is made of ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks inside phase 1 that say how a step updates its parameters, beside the
// fields of `dist.training`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_UPDATEMARKS_H
#define LLMC_DIALECT_DIST_IR_UPDATEMARKS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

/// Of an optimizer's function: the sizes of its parameter, which are all
/// different, stand for those of the parameter that it is applied to, wherever
/// its types have them. "any": of any parameter of its rank; "wide": whose last
/// dim is at least as long as the one before it; "tall": of the others.
inline constexpr llvm::StringLiteral kSizes = "dist.sizes";
inline constexpr llvm::StringLiteral kAnySizes = "any";
inline constexpr llvm::StringLiteral kWideSizes = "wide";
inline constexpr llvm::StringLiteral kTallSizes = "tall";
/// Of recipes: the size to which each element of a gradient is cut, an f64.
inline constexpr llvm::StringLiteral kClipValue = "dist.clip_value";
/// Of recipes: each parameter has an average over the steps, which keeps this
/// share of itself in a step, an f64 below 1.
inline constexpr llvm::StringLiteral kAverage = "dist.average";

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_UPDATEMARKS_H
