//===- OneRound.h - Rows of split ops combined in one round -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributed form of a norm or a softmax has a sum over devices that waits
// for another. Where the op says what is enough to know of a part of its rows
// (Dialect/Graph/IR/OneRound.h), each device may compute that of its part
// alone, and get that of all others at once:
//
//   two rounds   2 latencies, and 2 (n - 1) / n of the bytes of each sum
//   one round    1 latency, and n - 1 times the bytes of all terms
//   a gather     1 latency, and (n - 1) / n of the bytes of the operand
//
// The machine decides. Without latencies, the first is never the longest.
//
// Test: test/Transforms/Sharding/distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_ONEROUND_H
#define LLMC_LIB_TRANSFORMS_SHARDING_ONEROUND_H

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Dialect/Graph/IR/OneRound.h"
#include "llmc/Solvers/Reshard/MachineModel.h"

namespace llmc {

/// Ops that stand in front of an op, with layouts, and what takes the place of
/// its results.
struct DistributedForm {
  SmallVector<Operation *> ops;
  SmallVector<Value> results;

  /// Takes the ops away again.
  void erase();
};

/// What stands between two ops of a block; `after` null: from its beginning.
SmallVector<Operation *> getOpsBetween(Operation *after, Operation *before);

/// The form of one round, where it takes less time on `machine` than `form`,
/// the distributed form, and than a gather of the operand. Builds nothing
/// otherwise. A remark says what was compared.
std::optional<DistributedForm> buildOneRound(Operation *op,
                                             const DistributedForm &form,
                                             dist::MeshAxesAttr mesh,
                                             const MachineModel &machine);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_ONEROUND_H
