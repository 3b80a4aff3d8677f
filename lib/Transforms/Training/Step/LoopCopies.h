//===- LoopCopies.h - A loop as copies of its trips -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %w = enter row %W    %c = enter carry %a    %y = f %c, %w    next %c, %y
//     ->
//   %y0 = f %a, %W[0]    %y1 = f %y0, %W[1]  ...
//
// An update is a straight line of segments, so a loop in it, as one that makes
// gradients orthogonal, is copied for each trip.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_TRAINING_LOOPCOPIES_H
#define LLMC_LIB_TRANSFORMS_TRAINING_LOOPCOPIES_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::training {

/// Puts copies of the trips in the place of all loops of the function; refused
/// where the run decides how many there are, or where they are too many ops.
LogicalResult copyTrips(mlir::func::FuncOp function);

} // namespace llmc::training

#endif // LLMC_LIB_TRANSFORMS_TRAINING_LOOPCOPIES_H
