//===- DeadOps.h - Ops of a block that nothing needs any more ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is dead when all that use its results are, and it does not end the
// block. Followed from the ops that may have lost a use, so that a change costs
// what it touches; the op that gets a use again is revived with its operands.
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_DEADOPS_H
#define LLMC_LIB_TRANSFORMS_PARTITION_DEADOPS_H

#include "llmc/Support/LLVM.h"
#include "llvm/ADT/SetVector.h"

namespace llmc {

class DeadOps {
public:
  explicit DeadOps(Block &block) : block(block) {}

  /// Ops that may have no use, in the block or null.
  void add(ArrayRef<Operation *> candidates);
  /// The op (or null) is used by one that lives.
  void revive(Operation *op);
  bool contains(Operation *op) const { return dead.contains(op); }
  /// In the order in which they were found; none is known from then on.
  SmallVector<Operation *> take() { return dead.takeVector(); }

private:
  bool isUsed(Operation *op) const;

  Block &block;
  llvm::SetVector<Operation *, SmallVector<Operation *>> dead;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_DEADOPS_H
