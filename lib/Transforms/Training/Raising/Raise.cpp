//===- Raise.cpp - Recognise what a forward graph has lost ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %p = log-softmax of %x            %l, %lse = nn.softmax_cross_entropy %x,
//   %c %g = gather(%p, class of row) ->  %g = negate %l
//
//   %a = subtract %x, %m         ->   %a = subtract %x, %m
//   %e = exponential %a                      {dist.stop_gradient = [1]}
//
// A gather clamps its index, which `nn.softmax_cross_entropy` does not: the
// class is clamped in front of it. A one-hot of a class out of range is zero:
// the result is selected. The forward value of each row is thus kept, to
// rounding. Matchers: SoftmaxPatterns.h, SigmoidPatterns.h, NormPatterns.h,
// ActivationPatterns.h, LogSumExpPatterns.h, RotaryPatterns.h.
//
// Tests: test/Transforms/Training/raise-*.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "ActivationPatterns.h"
#include "AttentionPatterns.h"
#include "LogSumExpPatterns.h"
#include "NormPatterns.h"
#include "RotaryPatterns.h"
#include "SigmoidPatterns.h"
#include "SoftmaxPatterns.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc {
#define GEN_PASS_DEF_RAISEPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using stablehlo::getShape;
using stablehlo::RowView;
using training::ClassPick;
using training::remarkOf;

/// `logits` with the classes in the last dimension.
static Value moveClassesLast(OpBuilder &builder, Location loc, Value logits,
                             int64_t dim) {
  SmallVector<int64_t> permutation;
  for (int64_t i = 0, rank = getShape(logits).size(); i < rank; ++i)
    if (i != dim)
      permutation.push_back(i);
  permutation.push_back(dim);
  return stablehlo::transpose(builder, loc, logits, permutation);
}

/// The picked classes as i32 or wider, one for each row.
static Value makeTargets(OpBuilder &builder, Location loc,
                         const ClassPick &pick) {
  Value targets = stablehlo::reshape(builder, loc, pick.labels, pick.rows);
  auto element = cast<IntegerType>(getElementTypeOrSelf(targets.getType()));
  if (element.getWidth() < 32 || !element.isSignless())
    targets = stablehlo::convertTo(
        builder, loc, targets,
        builder.getIntegerType(std::max(32u, element.getWidth())));
  if (!pick.clamps)
    return targets;
  double last = getShape(pick.operand)[pick.dim] - 1;
  Value low = stablehlo::constantLike(builder, loc, targets, 0);
  Value high = stablehlo::constantLike(builder, loc, targets, last);
  return stablehlo::min(builder, loc,
                        stablehlo::max(builder, loc, targets, low), high);
}

/// 0 <= targets < classes.
static Value makeInRange(OpBuilder &builder, Location loc, Value targets,
                         int64_t classes) {
  Value low = stablehlo::constantLike(builder, loc, targets, 0);
  Value high = stablehlo::constantLike(builder, loc, targets,
                                       static_cast<double>(classes));
  return stablehlo::logicalAnd(
      builder, loc,
      stablehlo::compare(builder, loc, stablehlo::ComparisonDirection::GE,
                         targets, low),
      stablehlo::compare(builder, loc, stablehlo::ComparisonDirection::LT,
                         targets, high));
}

namespace {
/// Of each row.
struct RowLoss {
  Value loss, logsumexp;
};
} // namespace

/// The loss of each row; of a one-hot out of range, 0.
static RowLoss makeLoss(OpBuilder &builder, const ClassPick &pick,
                        Value logits) {
  Location loc = pick.op->getLoc();
  Value targets = makeTargets(builder, loc, pick);
  auto entropy = nn::SoftmaxCrossEntropyOp::create(
      builder, loc, moveClassesLast(builder, loc, logits, pick.dim), targets);
  Value loss = entropy.getLoss();
  if (!pick.clamps)
    loss = stablehlo::select(
        builder, loc,
        makeInRange(builder, loc, targets, getShape(pick.operand)[pick.dim]),
        loss, stablehlo::constantLike(builder, loc, loss, 0.0));
  remark::passed(loc, remarkOf("cross-entropy"))
      << "log-softmax and pick of a class are one softmax cross-entropy";
  return {loss, entropy.getLogsumexp()};
}

