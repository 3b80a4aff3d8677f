//===- RowRounds.h - How often parts of a row meet --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributed form of a norm or a softmax has a sum over devices that waits
// for another. Where the op says what is enough to know of a part of its rows
// (Dialect/Graph/IR/OneRound.h), each device may compute that of its part
// alone, and get that of all others at once:
//
//   two rounds   2 latencies, and 2 (n - 1) / n of the bytes of each sum
//   one round    1 latency, and n - 1 times the bytes of the terms of a part
//   a gather     1 latency, and (n - 1) / n of the bytes of the operand
//
// The machine decides. Without latencies, the first is never the longest.
//
// Test: test/Transforms/Sharding/distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_ROWROUNDS_H
#define LLMC_ANALYSIS_LAYOUTS_ROWROUNDS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Solvers/Reshard/MachineModel.h"
#include <optional>

namespace llmc {

/// How the rows of an op's first operand lie.
struct RowSplit {
  /// For each dim of the operand; 1 where it is not of the rows.
  SmallVector<int64_t> parts;
  /// That split rows, and the devices that have parts of one.
  SmallVector<dist::AxisAttr> axes;
  int64_t members = 1;
};

/// None where rows are not split, or in parts that differ.
std::optional<RowSplit> findRowSplit(Operation *op, dist::MeshAxesAttr mesh);

/// What is there to compare: the distributed form of an op, whose ops have
/// layouts, and the terms of the parts, with the layouts in which all devices
/// would get them.
struct RowForms {
  Operation *op;
  const RowSplit &split;
  ArrayRef<Operation *> distributed;
  ArrayRef<Value> terms;
  ArrayRef<dist::LayoutAttr> gathered;
};

/// Whether there is anything to compare: sums of the form wait for others, and
/// placement may not have the rows whole for nothing (WholeResults.h).
bool hasRounds(Operation *op, const RowSplit &split,
               ArrayRef<Operation *> distributed, dist::MeshAxesAttr mesh);

/// Whether one round of terms takes less time than the sums, and than a gather
/// of the operand. A remark says the three times, where messages cost any.
bool isOneRoundShorter(const RowForms &forms, dist::MeshAxesAttr mesh,
                       const MachineModel &machine);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_ROWROUNDS_H
