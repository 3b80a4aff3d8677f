//===- LocalIndex.h - Global indices of what a device holds -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic as graph ops, between the positions of a device's part of a
// dimension and global indices (LocalForm.h says how they hang together):
//
//   positions    iota + offset                          rank 1, of the device
//   is element   each padded digit < its size
//   index        the digits, read with the sizes
//
// Where only the most major factor is padded (always, after canonical forms),
// a position is its index and one comparison says whether it is an element.
//
// Test: test/Dialect/StableHLO/Models/LocalIndexTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_LOCALINDEX_H
#define LLMC_DIALECT_STABLEHLO_IR_LOCALINDEX_H

#include "llmc/Dialect/Graph/IR/LocalForm.h"

namespace llmc::stablehlo {

/// i32, or i64 where a position needs it.
Type getPositionType(MLIRContext *context, const graph::LocalDim &dim);

/// Positions of the device's elements along the dimension, of rank 1; `offset`
/// is null for a dimension that is not split.
Value buildPositions(OpBuilder &b, Location loc, const graph::LocalDim &dim,
                     Value offset, Type element);

/// No factor but the first is padded: positions are indices.
bool isContiguous(const graph::LocalDim &dim);

/// Which positions are elements (i1, in the shape of `positions`); null when
/// all are.
Value buildIsElement(OpBuilder &b, Location loc, const graph::LocalDim &dim,
                     Value positions);

/// Global indices of positions; arbitrary where there is no element.
Value buildIndices(OpBuilder &b, Location loc, const graph::LocalDim &dim,
                   Value positions);

/// Positions of global indices in [0, size).
Value buildPositionsOf(OpBuilder &b, Location loc, const graph::LocalDim &dim,
                       Value indices);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_LOCALINDEX_H
