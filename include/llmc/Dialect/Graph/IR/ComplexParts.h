//===- ComplexParts.h - What ops do to parts of numbers ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %z = complex %a, %b      the pair (%a, %b)
//   %w = multiply %z, %z     the pair (%a * %a - %b * %b, %a * %b + %b * %a)
//   %r = real %w             the first of the pair
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_H
#define LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc::graph {

/// The parts of a complex value; of any other value itself, and no imaginary
/// part.
struct ComplexPair {
  Value real, imag;
};

/// The type of each part of a complex tensor; null of any other type.
RankedTensorType getPartType(Type type);

/// The op once for the real parts, and once more for the imaginary parts where
/// a result is complex. Its regions do to each part what they do to a number.
void splitPartwise(Operation *op, OpBuilder &builder,
                   ArrayRef<ComplexPair> operands,
                   SmallVectorImpl<ComplexPair> &results);

/// The op with two operands in place of each complex one, and two results; its
/// regions are handed on as they are. Returns what is built.
Operation *splitTogether(Operation *op, OpBuilder &builder,
                         ArrayRef<ComplexPair> operands,
                         SmallVectorImpl<ComplexPair> &results);

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/ComplexParts.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_H
