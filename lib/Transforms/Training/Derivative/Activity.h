//===- Activity.h - Values that a derivative flows through ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is active when it depends on an argument whose gradient is wanted and
// the loss depends on it, both through floats, through ops that are
// differentiable at all and through no operand that `llmc-raise` has stopped.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ACTIVITY_H
#define LLMC_TRANSFORMS_TRAINING_ACTIVITY_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc::training {

/// No derivative flows into operand `index` of `op`, says `llmc-raise`.
bool isStopped(Operation *op, unsigned index);

/// `wanted` has a flag for each argument of `function`, a single block.
llvm::DenseSet<Value> findActiveValues(mlir::func::FuncOp function,
                                       ArrayRef<bool> wanted, Value loss);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ACTIVITY_H
