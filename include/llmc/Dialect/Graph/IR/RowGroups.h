//===- RowGroups.h - Ops on groups of rows ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where devices have the matrices of some groups each, a row is of use on one
// of them, and which one the run says. No list of axes names that; a leading
// dim of the devices, the members, does:
//
//   %h = grouped_dot %x [m, k], %w [g, k, n]  of 2 members, each with g / 2
//     ->  [2, m, n], of each member the rows of its own groups, 0 elsewhere
//
// Test: test/Transforms/Sharding/place-groups.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_ROWGROUPS_H
#define LLMC_DIALECT_GRAPH_IR_ROWGROUPS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc::graph {

struct RowGroups {
  /// Ops with the same sizes have the same groups.
  Value sizes;
  /// Operands that count rows, and the dims that do.
  SmallVector<std::pair<unsigned, int64_t>, 2> rows;
  /// The result's dim that counts rows; none where they are summed up.
  std::optional<int64_t> resultRows;
  /// The operand or result that has a matrix for each group, and its dim.
  Value matrices;
  int64_t groups = 0;

  bool isRow(unsigned operand) const {
    return llvm::any_of(rows, [=](const std::pair<unsigned, int64_t> &row) {
      return row.first == operand;
    });
  }
};

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/RowGroups.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_ROWGROUPS_H
