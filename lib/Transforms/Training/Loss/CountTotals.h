//===- CountTotals.h - Counts of the data of a whole step -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %n = reduce add %mask               a root: a sum over the batch
//   %d = maximum %n, 1.0                a function of it
//   %m = divide %s, %d                  a use of a count, as BatchSums finds it
//
// With several microbatches %s is one microbatch's, and %d must be that of the
// step. The class rebuilds %d from the totals of its roots. What it puts in
// the place of %d is scaled such that the mean over microbatches is right: a
// count by their number, a mean not at all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_COUNTTOTALS_H
#define LLMC_TRANSFORMS_TRAINING_COUNTTOTALS_H

#include "BatchSums.h"
#include "mlir/IR/IRMapping.h"

namespace llmc::training {

class CountTotals {
public:
  CountTotals(const BatchSums &sums, int64_t microbatches)
      : sums(sums), microbatches(microbatches) {}

  /// The total of a root, of the root's type.
  void setTotal(Value root, Value total) { mapping.map(root, total); }
  /// `value` for the whole step. Ops are created at `builder`'s place and keep
  /// their marks.
  Value build(OpBuilder &builder, Value value);
  /// The same, scaled for a use that `BatchSums::findScales` names.
  Value buildScale(OpBuilder &builder, Value value);

private:
  /// `value` by the number of microbatches to the power `exponent`.
  Value scale(OpBuilder &builder, Value value, int exponent);
  Value clone(OpBuilder &builder, Value value);

  const BatchSums &sums;
  int64_t microbatches;
  mlir::IRMapping mapping;
};

/// `value` as a scalar of at least f32, or of its own integer type.
Value toScalar(OpBuilder &builder, Value value);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_COUNTTOTALS_H