/// What reads the log-sum-exp that the view shows, and stands after the
/// cross-entropy, takes that one's: a loss that keeps it small, for one.
static void replaceLogSumExp(RowView view, const RowLoss &rows) {
  SmallVector<int64_t> order(view.peel().dims);
  llvm::erase_if(order, [](int64_t dim) { return dim < 0; });
  if (!llvm::is_sorted(order))
    return;
  Operation *entropy = rows.logsumexp.getDefiningOp();
  OpBuilder builder(entropy);
  builder.setInsertionPointAfter(entropy);
  Value same = stablehlo::reshape(builder, entropy->getLoc(), rows.logsumexp,
                                  getShape(view.value));
  view.value.replaceUsesWithIf(same, [&](OpOperand &use) {
    return entropy->isBeforeInBlock(use.getOwner());
  });
}

//===----------------------------------------------------------------------===//
// lse - pick
//===----------------------------------------------------------------------===//

/// What stands between a pick and the subtraction that takes it.
struct PickUse {
  stablehlo::SubtractOp subtract;
  /// The mask of classes in range and what is taken elsewhere, if there is one.
  stablehlo::SelectOp mask;
};

/// Follows a pick through ops that only add or drop dimensions of size 1, and
/// one mask, to `lse - pick`.
static std::optional<PickUse> findPickUse(Operation *pick) {
  PickUse use;
  Value value = pick->getResult(0);
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto select = dyn_cast<stablehlo::SelectOp>(user)) {
      if (use.mask || select.getOnTrue() != value ||
          !stablehlo::getSplatElement(select.getOnFalse()) ||
          getShape(select.getPred()) != getShape(value))
        return std::nullopt;
      use.mask = select;
    } else if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(user)) {
      auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(user);
      if (broadcast && !llvm::is_sorted(broadcast.getBroadcastDimensions()))
        return std::nullopt;
      if (cast<RankedTensorType>(user->getResult(0).getType())
              .getNumElements() !=
          cast<RankedTensorType>(value.getType()).getNumElements())
        return std::nullopt;
    } else if (auto subtract = dyn_cast<stablehlo::SubtractOp>(user)) {
      if (subtract.getRhs() != value)
        return std::nullopt;
      use.subtract = subtract;
      return use;
    } else {
      return std::nullopt;
    }
    value = user->getResult(0);
  }
  return std::nullopt;
}

/// `rows` (a value with one element for each row) seen from the full tensor.
static std::optional<RowView> viewRows(Value rows, const ClassPick &pick) {
  RowView view = RowView::of(pick.operand);
  view.value = rows;
  ArrayRef<int64_t> shape = getShape(rows);
  size_t from = 0;
  for (size_t dim = 0; dim < view.shape.size(); ++dim) {
    view.dims[dim] = -1;
    if (static_cast<int64_t>(dim) == pick.dim || view.shape[dim] == 1)
      continue;
    while (from < shape.size() && shape[from] == 1)
      ++from;
    if (from == shape.size() || shape[from] != view.shape[dim])
      return std::nullopt;
    view.dims[dim] = from++;
  }
  return view;
}

/// What the text gives out of range: the log-sum-exp minus the mask's fill. A
/// fill of NaN needs no log-sum-exp.
static Value makeFill(OpBuilder &builder, Location loc, PickUse &use,
                      ArrayRef<int64_t> shape) {
  Value fill = stablehlo::reshape(builder, loc, use.mask.getOnFalse(), shape);
  auto number =
      dyn_cast<FloatAttr>(stablehlo::getSplatElement(use.mask.getOnFalse()));
  return number && number.getValue().isNaN()
             ? fill
             : stablehlo::sub(builder, loc, use.subtract.getLhs(), fill);
}

