//===- OneRound.h - Rows of split ops combined in one round -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op's distributed form (DistributeOps.cpp), or what takes its place where
// rows meet once (Analysis/Layouts/RowRounds.h):
//
//   %s, %m = sums of each part          [{"data"}, {}]
//   %all = dist.constraint %s to        [{}, {}]
//   mean and variance from all parts, alike on all devices
//
// Test: test/Transforms/Sharding/distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_ONEROUND_H
#define LLMC_LIB_TRANSFORMS_SHARDING_ONEROUND_H

#include "llmc/Analysis/Layouts/FactorSplits.h"
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
