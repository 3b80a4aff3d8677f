//===- IndexLimits.h - Integers that name places ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which integers a value may have, since an op takes them for places:
//
//   %w = select (%t < 0), %t + 256, %t      %w is %t where %t >= 256
//   %e = gather %table [256, 64], %w        each of %w names one of 256 rows
//     ->  %t is below 256
//
// It goes into the trips of loops: what enters as it is or row by row, and what
// is carried, is what was there before (DistLoopOps.td).
//
// Negative numbers are left to the text, which may count from the end.
//
// Test: test/Transforms/Training/bound-inputs.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_H
#define LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

#include "llmc/Dialect/Graph/IR/IndexLimits.h.inc"

namespace llmc::graph {

/// The value whose integers `value` has wherever they are `limit` or more, seen
/// through as many ops as say so and have one such value; itself where none
/// does.
Value getIndexRoot(Value value, int64_t limit);

/// The same through ops that have several such values too, as what is put
/// together of two, or carried by a loop: all that no op says more of.
llvm::SmallVector<Value> getIndexRoots(Value value, int64_t limit);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_H