static bool raiseDifference(const ClassPick &pick) {
  std::optional<PickUse> use = findPickUse(pick.op);
  if (!use)
    return false;
  std::optional<RowView> view = viewRows(use->subtract.getLhs(), pick);
  if (!view)
    return false;
  std::optional<Value> logits = training::matchLogSumExp(*view, pick.dim);
  if (!logits || *logits != pick.operand)
    return false;
  OpBuilder builder(use->subtract);
  Location loc = use->subtract.getLoc();
  ArrayRef<int64_t> shape = getShape(use->subtract.getResult());
  Value unshifted = training::removeShifts(*logits, pick.dim);
  RowLoss rows = makeLoss(builder, pick, unshifted);
  if (unshifted == *logits)
    replaceLogSumExp(*view, rows);
  Value loss = stablehlo::reshape(builder, loc, rows.loss, shape);
  if (use->mask) {
    Value mask = stablehlo::reshape(builder, loc, use->mask.getPred(), shape);
    loss = stablehlo::select(builder, loc, mask, loss,
                             makeFill(builder, loc, *use, shape));
  }
  use->subtract.getResult().replaceAllUsesWith(loss);
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool raiseLogSoftmaxPick(const ClassPick &pick) {
  std::optional<Value> logits =
      training::matchLogSoftmax(pick.operand, pick.dim);
  if (!logits)
    return false;
  OpBuilder builder(pick.op);
  Location loc = pick.op->getLoc();
  RowLoss rows = makeLoss(builder, pick, *logits);
  auto normal = pick.operand.getDefiningOp<stablehlo::SubtractOp>();
  if (normal.getLhs() == *logits)
    replaceLogSumExp(RowView::of(normal.getRhs()), rows);
  Value picked = stablehlo::neg(builder, loc, rows.loss);
  Value result = pick.op->getResult(0);
  result.replaceAllUsesWith(
      stablehlo::reshape(builder, loc, picked, getShape(result)));
  return true;
}

static void raiseCrossEntropy(Operation *op) {
  std::optional<ClassPick> pick = training::matchGatherPick(op);
  if (!pick)
    pick = training::matchOneHotPick(op);
  if (!pick || !isa<FloatType>(getElementTypeOrSelf(pick->operand.getType())))
    return;
  if (!raiseLogSoftmaxPick(*pick) && !raiseDifference(*pick))
    remark::missed(op->getLoc(), remarkOf("cross-entropy"))
        << "one class is picked for each row, but not of a log-softmax";
}

static void markShift(Operation *op) {
  StringRef reason;
  std::optional<training::StoppedOperands> stopped =
      training::matchCancellingShift(op, reason);
  if (!stopped) {
    if (!reason.empty())
      remark::missed(op->getLoc(), remarkOf("softmax-shift"))
          << "the derivative runs through the shift of an exponential: "
          << reason;
    return;
  }
  for (OpOperand *operand : *stopped) {
    Operation *owner = operand->getOwner();
    SmallVector<int64_t> numbers = {operand->getOperandNumber()};
    if (auto old = owner->getAttrOfType<DenseI64ArrayAttr>(
            dist::DistDialect::kStopGradient))
      numbers.append(old.asArrayRef().begin(), old.asArrayRef().end());
    owner->setAttr(dist::DistDialect::kStopGradient,
                   DenseI64ArrayAttr::get(op->getContext(), numbers));
  }
  remark::passed(op->getLoc(), remarkOf("softmax-shift"))
      << "the shift of an exponential cancels";
}

static void raiseAttentions(const training::AttentionTarget &target,
                            ArrayRef<Operation *> ops) {
  training::ConstantCones cones;
  for (Operation *op : ops) {
    StringRef reason;
    std::string why;
    auto whyNot = [&](const training::AttentionSizes &sizes) -> StringRef {
      return why = target.whyProducts(op, sizes);
    };
    if (training::raiseAttention(op, cones, whyNot, reason))
      remark::passed(op->getLoc(), remarkOf("attention"))
          << "two contractions and the softmax between them are one attention";
    else if (!reason.empty())
      remark::missed(op->getLoc(), remarkOf("attention"))
          << "two contractions with a softmax between them stay as they are: "
          << reason;
  }
}

static void raiseRotaries(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    StringRef reason;
    if (training::raiseRotary(&op, reason))
      remark::passed(op.getLoc(), remarkOf("rotary"))
          << "pairs that are turned";
    else if (!reason.empty())
      remark::missed(op.getLoc(), remarkOf("rotary"))
          << ("halves that are exchanged, but no rotation: " + reason).str();
  }
  training::eraseDeadOps(function.front());
}

static void raiseSigmoids(func::FuncOp function) {
  bool isChanged = false;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (!training::raiseSigmoid(&op))
      continue;
    remark::passed(op.getLoc(), remarkOf("sigmoid"))
        << "a quotient of exponentials is a logistic function";
    isChanged = true;
  }
  if (isChanged)
    training::eraseDeadOps(function.front());
}

static void raiseNorms(func::FuncOp function) {
  // What nothing reads is no use.
  training::eraseDeadOps(function.front());
  bool isChanged = false;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    StringRef reason;
    std::optional<training::NormMatch> match = training::matchNorm(&op, reason);
    if (match && training::raiseNorm(*match, reason)) {
      remark::passed(op.getLoc(), remarkOf("norm"))
          << (match->feature
                  ? "features of mean 0 and variance 1 over the batch"
              : match->isCentred ? "rows of mean 0 and variance 1"
                                 : "rows of mean square 1");
      isChanged = true;
    } else if (!reason.empty()) {
      remark::missed(op.getLoc(), remarkOf("norm"))
          << ("a root of a mean square, but no norm: " + reason).str();
    }
  }
  if (isChanged)
    training::eraseDeadOps(function.front());
}

