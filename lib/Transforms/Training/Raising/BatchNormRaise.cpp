//===- BatchNormRaise.cpp - nn.batch_norm from what was matched -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   (x - mean) * root * s + t  ->  y of %y, %mean, %variance = nn.batch_norm
//   0.9 * r + 0.1 * mean       ->  0.9 * r + 0.1 * %mean
//
// The norm stands as early as its operands allow, before what reads statistics.
//
// Test: test/Transforms/Training/raise-batch-norms.mlir
//===----------------------------------------------------------------------===//

#include "NormPatterns.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using stablehlo::RowView;
namespace hlo = llmc::stablehlo;

/// The numbers of the features, one for each, that `full` has at all elements;
/// null where it is something else.
static Value findFeatures(Value full, int64_t feature) {
  RowView view = RowView::of(full).peel();
  int64_t size = view.shape[feature];
  for (auto [dim, from] : llvm::enumerate(view.dims)) {
    bool isFeature = static_cast<int64_t>(dim) == feature;
    if (view.shape[dim] != 1 && isFeature == (from < 0))
      return Value();
  }
  auto type = cast<RankedTensorType>(view.value.getType());
  return type.getNumElements() == size ? view.value : Value();
}

/// `numbers` in the type of an operand of the norm, made where they are.
static Value makeOperand(Value numbers, RankedTensorType type) {
  OpBuilder builder(numbers.getContext());
  builder.setInsertionPointAfterValue(numbers);
  Location loc = numbers.getLoc();
  numbers = hlo::reshape(builder, loc, numbers, type.getShape());
  return hlo::convertTo(builder, loc, numbers, type.getElementType());
}

/// The one use by an op whose results are read; null where there are several.
static OpOperand *findOnlyUse(Value value) {
  OpOperand *only = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner()->use_empty() &&
        !use.getOwner()->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (only)
      return nullptr;
    only = &use;
  }
  return only;
}

/// Takes what alone reads the result, if it is an `Op` of the result and a
/// number for each feature, into operand `number` of the norm.
template <typename Op>
static void takeNext(nn::BatchNormOp norm, unsigned number) {
  OpOperand *use = findOnlyUse(norm.getResult());
  auto next = use ? dyn_cast<Op>(use->getOwner()) : Op();
  Value features =
      next ? findFeatures(next->getOperand(1 - use->getOperandNumber()),
                          norm.getDim())
           : Value();
  if (!features)
    return;
  OpOperand &operand = norm->getOpOperand(number);
  operand.set(
      makeOperand(features, cast<RankedTensorType>(operand.get().getType())));
  next.getResult().replaceAllUsesWith(norm.getResult());
}

/// Right after the last of its operands.
static void moveUp(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp())
      if (!last || last->isBeforeInBlock(made))
        last = made;
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(op->getBlock(), op->getBlock()->begin());
}

/// What reads `numbers` after the norm reads the norm's.
static void replaceStatistic(nn::BatchNormOp norm, Value numbers,
                             Value statistic) {
  OpBuilder builder(norm);
  builder.setInsertionPointAfter(norm);
  Location loc = norm.getLoc();
  statistic = hlo::convertTo(builder, loc, statistic,
                             getElementTypeOrSelf(numbers.getType()));
  statistic = hlo::reshape(builder, loc, statistic, getShape(numbers));
  numbers.replaceUsesWithIf(statistic, [&](OpOperand &use) {
    return norm->isBeforeInBlock(use.getOwner());
  });
}

void training::raiseBatchNorm(const NormMatch &match, OpOperand &factor) {
  OpBuilder builder(factor.getOwner());
  Location loc = match.op->getLoc();
  auto type = cast<RankedTensorType>(match.x.getType());
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = builder.getF32Type();
  auto features =
      RankedTensorType::get(type.getDimSize(*match.feature), element);
  OpBuilder first = OpBuilder::atBlockBegin(match.op->getBlock());
  auto norm = nn::BatchNormOp::create(
      builder, loc, match.x, hlo::constantSplat(first, loc, features, 1),
      hlo::constantSplat(first, loc, features, 0), *match.feature,
      match.epsilon, match.isDifference);
  factor.set(norm.getResult());
  Value rest = match.op->getOperand(1 - match.rootOperand);
  match.op->getResult(0).replaceAllUsesWith(rest);
  takeNext<stablehlo::MulOp>(norm, 1);
  takeNext<stablehlo::AddOp>(norm, 2);
  moveUp(norm);
  for (Value mean : match.means)
    replaceStatistic(norm, mean, norm.getMean());
  replaceStatistic(norm, match.variance, norm.getVariance());
}
