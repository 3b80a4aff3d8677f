//===- StepCut.h - Where a whole step is cut in two -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that is a whole training step computes new states from states and a
// batch. What depends on the batch is computed for each microbatch, up to the
// values that the optimizer takes; what comes after them is the update:
//
//   x, p -> h -> loss            microbatch
//        -> d = h . e            microbatch; d crosses: the gradient of p
//   m' = b * m + c * d           update
//   p' = p - r * m'              update
//
// A value may cross if a new state is computed from it place by place (then it
// is the gradient of that state) or if it is a scalar. Of all cuts the one of
// the fewest bytes is taken, next to the batch (Solvers/Cuts/VertexCut.h). So
// nothing need be known of how the text computes gradients or updates; at
// worst the new state itself crosses.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_STEPCUT_H
#define LLMC_TRANSFORMS_TRAINING_STEPCUT_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc::training {

/// A value of the microbatch that the update takes, and the port on which it
/// does: the sum of the loss, the gradient of a state, or the sum of a metric.
struct Crossing {
  Value value;
  dist::PortAttr port;
};

/// What crosses in `step`, one of it the sum of the loss. `prefix` begins the
/// names of scalars that are nobody's gradient and no metric.
FailureOr<SmallVector<Crossing>> findStepCut(mlir::func::FuncOp step,
                                             StringRef prefix,
                                             mlir::SymbolTable &symbols);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_STEPCUT_H
