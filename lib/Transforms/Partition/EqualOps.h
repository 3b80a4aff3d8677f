//===- EqualOps.h - Ops that could be one -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ops that say the same of other operands may become one op on the operands
// of both, unless one waits for the other.
//
// Test: test/Transforms/Partition/EqualOpsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_EQUALOPS_H
#define LLMC_LIB_TRANSFORMS_PARTITION_EQUALOPS_H

#include "llmc/Support/LLVM.h"

namespace llmc {

/// Equal apart from operands, sizes and names.
bool areEqual(Operation *a, Operation *b);

/// Ops of one block none of which needs a result of another.
bool areApart(ArrayRef<Operation *> ops);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_EQUALOPS_H
