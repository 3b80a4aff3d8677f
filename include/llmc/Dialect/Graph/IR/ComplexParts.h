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

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/ComplexParts.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_H
