//===- AttentionPatterns.cpp - Attention in its spellings -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the last contraction back to the first one, then forward again with the
// atoms of the scores, by which the two contractions are compared.
//
// Test: test/Transforms/Training/raise-attention.mlir
//===----------------------------------------------------------------------===//

#include "AttentionPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using stablehlo::matchReduction;
using stablehlo::RowReduction;
using stablehlo::RowView;

/// What is lower is as good as minus infinity where a row sees anything else;
/// and what a score is added to without a change.
static constexpr double kMasked = -1e4, kAbsorbing = -1e20;

//===----------------------------------------------------------------------===//
// The two contractions
//===----------------------------------------------------------------------===//

/// A contraction's dims, by side.
struct AttentionMatcher::Contraction {
  explicit Contraction(stablehlo::DotGeneralOp op) : op(op) {
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    batch[0] = numbers.getLhsBatchingDimensions();
    batch[1] = numbers.getRhsBatchingDimensions();
    contracted[0] = numbers.getLhsContractingDimensions();
    contracted[1] = numbers.getRhsContractingDimensions();
    for (unsigned side : {0, 1})
      for (int64_t dim : llvm::seq(getShape(op->getOperand(side)).size()))
        if (!llvm::is_contained(batch[side], dim) &&
            !llvm::is_contained(contracted[side], dim))
          free[side].push_back(dim);
  }

  stablehlo::DotGeneralOp op;
  ArrayRef<int64_t> batch[2], contracted[2];
  SmallVector<int64_t> free[2];
};

//===----------------------------------------------------------------------===//
// Back to the first contraction
//===----------------------------------------------------------------------===//

bool training::isFloatConversion(Operation *op) {
  return isa<stablehlo::ConvertOp>(op) &&
         isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))) &&
         isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
}

bool training::isShapeOp(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp,
             stablehlo::BroadcastInDimOp>(op);
}

/// x of `select(x != x, 0, x)`, whose only uses these are.
static OpOperand *matchNaNToZero(Operation *op, ConstantCones &cones) {
  auto select = dyn_cast<stablehlo::SelectOp>(op);
  if (!select || getNumber(select.getOnTrue(), cones) != 0.0)
    return nullptr;
  auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  Value value = select.getOnFalse();
  if (!compare || compare.getLhs() != value || compare.getRhs() != value ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::NE ||
      !compare->hasOneUse() || !value.hasNUses(3))
    return nullptr;
  return &select->getOpOperand(2);
}

namespace {
/// exp(x) / sum(exp(x)), or of x - m.
struct Softmax {
  Value scores;
  int64_t dim = -1;
};
} // namespace

/// Whether `user` alone uses `value`, but for maxima, from which a softmax
/// takes its shift.
static bool isUsedBy(Operation *user, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *other) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(other);
    return other == user ||
           (reduce && reduce.getInputs().size() == 1 &&
            stablehlo::reduceKindOf(reduce.getBody()) == ReductionKind::max);
  });
}

static std::optional<Softmax> matchSoftmax(Value value) {
  auto divide = value.getDefiningOp<stablehlo::DivOp>();
  auto exponential =
      divide ? divide.getLhs().getDefiningOp<stablehlo::ExpOp>() : nullptr;
  if (!exponential || !exponential.getResult().hasNUses(2))
    return std::nullopt;
  std::optional<RowReduction> sum =
      matchReduction(RowView::of(divide.getRhs()).peel(), ReductionKind::sum);
  if (!sum || sum->input != exponential.getResult() || sum->dims.size() != 1)
    return std::nullopt;
  Softmax softmax{exponential.getOperand(), sum->dims[0]};
  Operation *user = exponential;
  auto shift = softmax.scores.getDefiningOp<stablehlo::SubtractOp>();
  if (shift &&
      RowView::of(shift.getRhs()).peel().isConstantAlong(softmax.dim)) {
    if (!shift->hasOneUse())
      return std::nullopt;
    softmax.scores = shift.getLhs();
    user = shift;
  }
  if (!isUsedBy(user, softmax.scores))
    return std::nullopt;
  return softmax;
}

