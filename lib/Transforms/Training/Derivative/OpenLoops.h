//===- OpenLoops.h - Loops that have no derivative --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_TRAINING_OPENLOOPS_H
#define LLMC_LIB_TRANSFORMS_TRAINING_OPENLOOPS_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc::training {

/// Refuses a loop that only its condition ends where a derivative flows through
/// it: the trips to go back through are not known. The error has a path from a
/// parameter through the loop to the loss; `active` are the values on such
/// paths.
LogicalResult refuseOpenLoops(mlir::func::FuncOp function,
                              const llvm::DenseSet<Value> &active, Value loss);

} // namespace llmc::training

#endif // LLMC_LIB_TRANSFORMS_TRAINING_OPENLOOPS_H
