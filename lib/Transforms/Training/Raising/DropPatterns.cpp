//===- DropPatterns.cpp - Weights that are dropped at random --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   select(flags, p / r, 0)          jnp.where, PyTorch's exports
//   p * (convert(flags) / r)         flags that all samples or heads may share
//
// Test: test/Transforms/Training/raise-attention-dropout.mlir
//===----------------------------------------------------------------------===//

#include "AttentionPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;

static bool isFlags(Value value) {
  return getElementTypeOrSelf(value.getType()).isInteger(1);
}

/// Of a multiplier that is 0 or a number by flags, an operand that is one.
static Value stepToFlags(Value multiplier, ConstantCones &cones,
                         WeightDrop &drop) {
  Operation *op = multiplier.getDefiningOp();
  if (!op)
    return {};
  if (isFloatConversion(op) ||
      (isa<stablehlo::ConvertOp>(op) && isFlags(op->getOperand(0))))
    return op->getOperand(0);
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    std::optional<double> onTrue = getNumber(select.getOnTrue(), cones),
                          onFalse = getNumber(select.getOnFalse(), cones);
    if (!onTrue || !onFalse || (*onTrue != 0) == (*onFalse != 0))
      return {};
    drop.isNegated = *onTrue == 0;
    drop.factor *= *onTrue + *onFalse;
    return select.getPred();
  }
  std::optional<double> number;
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    number = getNumber(op->getOperand(1), cones);
  if (!number)
    return {};
  drop.factor *= isa<stablehlo::DivOp>(op) ? 1 / *number : *number;
  return op->getOperand(0);
}

static bool isMultiplier(Value value, ConstantCones &cones) {
  WeightDrop any;
  while (value && !isFlags(value)) {
    Operation *op = value.getDefiningOp();
    value = op && isShapeOp(op) ? op->getOperand(0)
                                : stepToFlags(value, cones, any);
  }
  return value && !getShape(value).empty();
}

/// The weights that the op scales, or of which it drops some.
OpOperand *AttentionMatcher::matchDrop(Operation *op) {
  auto take = [&](Value flags, bool isNegated, unsigned kept) {
    drop.op = op;
    drop.flags.value = flags;
    drop.isNegated = isNegated;
    return &op->getOpOperand(kept);
  };
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    if (drop.op || getShape(select.getPred()).empty())
      return nullptr;
    for (unsigned kept : {1, 2})
      if (getNumber(op->getOperand(3 - kept), cones) == 0.0)
        return take(select.getPred(), kept == 2, kept);
    return nullptr;
  }
  if (!isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return nullptr;
  if (std::optional<double> number = getNumber(op->getOperand(1), cones)) {
    drop.factor *= isa<stablehlo::DivOp>(op) ? 1 / *number : *number;
    return &op->getOpOperand(0);
  }
  for (unsigned kept : {0, 1})
    if (!drop.op && isa<stablehlo::MulOp>(op) &&
        isMultiplier(op->getOperand(1 - kept), cones))
      return take(op->getOperand(1 - kept), false, kept);
  return nullptr;
}

/// Makes a multiplier, or flags in some shape, the flags themselves.
void AttentionMatcher::readFlags() {
  AtomView &view = drop.flags;
  while (true) {
    if (atoms.lookThrough(view))
      continue;
    Value next;
    if (!isFlags(view.value)) {
      next = stepToFlags(view.value, cones, drop);
    } else if (auto negation = view.value.getDefiningOp<stablehlo::NotOp>()) {
      next = negation.getOperand();
      drop.isNegated = !drop.isNegated;
    }
    if (!next)
      return;
    view.value = next;
  }
}

/// What drops weights draws counted bits.
bool AttentionMatcher::takeDrop(StringRef &reason) {
  if (!drop.op)
    return true;
  readFlags();
  reason = "weights are dropped by what is no random bits of a counter";
  std::optional<BitThreshold> threshold;
  if (isFlags(drop.flags.value))
    threshold = matchThreshold(drop.flags.value, cones);
  std::optional<BitDraw> draw;
  if (threshold)
    draw = matchDraw(threshold->bits, cones);
  if (!draw)
    return false;
  AtomView counter{draw->counter, drop.flags.dims};
  std::optional<ScalarSum> first = splitScalar(counter.value, cones);
  std::optional<Affine> position;
  if (first)
    position = masks.matchAffine(counter);
  if (!position)
    return false;
  rt::Dropout dropout{draw->bits, threshold->isBelow != drop.isNegated,
                      threshold->limit, drop.factor};
  reason = "weights are dropped, and rows that see nothing are a mean";
  if (found.isUniform)
    return false;
  reason = "weights are scaled by what is no positive number";
  found.drop = DropMatch{dropout, *draw, *position, *first};
  return isSound(dropout);
}