/// Back to the division of a softmax, through what keeps the weights.
bool AttentionMatcher::matchWeights(Value weights) {
  afterSoftmax.clear();
  beforeSoftmax.clear();
  found = AttentionMatch();
  drop = WeightDrop();
  while (Operation *op = weights.getDefiningOp()) {
    if (isa<stablehlo::DivOp>(op) && !getNumber(op->getOperand(1), cones))
      break;
    if (!weights.hasOneUse())
      return false;
    OpOperand *next = matchNaNToZero(op, cones);
    if (next)
      found.isSafe = true;
    else if (isShapeOp(op) || isFloatConversion(op))
      next = &op->getOpOperand(0);
    else if (!(next = matchDrop(op)))
      return false;
    afterSoftmax.push_back(next);
    weights = next->get();
  }
  if ((!found.isSafe && !weights.hasOneUse()) || (!drop.op && drop.factor != 1))
    return false;
  std::reverse(afterSoftmax.begin(), afterSoftmax.end());
  return true;
}

/// Finds the way to a contraction; of two addends the one that has one.
bool AttentionMatcher::findScores(Value value, int depth) {
  constexpr int most = 16;
  Operation *op = value.getDefiningOp();
  if (!op || depth == most)
    return false;
  if ((scores = dyn_cast<stablehlo::DotGeneralOp>(op)))
    return true;
  unsigned first = 0, last = 0;
  if (isa<stablehlo::AddOp, stablehlo::MulOp>(op))
    last = 1;
  else if (isa<stablehlo::SelectOp>(op))
    first = 1, last = 2;
  else if (!isShapeOp(op) && !isFloatConversion(op) &&
           !isa<stablehlo::DivOp>(op))
    return false;
  for (unsigned number = first; number <= last; ++number) {
    OpOperand &operand = op->getOpOperand(number);
    if (!isUsedBy(op, operand.get()) || !findScores(operand.get(), depth + 1))
      continue;
    beforeSoftmax.push_back(&operand);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Forward to the softmax
//===----------------------------------------------------------------------===//

bool AttentionMatcher::takeBand(std::optional<Band> band, double fill) {
  if (!band || !(fill <= kMasked))
    return false;
  AtomList columns = atoms.expand(found.columns);
  if (columns.size() != 1)
    return false;
  // row - column > s is column - row <= -s - 1.
  if (band->minus == columns[0] && band->isNegated)
    *band = {band->minus, band->plus, -band->shift - 1, false};
  AtomList rows = atoms.expand(found.rows);
  bool isRow = llvm::is_contained(rows, band->minus);
  if (band->plus != columns[0] || !isRow || band->isNegated || band->shift < 0)
    return false;
  if (found.causal && rows.back() != band->minus)
    return false;
  llvm::erase(rows, band->minus);
  rows.push_back(band->minus);
  found.rows = rows;
  found.causal = std::min(found.causal.value_or(band->shift), band->shift);
  return true;
}

bool AttentionMatcher::addMask(const ScoreMask &mask, StringRef &reason) {
  SmallVector<Mask> parts;
  masks.split(mask.mask, parts);
  for (const Mask &part : parts)
    found.masks.push_back({part, mask.fill, mask.isAdded});
  reason = "scores are masked by a number that is not far below them";
  return mask.fill <= kMasked;
}

/// An addend that is zero or minus infinity by flags masks.
bool AttentionMatcher::addTerm(Value value, StringRef &reason) {
  AtomView view{value, dims};
  while (atoms.lookThrough(view))
    ;
  auto select = view.value.getDefiningOp<stablehlo::SelectOp>();
  if (select && !getShape(select.getPred()).empty()) {
    std::optional<double> onTrue = getNumber(select.getOnTrue(), cones),
                          onFalse = getNumber(select.getOnFalse(), cones);
    if (onTrue == 0.0 && onFalse && *onFalse <= kMasked)
      return addMask({{{select.getPred(), view.dims}}, *onFalse, true}, reason);
    if (onFalse == 0.0 && onTrue && *onTrue <= kMasked)
      return addMask({{{select.getPred(), view.dims}, true}, *onTrue, true},
                     reason);
  }
  found.terms.push_back({view, 1});
  for (ScoreMask &mask : found.masks)
    mask.isAdded = true;
  return true;
}

/// One op between contraction and softmax.
bool AttentionMatcher::followStep(OpOperand &step, StringRef &reason) {
  Operation *op = step.getOwner();
  unsigned number = step.getOperandNumber();
  if (isShapeOp(op)) {
    std::optional<AtomDims> next = atoms.follow(op, dims);
    reason = "a reshape does not keep their dims";
    if (next)
      dims = *next;
    return next.has_value();
  }
  if (isa<stablehlo::ConvertOp>(op))
    return true;
  if (isa<stablehlo::AddOp>(op))
    return addTerm(op->getOperand(1 - number), reason);
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    std::optional<double> fill = getNumber(op->getOperand(3 - number), cones);
    reason = "scores are masked by what is no number";
    return fill && !getShape(select.getPred()).empty() &&
           addMask({{{select.getPred(), dims}, number == 2}, *fill}, reason);
  }
  std::optional<double> factor = getNumber(op->getOperand(1 - number), cones);
  reason = "scores are scaled by what is no positive number";
  if (!factor || !(*factor > 0) || number != 0)
    return false;
  double scale = isa<stablehlo::DivOp>(op) ? 1 / *factor : *factor;
  found.scale *= scale;
  for (ScoreTerm &term : found.terms)
    term.factor *= scale;
  for (ScoreMask &mask : found.masks)
    mask.fill *= scale;
  return true;
}

/// Gives the first contraction's sides their atoms, and follows its result.
bool AttentionMatcher::followSteps(Contraction &inner, StringRef &reason) {
  AtomDims sides[2];
  for (unsigned side : {0, 1})
    sides[side].resize(getShape(inner.op->getOperand(side)).size());
  auto addShared = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    for (auto [x, y] : llvm::zip(lhs, rhs))
      sides[0][x] = sides[1][y] = atoms.add(getShape(inner.op.getLhs())[x]);
  };
  addShared(inner.batch[0], inner.batch[1]);
  addShared(inner.contracted[0], inner.contracted[1]);
  dims.clear();
  for (int64_t dim : inner.batch[0])
    dims.push_back(sides[0][dim]);
  for (unsigned side : {0, 1})
    for (int64_t dim : inner.free[side]) {
      sides[side][dim] = atoms.add(getShape(inner.op->getOperand(side))[dim]);
      dims.push_back(sides[side][dim]);
    }
  found.query = {inner.op.getLhs(), sides[0]};
  found.key = {inner.op.getRhs(), sides[1]};
  for (OpOperand *step : beforeSoftmax)
    if (!followStep(*step, reason))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Sides
//===----------------------------------------------------------------------===//

/// The second contraction's result and value, from the weights' dims.
bool AttentionMatcher::matchOuter(Operation *op, unsigned side,
                                  StringRef &reason) {
  Contraction outer(cast<stablehlo::DotGeneralOp>(op));
  for (OpOperand *step : afterSoftmax) {
    Operation *owner = step->getOwner();
    if (owner == drop.op)
      drop.flags.dims = dims;
    if (!isShapeOp(owner))
      continue;
    std::optional<AtomDims> next = atoms.follow(owner, dims);
    reason = "a reshape does not keep the dims of the weights";
    if (!next)
      return false;
    dims = *next;
  }
  reason = "the second contraction is not along the columns";
  if (outer.contracted[side].size() != 1 ||
      atoms.expand(dims[outer.contracted[side][0]]) !=
          atoms.expand(found.columns))
    return false;
  AtomDims value(getShape(op->getOperand(1 - side)).size());
  value[outer.contracted[1 - side][0]] = found.columns;
  for (auto [x, y] : llvm::zip(outer.batch[side], outer.batch[1 - side])) {
    value[y] = dims[x];
    found.result.push_back(dims[x]);
    found.batches.append(atoms.expand(dims[x]));
  }
  for (int64_t dim : outer.free[1 - side]) {
    value[dim] = atoms.add(getShape(op->getOperand(1 - side))[dim]);
    found.values.append(value[dim]);
  }
  for (unsigned each : {0u, 1u})
    for (int64_t dim : outer.free[each])
      found.result.push_back(each == side ? dims[dim] : value[dim]);
  found.value = {op->getOperand(1 - side), value};
  return true;
}

/// Which side of the first contraction is the key.
bool AttentionMatcher::takeSides(Contraction &inner, StringRef &reason) {
  auto freeOf = [&](const AtomView &view, unsigned side) {
    AtomList free;
    for (int64_t dim : inner.free[side])
      free.append(atoms.expand(view.dims[dim]));
    return free;
  };
  AtomList lhs = freeOf(found.query, 0), rhs = freeOf(found.key, 1);
  AtomList columns = atoms.expand(found.columns);
  reason = "the softmax is not along the dims of one side";
  if (columns.empty() || (lhs != columns && rhs != columns))
    return false;
  found.rows = rhs == columns ? lhs : rhs;
  if (rhs != columns)
    std::swap(found.query, found.key);
  for (int64_t dim : inner.contracted[0])
    found.depth.append((rhs == columns ? found.query : found.key).dims[dim]);
  return true;
}

/// Looks through shape ops, widening, and, of query and key, scales.
void AttentionMatcher::peelSide(AtomView &side, bool isScaled) {
  while (Operation *op = side.value.getDefiningOp()) {
    if (atoms.lookThrough(side))
      continue;
    if (isFloatConversion(op) &&
        getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() <
            getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth()) {
      side.value = op->getOperand(0);
      continue;
    }
    if (!isScaled || !isa<stablehlo::MulOp, stablehlo::DivOp>(op))
      return;
    unsigned number = 1;
    std::optional<double> factor = getNumber(op->getOperand(1), cones);
    if (!factor && isa<stablehlo::MulOp>(op))
      factor = getNumber(op->getOperand(number = 0), cones);
    if (!factor || *factor == 0)
      return;
    found.scale *= isa<stablehlo::DivOp>(op) ? 1 / *factor : *factor;
    side.value = op->getOperand(1 - number);
  }
}

static bool contains(const DimAtoms &atoms, const AtomView &view, int atom) {
  return llvm::is_contained(atoms.flatten(view.dims), atom);
}

/// What neither key nor value has along a batch makes it a group.
void AttentionMatcher::sortDims() {
  AtomList shared, rows = atoms.expand(found.rows);
  for (int atom : atoms.expand(found.batches))
    (contains(atoms, found.key, atom) || contains(atoms, found.value, atom)
         ? shared
         : found.groups)
        .push_back(atom);
  found.batches = shared;
  // One dim of rows; the others are groups.
  for (int atom : ArrayRef(rows).drop_back(rows.empty() ? 0 : 1))
    found.groups.push_back(atom);
  found.rows.assign(rows.empty() ? rows.end() : rows.end() - 1, rows.end());
  for (AtomList *list : {&found.columns, &found.depth, &found.values})
    *list = atoms.expand(*list);
}

bool AttentionMatcher::takeBands(StringRef &reason) {
  SmallVector<ScoreMask> left;
  for (const ScoreMask &mask : found.masks)
    if (!takeBand(masks.matchBand(mask.mask), mask.fill))
      left.push_back(mask);
  llvm::erase_if(found.terms, [&](const ScoreTerm &term) {
    double fill = 0;
    std::optional<Band> band = masks.matchBandOfNumbers(term.value, fill);
    return takeBand(band, fill * term.factor);
  });
  // What is left may hide a whole row, all of which is one number then.
  if (left.empty()) {
    found.masks.clear();
    return true;
  }
  double fill = left.front().fill;
  reason = "scores are masked by several numbers";
  for (const ScoreMask &mask : found.masks)
    if (mask.fill != fill)
      return false;
  reason = "scores are masked by a number to which they can be added";
  for (const ScoreMask &mask : left)
    if (mask.isAdded && mask.fill > kAbsorbing)
      return false;
  found.masks = left;
  found.isUniform = std::isfinite(fill);
  return true;
}

static Type getElement(const AtomView &view) {
  return getElementTypeOrSelf(view.value.getType());
}

std::optional<AttentionMatch> AttentionMatcher::match(Operation *op,
                                                      StringRef &reason) {
  reason = {};
  if (!isa<stablehlo::DotGeneralOp>(op))
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    if (!matchWeights(op->getOperand(side)))
      continue;
    Value weights = afterSoftmax.empty() ? op->getOperand(side)
                                         : afterSoftmax.front()->get();
    std::optional<Softmax> softmax = matchSoftmax(weights);
    if (!softmax || !findScores(softmax->scores, 0))
      continue;
    Contraction inner(scores);
    if (!followSteps(inner, reason))
      return std::nullopt;
    found.columns = dims[softmax->dim];
    if (!takeSides(inner, reason) || !matchOuter(op, side, reason))
      return std::nullopt;
    // All that the sides share is shared by all.
    AtomList batches;
    for (int64_t dim : llvm::seq(inner.batch[0].size()))
      batches.append(atoms.expand(
          (found.key.value == inner.op.getRhs() ? found.key : found.query)
              .dims[inner.batch[1][dim]]));
    AtomList sorted = atoms.expand(found.batches);
    llvm::sort(batches);
    llvm::sort(sorted);
    reason = "the contractions do not share their batches";
    if (batches != sorted)
      return std::nullopt;
    peelSide(found.query, true);
    peelSide(found.key, true);
    peelSide(found.value, false);
    if (!takeBands(reason) || !takeDrop(reason))
      return std::nullopt;
    sortDims();
    reason = "query, key, value and result differ in their type";
    if (getElement(found.query) != getElement(found.key) ||
        getElement(found.query) != getElement(found.value) ||
        getElement(found.query) != getElementTypeOrSelf(op->getResult(0)))
      return std::nullopt;
    reason = {};
    return found;
  }
  return std::nullopt;
}
