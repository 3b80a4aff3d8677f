//===- Combination.h - Ops that combine elements ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction and a scatter apply a function f of scalars step by step:
//
//   accumulator = start, then f(accumulator, element) for each element
//
// Test: test/Transforms/Training/normalize.mlir, close-regions.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_COMBINATION_H
#define LLMC_DIALECT_GRAPH_IR_COMBINATION_H

#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc::graph {

struct Combination {
  /// f: its arguments are the accumulators, then the elements.
  Region *body = nullptr;
  /// What the accumulators are at first, a scalar or in the shape of the
  /// results, and what is combined with them: one for each result.
  MutableArrayRef<OpOperand> starts, elements;
  /// Of one result and a known function.
  std::optional<ReductionKind> kind;
  /// Devices that have parts of the elements would each count a start that is
  /// not neutral.
  bool needsNeutralStart = false;
};

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/Combination.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_COMBINATION_H
