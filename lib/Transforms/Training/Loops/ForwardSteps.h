//===- ForwardSteps.h - What of a text is the forward -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_TRAINING_FORWARDSTEPS_H
#define LLMC_LIB_TRANSFORMS_TRAINING_FORWARDSTEPS_H

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::training {

/// Steps that the loss depends on, and the states of the next microbatch; where
/// the text has no derivative, all. The states of a whole step depend on the
/// derivative.
std::vector<dist::LoopStep> collectForward(mlir::func::FuncOp function,
                                           const dist::LoopRuns &loops);

} // namespace llmc::training

#endif // LLMC_LIB_TRANSFORMS_TRAINING_FORWARDSTEPS_H
