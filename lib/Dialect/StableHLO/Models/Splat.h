//===- Splat.h - Values that are one number everywhere ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivatives and recognitions ask whether an operand is the same constant at
// every element, as in maximum(x, 0) or power(x, 2).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_SPLAT_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_SPLAT_H

#include "llmc/Support/LLVM.h"
#include <optional>

namespace llmc::stablehlo {

/// The number that every element of `value` is, seen through broadcast_in_dim,
/// reshape and convert; nothing when it is not a constant.
std::optional<double> getSplat(Value value);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_SPLAT_H
