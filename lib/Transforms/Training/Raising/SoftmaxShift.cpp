//===- SoftmaxShift.cpp - Shifts that cancel in softmax and relatives -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   e = exp(x - m),  s = sum e          m repeats along the summed dimensions
//   e / s                               softmax
//   (x - m) - log s                     log-softmax
//   log s + m                           log-sum-exp
//
// Each of the three is the same for every m, and so its derivative by m is
// zero. That holds for the whole graph when nothing else uses x - m, e or s.
//
// Test: test/Transforms/Training/raise-softmax-shift.mlir
//===----------------------------------------------------------------------===//

#include "SoftmaxPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::matchReduction;
using stablehlo::placesElements;
using stablehlo::RowReduction;
using stablehlo::RowView;

namespace {

/// Follows all uses of the exponential and of its sums.
class ShiftMatcher {
public:
  ShiftMatcher(stablehlo::SubtractOp shifted, stablehlo::ExpOp exponential)
      : shifted(shifted), exponential(exponential),
        shift(RowView::of(shifted.getRhs()).peel()) {
    stopped.push_back(&shifted->getOpOperand(1));
  }

  bool match(StringRef &reason);
  StoppedOperands stopped;

private:
  /// The value is `sum`, or its logarithm, through shape ops.
  struct RowValue {
    Value value;
    bool isLog;
  };

  bool matchShiftedUses();
  bool matchExponentialUses();
  bool matchRowUse(RowValue row, OpOperand &use);
  /// `full` shows the sum (or its logarithm) in its place.
  bool showsSum(Value full, bool isLog);
  /// In `log s + m` both terms stand in the same place.
  bool matchUnshift(stablehlo::AddOp add, unsigned logOperand);

  stablehlo::SubtractOp shifted;
  stablehlo::ExpOp exponential;
  RowView shift;
  SmallVector<int64_t> dims;
  SmallVector<RowValue> rows;
};

} // namespace

bool ShiftMatcher::showsSum(Value full, bool isLog) {
  RowView view = RowView::of(full).peel();
  if (isLog) {
    auto log = view.value.getDefiningOp<stablehlo::LogOp>();
    if (!log)
      return false;
    view = view.through(log.getOperand()).peel();
  }
  std::optional<RowReduction> sum = matchReduction(view, ReductionKind::sum);
  return sum && sum->input == exponential.getResult() && sum->dims == dims;
}

bool ShiftMatcher::matchExponentialUses() {
  for (Operation *user : exponential.getResult().getUsers()) {
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(user)) {
      if (reduce.getInputs().size() != 1 ||
          stablehlo::reduceKindOf(reduce.getBody()) != ReductionKind::sum ||
          !stablehlo::isNeutral(reduce.getInitValues()[0], ReductionKind::sum))
        return false;
      SmallVector<int64_t> summed = llvm::to_vector(reduce.getDimensions());
      llvm::sort(summed);
      if (!dims.empty() && summed != dims)
        return false;
      dims = summed;
      rows.push_back({reduce.getResult()[0], /*isLog=*/false});
    }
  }
  // The numerator of a softmax; checked against the sum below.
  for (OpOperand &use : exponential.getResult().getUses()) {
    auto divide = dyn_cast<stablehlo::DivOp>(use.getOwner());
    if (!isa<stablehlo::ReduceOp>(use.getOwner()) &&
        !(divide && use.getOperandNumber() == 0 &&
          showsSum(divide.getRhs(), /*isLog=*/false)))
      return false;
  }
  return llvm::all_of(dims,
                      [&](int64_t dim) { return shift.isConstantAlong(dim); });
}

bool ShiftMatcher::matchShiftedUses() {
  return llvm::all_of(shifted.getResult().getUsers(), [&](Operation *user) {
    if (user == exponential)
      return true;
    auto subtract = dyn_cast<stablehlo::SubtractOp>(user);
    return subtract && subtract.getLhs() == shifted.getResult() &&
           subtract.getRhs() != shifted.getResult() &&
           showsSum(subtract.getRhs(), /*isLog=*/true);
  });
}

bool ShiftMatcher::matchUnshift(stablehlo::AddOp add, unsigned logOperand) {
  RowView log = RowView::of(add->getOperand(logOperand)).peel();
  auto logOp = log.value.getDefiningOp<stablehlo::LogOp>();
  RowView other = RowView::of(add->getOperand(1 - logOperand)).peel();
  if (!logOp || other.value != shift.value)
    return false;
  RowView sum = log.through(logOp.getOperand()).peel();
  // Dimension of the full tensor for each dimension of the sum.
  SmallVector<int64_t> fullDims;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shift.shape.size()); ++dim)
    if (!llvm::is_contained(dims, dim))
      fullDims.push_back(dim);
  for (size_t i = 0; i < sum.dims.size(); ++i) {
    if (sum.shape[i] == 1)
      continue;
    if (sum.dims[i] < 0 || other.dims[i] != shift.dims[fullDims[sum.dims[i]]])
      return false;
  }
  stopped.push_back(&add->getOpOperand(1 - logOperand));
  return true;
}

bool ShiftMatcher::matchRowUse(RowValue row, OpOperand &use) {
  Operation *user = use.getOwner();
  if (placesElements(user)) {
    rows.push_back({user->getResult(0), row.isLog});
    return true;
  }
  if (isa<stablehlo::LogOp>(user) && !row.isLog) {
    rows.push_back({user->getResult(0), true});
    return true;
  }
  if (auto divide = dyn_cast<stablehlo::DivOp>(user))
    return !row.isLog && use.getOperandNumber() == 1 &&
           divide.getLhs() == exponential.getResult() &&
           showsSum(divide.getRhs(), /*isLog=*/false);
  if (auto subtract = dyn_cast<stablehlo::SubtractOp>(user))
    return row.isLog && use.getOperandNumber() == 1 &&
           subtract.getLhs() == shifted.getResult() &&
           showsSum(subtract.getRhs(), /*isLog=*/true);
  if (auto add = dyn_cast<stablehlo::AddOp>(user))
    return row.isLog && matchUnshift(add, use.getOperandNumber());
  return false;
}

bool ShiftMatcher::match(StringRef &reason) {
  bool isSummed =
      llvm::any_of(exponential.getResult().getUsers(), [](Operation *user) {
        return isa<stablehlo::ReduceOp>(user);
      });
  if (!isSummed)
    return false;
  if (!matchExponentialUses()) {
    reason = "the exponential has uses outside of a softmax";
    return false;
  }
  if (!matchShiftedUses()) {
    reason = "the shifted value has uses outside of a softmax";
    return false;
  }
  while (!rows.empty()) {
    RowValue row = rows.pop_back_val();
    for (OpOperand &use : row.value.getUses())
      if (!matchRowUse(row, use)) {
        reason = "the sum has uses outside of a softmax";
        return false;
      }
  }
  return true;
}

std::optional<StoppedOperands>
training::matchCancellingShift(Operation *op, StringRef &reason) {
  reason = {};
  auto exponential = dyn_cast<stablehlo::ExpOp>(op);
  if (!exponential)
    return std::nullopt;
  auto shifted =
      exponential.getOperand().getDefiningOp<stablehlo::SubtractOp>();
  if (!shifted)
    return std::nullopt;
  ShiftMatcher matcher(shifted, exponential);
  if (!matcher.match(reason))
    return std::nullopt;
  return std::move(matcher.stopped);
}
