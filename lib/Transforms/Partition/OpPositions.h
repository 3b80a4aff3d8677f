//===- OpPositions.h - New ops in a block that was in order -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %b = add %n, %x        ->   %n = dot %y, %W
//   %c = exp %x                 %b = add %n, %x
//   %n = dot %y, %W   (new)     (%c where it was, before %n)
//
// Only ops between a new one and its first user move, in their order.
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_OPPOSITIONS_H
#define LLMC_LIB_TRANSFORMS_PARTITION_OPPOSITIONS_H

#include "llmc/Support/LLVM.h"

namespace llmc {

/// Moves users of the new ops, and what is made of their results, after them.
/// Assumes that the block was in order without the new ops, and that these
/// stand after their operands. False where an op is made of its own result.
bool putUsersAfter(ArrayRef<Operation *> created);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_OPPOSITIONS_H
