//===- LogSumExpPatterns.cpp - Log-sum-exps in a graph --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   m     = max x                  also max(-inf, .) of it, as JAX writes it
//         | is_finite m ? m : 0    as JAX and an import of ONNX write it
//   lse x = log(sum exp(x - m)) + m, also log |.|
//
// A derivative that is stopped at m is so on both sides, and they cancel as
// they do where it flows. Other shifts, and none, give other values where an
// exponential overflows: those stay, and so do sums that something else reads.
//
// Tests: test/Transforms/Training/raise-log-sum-exp-alone.mlir,
//        raise-stopped-max.mlir
//===----------------------------------------------------------------------===//

#include "LogSumExpPatterns.h"
#include "../TrainingMarks.h"
#include "NormPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using stablehlo::matchReduction;
using stablehlo::RowReduction;
using stablehlo::RowView;

/// Looks through shape ops and stops of derivatives.
static RowView &peelStops(RowView &view, RowMax &max) {
  view.peel();
  while (Value stopped = getStopped(view.value)) {
    max.isStopped = true;
    view = view.through(stopped).peel();
  }
  return view;
}

std::optional<RowMax> training::matchRowMax(RowView view, Value x,
                                            ArrayRef<int64_t> dims) {
  RowMax result;
  peelStops(view, result);
  if (auto select = view.value.getDefiningOp<stablehlo::SelectOp>()) {
    auto isFinite = select.getPred().getDefiningOp<stablehlo::IsFiniteOp>();
    std::optional<double> other = getSplatNumber(select.getOnFalse());
    if (!isFinite || isFinite.getOperand() != select.getOnTrue() || !other ||
        *other != 0)
      return std::nullopt;
    result.isSafe = true;
    view = view.through(select.getOnTrue());
    peelStops(view, result);
  }
  if (auto bound = view.value.getDefiningOp<stablehlo::MaxOp>())
    for (unsigned i : {0u, 1u})
      if (std::optional<double> number = getSplatNumber(bound->getOperand(i));
          number && *number == -INFINITY) {
        view = view.through(bound->getOperand(1 - i));
        peelStops(view, result);
        break;
      }
  std::optional<RowReduction> max = matchReduction(view, ReductionKind::max);
  if (!max || max->input != x || ArrayRef<int64_t>(max->dims) != dims)
    return std::nullopt;
  return result;
}

/// `rows`, which has the dimensions of `full` without `dims`, and others of
/// size 1, seen from `full`.
static std::optional<RowView> viewRowsFrom(Value full, ArrayRef<int64_t> dims,
                                           Value rows) {
  RowView view = RowView::of(full);
  view.value = rows;
  ArrayRef<int64_t> shape = getShape(rows);
  size_t from = 0;
  for (auto [dim, size] : llvm::enumerate(view.shape)) {
    view.dims[dim] = -1;
    if (size == 1 || llvm::is_contained(dims, static_cast<int64_t>(dim)))
      continue;
    while (from < shape.size() && shape[from] == 1)
      ++from;
    if (from == shape.size() || shape[from] != size)
      return std::nullopt;
    view.dims[dim] = from++;
  }
  bool isRest = llvm::all_of(shape.drop_front(from),
                             [](int64_t size) { return size == 1; });
  return isRest ? std::optional(view) : std::nullopt;
}

/// What a logarithm of a sum is of, through shape ops and a modulus. `isInner`
/// says that nothing else reads what lies between.
static RowView removeLog(RowView view, bool &isInner) {
  auto take = [&](Value operand) {
    isInner &= view.value.hasOneUse();
    view = view.through(operand).peel();
  };
  take(view.value.getDefiningOp<stablehlo::LogOp>().getOperand());
  if (auto abs = view.value.getDefiningOp<stablehlo::AbsOp>())
    take(abs.getOperand());
  isInner &= view.value.hasOneUse();
  return view;
}

namespace {
/// log(sum exp(x - m)), as one operand of an addition.
struct LogOfSum {
  stablehlo::SubtractOp shifted;
  SmallVector<int64_t> dims;
  bool isInner = true;
};
} // namespace

static std::optional<LogOfSum> matchLogOfSum(Value rows) {
  RowView view = RowView::of(rows).peel();
  if (!view.value.getDefiningOp<stablehlo::LogOp>())
    return std::nullopt;
  LogOfSum result;
  view = removeLog(view, result.isInner);
  auto reduce = view.value.getDefiningOp<stablehlo::ReduceOp>();
  auto exponential =
      reduce && reduce.getInputs().size() == 1
          ? reduce.getInputs()[0].getDefiningOp<stablehlo::ExpOp>()
          : stablehlo::ExpOp();
  result.shifted =
      exponential
          ? exponential.getOperand().getDefiningOp<stablehlo::SubtractOp>()
          : stablehlo::SubtractOp();
  if (!result.shifted)
    return std::nullopt;
  result.isInner &= exponential.getResult().hasOneUse() &&
                    result.shifted.getResult().hasOneUse();
  // The same again, from the full tensor: each row's sum stands in its place.
  result.dims = llvm::to_vector(reduce.getDimensions());
  llvm::sort(result.dims);
  std::optional<RowView> full =
      viewRowsFrom(exponential.getResult(), result.dims, rows);
  bool isInner = true;
  std::optional<RowReduction> sum =
      full
          ? matchReduction(removeLog(full->peel(), isInner), ReductionKind::sum)
          : std::nullopt;
  return sum && sum->input == exponential.getResult() ? std::optional(result)
                                                      : std::nullopt;
}

std::optional<LogSumExpMatch> training::matchLogSumExpSum(Operation *op,
                                                          StringRef &reason) {
  reason = {};
  auto add = dyn_cast<stablehlo::AddOp>(op);
  for (unsigned i = 0; add && i < 2; ++i) {
    std::optional<LogOfSum> log = matchLogOfSum(add->getOperand(i));
    if (!log)
      continue;
    Value x = log->shifted.getLhs();
    std::optional<RowMax> max =
        matchRowMax(RowView::of(log->shifted.getRhs()), x, log->dims);
    std::optional<RowView> added =
        viewRowsFrom(x, log->dims, add->getOperand(1 - i));
    if (!max)
      reason = "what is subtracted is not the maximum";
    else if (!added || matchRowMax(*added, x, log->dims) != max)
      reason = "what is added is not what was subtracted";
    else if (!log->isInner)
      reason = "the sum or its exponentials have other uses";
    else
      return LogSumExpMatch{x, log->dims, max->isSafe};
    return std::nullopt;
  }
  return std::nullopt;
}
