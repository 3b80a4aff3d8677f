//===- BatchSlices.h - A microbatch of a whole batch ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of the text has the whole batch. What one of m microbatches computes
// of it is the function's local form, with the batch as the dimension that is
// cut, in time and not over devices:
//
//   %d = dot_general %x, %e : (tensor<8x4xf32>, tensor<8x3xf32>)   batch of 8
//   %d = dot_general %x, %e : (tensor<2x4xf32>, tensor<2x3xf32>)   m = 4
//
// A value is whole (it does not depend on the batch), a slice (it has the batch
// as the major part of a dimension), or a term of a sum over microbatches. What
// is whole and added to a term counts in the first microbatch alone. The rules
// of ops say which; whatever else happens to the batch (a maximum over
// it, a product of two sums, a statistic that is subtracted) is refused with
// the op. So the sum over microbatches is what the text computes, up to
// rounding.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_BATCHSLICES_H
#define LLMC_TRANSFORMS_TRAINING_BATCHSLICES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::training {

/// Makes `function`, which returns the loss as sum, a count and sums of the
/// whole batch, a function of one of the recipe's microbatches, whose returned
/// values are the terms of these sums. The count stays.
LogicalResult sliceBatch(dist::TrainingOp recipe, mlir::func::FuncOp function);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_BATCHSLICES_H