static void raiseActivations(func::FuncOp function) {
  training::eraseDeadOps(function.front());
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    StringRef reason;
    bool isSilu = training::raiseSilu(&op, reason);
    if (isSilu || (reason.empty() && training::raiseGelu(&op, reason)))
      remark::passed(op.getLoc(), remarkOf("activation"))
          << (isSilu ? "an operand times its logistic function"
                     : "an operand times its normal distribution");
    else if (!reason.empty())
      remark::missed(op.getLoc(), remarkOf("activation"))
          << ("a function of an activation, but no activation: " + reason)
                 .str();
  }
  training::eraseDeadOps(function.front());
}

static void raiseSoftmax(func::FuncOp function) {
  training::eraseDeadOps(function.front());
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    StringRef reason;
    std::optional<training::SoftmaxMatch> match =
        training::matchSoftmax(&op, reason);
    if (!reason.empty())
      remark::missed(op.getLoc(), remarkOf("softmax"))
          << ("exponentials over their sum, but no softmax: " + reason).str();
    if (!match)
      continue;
    OpBuilder builder(&op);
    Type type = match->x.getType();
    Operation *raised;
    if (match->isLog)
      raised = nn::LogSoftmaxOp::create(builder, op.getLoc(), type, match->x,
                                        match->dim);
    else
      raised = nn::SoftmaxOp::create(builder, op.getLoc(), type, match->x,
                                     match->dim);
    op.getResult(0).replaceAllUsesWith(raised->getResult(0));
    remark::passed(op.getLoc(), remarkOf("softmax"))
        << (match->isLog ? "logarithm of a softmax" : "a softmax");
  }
  training::eraseDeadOps(function.front());
}

static void raiseLogSumExps(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    StringRef reason;
    std::optional<training::LogSumExpMatch> match =
        training::matchLogSumExpSum(&op, reason);
    if (!reason.empty())
      remark::missed(op.getLoc(), remarkOf("log-sum-exp"))
          << ("a logarithm of exponentials' sum, but no log-sum-exp: " + reason)
                 .str();
    if (!match)
      continue;
    OpBuilder builder(&op);
    Value rows = nn::LogSumExpOp::create(builder, op.getLoc(), match->x,
                                         match->dims, match->isSafe);
    Value result = op.getResult(0);
    rows = stablehlo::convertTo(builder, op.getLoc(), rows,
                                getElementTypeOrSelf(result.getType()));
    result.replaceAllUsesWith(
        stablehlo::reshape(builder, op.getLoc(), rows, getShape(result)));
    remark::passed(op.getLoc(), remarkOf("log-sum-exp")) << "a log-sum-exp";
  }
  training::eraseDeadOps(function.front());
}

namespace {

struct RaisePass : llmc::impl::RaisePassBase<RaisePass> {
  using RaisePassBase::RaisePassBase;

  void runOnOperation() override {
    auto target = training::AttentionTarget::find(getOperation());
    llvm::DenseSet<Attribute> excluded;
    for (auto recipe : getOperation().getOps<dist::TrainingOp>())
      if (!recipe.getRaise().value_or(true))
        excluded.insert(recipe.getForwardAttr().getAttr());
    for (func::FuncOp function : training::getGraphFunctions(getOperation())) {
      if (function.isExternal() || excluded.contains(function.getNameAttr()))
        continue;
      // Shifts last: a raised cross-entropy has taken uses away.
      if (crossEntropy) {
        for (Operation *op : collectOps(function))
          raiseCrossEntropy(op);
        training::eraseDeadOps(function.front());
      }
      // Elsewhere it stays products and a softmax.
      if (attention && target) {
        raiseAttentions(*target, collectOps(function));
        training::eraseDeadOps(function.front());
      }
      if (rotary)
        raiseRotaries(function);
      if (softmax)
        raiseSoftmax(function);
      if (logSumExp)
        raiseLogSumExps(function);
      if (softmaxShift)
        for (Operation *op : collectOps(function))
          markShift(op);
      if (sigmoid)
        raiseSigmoids(function);
      if (norm)
        raiseNorms(function);
      // A quotient of exponentials is a logistic function by now.
      if (activation)
        raiseActivations(function);
    }
  }

private:
  static SmallVector<Operation *> collectOps(func::FuncOp function) {
    SmallVector<Operation *> ops;
    for (Operation &op : function.front())
      ops.push_back(&op);
    return ops;
  }
};

} // namespace
