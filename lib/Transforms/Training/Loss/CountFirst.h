//===- CountFirst.h - Counts before the step that divides by them -*- C++ -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loss with several counts of the data keeps its divisions. The entry
// @<training>.counts gives the sums over one microbatch that they come from,
// and external hyper values of the names of its metrics bring the totals.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_COUNTFIRST_H
#define LLMC_TRANSFORMS_TRAINING_COUNTFIRST_H

#include "BatchSums.h"
#include "llmc/Dialect/Dist/IR/Dist.h"

namespace llmc::training {

/// "got 'op' that ": what several microbatches do not take, at the op.
mlir::InFlightDiagnostic refuseLoss(Operation *op, dist::TrainingOp recipe);
constexpr llvm::StringLiteral kLossRemedy =
    "; set training.microbatches = 1, or training.loss = \"mean of "
    "microbatches\"";

/// Gives the uses `scales` in the microbatch's function the counts of the
/// whole step, and makes the entry that counts.
LogicalResult countFirst(dist::TrainingOp recipe, mlir::func::FuncOp function,
                         ArrayRef<mlir::OpOperand *> scales,
                         const BatchSums &batch, mlir::SymbolTable &symbols);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_COUNTFIRST_H
