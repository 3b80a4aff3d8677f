//===- Parts.h - Parts of what is put together of parts ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   (concatenate %a, %b)[3:7]  =  concatenate %a[3:4], %b[0:3]
//
// Test: test/Transforms/Training/split-contractions.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_PARTS_H
#define LLMC_DIALECT_GRAPH_IR_PARTS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc::graph {

/// Positions [begin, end) of dimension `dim`.
struct DimRange {
  int64_t dim = 0, begin = 0, end = 0;
  int64_t getSize() const { return end - begin; }
};

/// Builds a part of a value.
using PartOf = llvm::function_ref<Value(Value value, DimRange range)>;

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/Parts.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_PARTS_H
