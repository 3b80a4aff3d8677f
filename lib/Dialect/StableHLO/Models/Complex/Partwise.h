//===- Partwise.h - Ops that do the same to both parts ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H

#include "ComplexMath.h"

namespace llmc::stablehlo {

/// Whether the op in a region does to each part what it does to a number: it is
/// partwise, or has to do with no complex number.
bool isPartwise(Operation &op);
/// Whether all ops of `region` are such.
bool isPartwise(Region &region);

/// The op once for the real parts, and once more for the imaginary parts where
/// a result is complex. Its regions have been found partwise.
void splitPartwise(Operation *op, OpBuilder &builder,
                   ArrayRef<ComplexPair> operands,
                   SmallVectorImpl<ComplexPair> &results);

/// The op with two operands in place of each complex one, and two results; its
/// regions are handed on as they are.
void splitTogether(Operation *op, OpBuilder &builder,
                   ArrayRef<ComplexPair> operands,
                   SmallVectorImpl<ComplexPair> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPLEX_PARTWISE_H
