//===- NormPatterns.h - Norms in a graph ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matchers and rewriting of `llmc-raise`; reductions are expected in normal
// form (`llmc-normalize`).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H

#include "mlir/IR/OperationSupport.h"

namespace llmc::training {

/// A row divided by its root mean square: the mean square, seen from the full
/// tensor, and what it is of.
struct NormMatch {
  /// The result of the norm is `x` (minus its mean, if `isCentred`) times the
  /// inverse root.
  Value x;
  bool isCentred = false;
  /// A row is a feature of all samples, which lies along this dimension.
  std::optional<int64_t> feature;
  SmallVector<int64_t> dims;
  double epsilon = 0;
  /// The root or inverse root, with one element for each row.
  Value root;
  /// What is summed for the mean square, and what it is the square of, if that
  /// is x minus its mean.
  Value squares, centred;
  /// Values with one element for each row: the mean square, and the mean in
  /// each place where it is computed.
  Value variance;
  SmallVector<Value> means;
  /// The variance is the mean of squares less the square of the mean.
  bool isDifference = false;
  /// The product or quotient that brings the root in, and its operand number.
  Operation *op = nullptr;
  unsigned rootOperand = 0;
};

/// The norm whose (inverse) root `op` multiplies by or divides by. `reason`
/// says why there is none (empty where nothing looks like a norm).
std::optional<NormMatch> matchNorm(Operation *op, StringRef &reason);

/// Replaces the op by what it is of an `nn.layer_norm`, `nn.rms_norm` or
/// `nn.batch_norm`; `reason` says why not.
bool raiseNorm(const NormMatch &match, StringRef &reason);

/// Replaces `factor`, x minus its mean, by an `nn.batch_norm` and the op by its
/// other operand. What scales and shifts the result is taken into the norm, and
/// what else reads the statistics takes the norm's.
void raiseBatchNorm(const NormMatch &match, mlir::OpOperand &factor);

/// The one number that all elements of `value` have: a splat, converted,
/// broadcast, or the difference of two such.
std::optional<double> getSplatNumber(Value value);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H
