//===- LogSumExpPatterns.h - Log-sum-exps in a graph ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matcher of `llmc-raise`. It only reads; reductions are expected in normal
// form (`llmc-normalize`).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_LOGSUMEXPPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_LOGSUMEXPPATTERNS_H

#include "llmc/Dialect/StableHLO/IR/RowView.h"

namespace llmc::training {

/// The op is the log-sum-exp of x along `dims`, in any shape that has only
/// dimensions of size 1 beside x's others.
struct LogSumExpMatch {
  Value x;
  SmallVector<int64_t> dims;
  /// Nothing is subtracted from rows whose maximum is infinite.
  bool isSafe = false;
};

/// `reason` says why there is none (empty where nothing looks like one).
std::optional<LogSumExpMatch> matchLogSumExpSum(Operation *op,
                                                StringRef &reason);

/// A maximum of each row.
struct RowMax {
  /// It is 0 where it is infinite.
  bool isSafe = false;
  /// The text says that no derivative flows through it.
  bool isStopped = false;

  bool operator!=(const RowMax &other) const {
    return isSafe != other.isSafe || isStopped != other.isStopped;
  }
};

/// The maximum of x along `dims` that the view shows. Nothing where it shows
/// something else.
std::optional<RowMax> matchRowMax(stablehlo::RowView view, Value x,
                                  ArrayRef<int64_t> dims);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_LOGSUMEXPPATTERNS_H
