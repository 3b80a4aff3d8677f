//===- PrecisionMarks.h - What floats a step computes with ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beside `dist.precision`, the type of factors: the type in which what the
// backward reads is kept (`llmc-narrow`), and what is rounded to be sent.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_PRECISIONMARKS_H
#define LLMC_DIALECT_DIST_IR_PRECISIONMARKS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

/// Of recipes and steps, inside phase 1: a float type.
inline constexpr llvm::StringLiteral kSavedPrecision = "dist.saved_precision";
/// Of recipes and steps, inside phase 1, where precisions are floats of eight
/// bits: over how many microbatches the greatest elements are remembered (0:
/// the scale is of the tensor itself), and how many powers of two are left
/// free.
inline constexpr llvm::StringLiteral kScaling = "dist.scaling";
/// Of recipes: states that are narrower than their update are rounded by
/// chance.
inline constexpr llvm::StringLiteral kStochasticRounding =
    "dist.stochastic_rounding";
/// Of recipes: "whole" where attention is raised, "products" where it is not.
inline constexpr llvm::StringLiteral kAttention = "dist.attention";
/// Of a conversion, from phase 3 on: what it rounds is each device's term of a
/// sum, and what it makes is a term of the sum of rounded ones.
inline constexpr llvm::StringLiteral kRoundsTerms = "dist.rounds_terms";

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_PRECISIONMARKS_H
