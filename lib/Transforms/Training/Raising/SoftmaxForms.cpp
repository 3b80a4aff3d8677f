//===- SoftmaxForms.cpp - Softmax and log-softmax in a graph --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = x - max x,  e = exp s
//   e / sum e                  softmax
//   s - log(sum e)             log-softmax
//
// The maximum may be taken once more with -inf, as JAX does. Other shifts, and
// none, give other values where an exponential overflows: those stay.
//
// Test: test/Transforms/Training/raise-softmax.mlir
//===----------------------------------------------------------------------===//

#include "LogSumExpPatterns.h"
#include "SoftmaxPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::matchReduction;
using stablehlo::RowReduction;
using stablehlo::RowView;

/// x of `x - max x` along `dims`.
static Value matchMaxShift(stablehlo::SubtractOp shifted,
                           ArrayRef<int64_t> dims) {
  std::optional<RowMax> max =
      matchRowMax(RowView::of(shifted.getRhs()), shifted.getLhs(), dims);
  return max && !max->isSafe ? shifted.getLhs() : Value();
}

/// All uses of `value` are in the two ops.
static bool isUsedOnlyIn(Value value, Operation *one, Operation *other) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == one || user == other;
  });
}

/// The sum over one dimension of an exponential, seen from the full tensor.
static std::optional<RowReduction>
matchSumOfExp(RowView view, stablehlo::ExpOp &exponential, Operation *&reduce) {
  std::optional<RowReduction> sum = matchReduction(view, ReductionKind::sum);
  if (!sum || sum->dims.size() != 1)
    return std::nullopt;
  exponential = sum->input.getDefiningOp<stablehlo::ExpOp>();
  reduce = view.value.getDefiningOp();
  return exponential ? sum : std::nullopt;
}

std::optional<SoftmaxMatch> training::matchSoftmax(Operation *op,
                                                   StringRef &reason) {
  reason = {};
  auto quotient = dyn_cast<stablehlo::DivOp>(op);
  auto difference = dyn_cast<stablehlo::SubtractOp>(op);
  if (!quotient && !difference)
    return std::nullopt;
  RowView view = RowView::of(op->getOperand(1)).peel();
  if (difference) {
    auto log = view.value.getDefiningOp<stablehlo::LogOp>();
    if (!log)
      return std::nullopt;
    view = view.through(log.getOperand()).peel();
  }
  stablehlo::ExpOp exponential;
  Operation *reduce = nullptr;
  std::optional<RowReduction> sum = matchSumOfExp(view, exponential, reduce);
  Value shiftedValue = exponential ? exponential.getOperand() : Value();
  if (!sum ||
      op->getOperand(0) != (quotient ? exponential.getResult() : shiftedValue))
    return std::nullopt;
  auto shifted = shiftedValue.getDefiningOp<stablehlo::SubtractOp>();
  Value x = shifted ? matchMaxShift(shifted, sum->dims) : Value();
  if (!x) {
    reason = "what is subtracted is not the maximum";
    return std::nullopt;
  }
  if (!isUsedOnlyIn(exponential.getResult(), reduce, op) ||
      !isUsedOnlyIn(shiftedValue, exponential, op)) {
    reason = "the exponential or its operand has other uses";
    return std::nullopt;
  }
  return SoftmaxMatch{x, sum->dims[0], /*isLog=*/static_cast<bool>(difference)};
}
