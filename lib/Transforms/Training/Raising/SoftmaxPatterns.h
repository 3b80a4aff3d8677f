//===- SoftmaxPatterns.h - Softmax and its relatives in a graph -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matchers of `llmc-raise`. They only read; reductions are expected in
// normal form (`llmc-normalize`).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_SOFTMAXPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_SOFTMAXPATTERNS_H

#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/OperationSupport.h"

namespace llmc::training {

/// Operands through which no derivative flows, because what they bring
/// cancels: operand 1 of `x - m`, and that of `log(sum) + m`.
using StoppedOperands = SmallVector<mlir::OpOperand *>;

/// For `e = exp(x - m)` where m is constant along the dimensions over which e
/// is summed: the uses of m, if every use of x - m and of e belongs to a
/// softmax, a log-softmax or a log-sum-exp, in which m cancels. Otherwise
/// nothing; `reason` says why (empty where nothing looks like a softmax).
std::optional<StoppedOperands> matchCancellingShift(Operation *exponential,
                                                    StringRef &reason);

/// x of `log_softmax(x)` along `dim`, with all shifts removed.
std::optional<Value> matchLogSoftmax(Value value, int64_t dim);

/// x of `log(sum(exp x))` along `dim` that `view` shows, shifts removed.
std::optional<Value> matchLogSumExp(const stablehlo::RowView &view,
                                    int64_t dim);

/// x of `x - m` with m constant along `dim`, repeatedly; x itself otherwise.
Value removeShifts(Value value, int64_t dim);

/// The op is the (logarithm of the) softmax of x along one dimension.
struct SoftmaxMatch {
  Value x;
  int64_t dim = 0;
  bool isLog = false;
};

/// `reason` says why there is none (empty where nothing looks like a softmax).
std::optional<SoftmaxMatch> matchSoftmax(Operation *op, StringRef &reason);

/// One class picked for each row of a tensor.
struct ClassPick {
  Operation *op = nullptr;
  /// The tensor, its dimension of classes, and a class for each row, of the
  /// tensor's shape without that dimension.
  Value operand;
  int64_t dim = 0;
  Value labels;
  /// The labels' own dimensions may carry 1s: the shape to bring them to.
  SmallVector<int64_t> rows;
  /// A class out of range picks the nearest one (gather), or 0 (one-hot).
  bool clamps = true;
};

/// A gather that takes one element from each row.
std::optional<ClassPick> matchGatherPick(Operation *op);
/// A sum over classes of a product with, or a selection by, a one-hot.
std::optional<ClassPick> matchOneHotPick(Operation *op);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_SOFTMAXPATTERNS_H
