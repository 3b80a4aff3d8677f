//===- NormPatterns.h - Layer norms and RMS norms in a graph ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matchers and rewriting of `llmc-raise`; reductions are expected in normal
// form (`llmc-normalize`).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H

#include "RowView.h"

namespace llmc::training {

/// A row divided by its root mean square: the mean square, seen from the full
/// tensor, and what it is of.
struct NormMatch {
  /// The result of the norm is `x` (minus its mean, if it is a layer norm)
  /// times the inverse root.
  Value x;
  bool isCentred = false;
  SmallVector<int64_t> dims;
  double epsilon = 0;
  /// The root or inverse root, with one element for each row.
  Value root;
  /// What is summed for the mean square, and what it is the square of, if that
  /// is x minus its mean.
  Value squares, centred;
  /// The product or quotient that brings the root in, and its operand number.
  Operation *op = nullptr;
  unsigned rootOperand = 0;
};

/// The norm whose (inverse) root `op` multiplies by or divides by. `reason`
/// says why there is none (empty where nothing looks like a norm).
std::optional<NormMatch> matchNorm(Operation *op, StringRef &reason);

/// Replaces the op by what it is of an `nn.layer_norm` or `nn.rms_norm`;
/// `reason` says why not.
bool raiseNorm(const NormMatch &match, StringRef &reason);

/// The one number that all elements of `value` have: a splat, converted,
/// broadcast, or the difference of two such.
std::optional<double> getSplatNumber(Value value);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_NORMPATTERNS_H
