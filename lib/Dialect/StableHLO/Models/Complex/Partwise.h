//===- Partwise.h - Ops that do the same to both parts ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H

#include "llmc/Dialect/Graph/IR/ComplexParts.h"

namespace llmc::stablehlo {

/// Whether the op in a region does to each part what it does to a number: it is
/// partwise, or has to do with no complex number.
bool isPartwise(Operation &op);
/// Whether all ops of `region` are such.
bool isPartwise(Region &region);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H
