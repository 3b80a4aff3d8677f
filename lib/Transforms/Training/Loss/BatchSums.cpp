//===- BatchSums.cpp - How values depend on the batch ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BatchSums.h.
//
// Tests: test/Transforms/Training/sum-loss-batch.mlir, -degrees, -pieces,
// -parts
//===----------------------------------------------------------------------===//

#include "BatchSums.h"
#include "../Raising/SoftmaxPatterns.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using graph::Factor;
using graph::FactorKind;
using graph::ShardingRule;
using Kind = BatchState::Kind;

//===----------------------------------------------------------------------===//
// Degrees and counts
//===----------------------------------------------------------------------===//

std::optional<double> training::getNumber(Value value) {
  if (auto real =
          dyn_cast_or_null<FloatAttr>(stablehlo::getSplatElement(value)))
    return real.getValueAsDouble();
  return std::nullopt;
}

/// Within the rounding of a reciprocal.
static bool isOneOf(double divisor, ArrayRef<int64_t> counts) {
  double count = std::round(divisor);
  return count >= 1 && count < 0x1p62 &&
         std::abs(divisor - count) <= 1e-6 * count &&
         llvm::is_contained(counts, static_cast<int64_t>(count));
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

static bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

/// A conversion is linear for the loss, whatever it rounds.
static bool isLinearConvert(Operation *op) {
  return isa<stablehlo::ConvertOp>(op) &&
         isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

static bool isDecision(const BatchState &state, Value value) {
  return state.kind == Kind::Count &&
         getElementTypeOrSelf(value.getType()).isInteger(1);
}

/// The op's own rule; of a gather that takes one element from each row, by the
/// numbers of the rows, that rows pass: x[arange(8), classes].
static ShardingRule getRule(graph::ShardingRuleOpInterface op) {
  std::optional<ClassPick> pick = matchGatherPick(op);
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (!pick || shapeOf(op->getResult(0)) != ArrayRef(pick->rows) ||
      shapeOf(op->getOperand(1)).empty() ||
      shapeOf(op->getOperand(1)).drop_back() != ArrayRef(pick->rows))
    return op.getShardingRule();
  ShardingRule rule = ShardingRule::forOp(op);
  for (auto [d, size] : llvm::enumerate(pick->rows)) {
    int row = rule.addFactor(size);
    bool isBefore = static_cast<int64_t>(d) < pick->dim;
    rule.operands[0][isBefore ? d : d + 1] = {row};
    rule.operands[1][d] = rule.results[0][d] = {row};
  }
  rule.operands[0][pick->dim] = {
      rule.addFactor(shapeOf(pick->operand)[pick->dim], FactorKind::Whole)};
  rule.operands[1].back() = {
      rule.addFactor(shapeOf(op->getOperand(1)).back(), FactorKind::Whole)};
  return rule;
}

struct BatchSums::Visit {
  Visit(Operation &op, BatchSums &sums, ShardingRule rule)
      : op(op), sums(sums), rule(std::move(rule)) {
    for (OpOperand &operand : op.getOpOperands()) {
      const BatchState &state = sums.get(operand.get());
      operands.push_back(&state);
      isData &= state.isData;
      if (state.kind == Kind::Sample)
        samples.push_back(operand.getOperandNumber());
      else if (state.isSum())
        (isDecision(state, operand.get()) ? decisions : totals)
            .push_back(operand.getOperandNumber());
    }
  }

  BatchState run(unsigned result) {
    return samples.empty() ? visitSums() : visitSamples(result);
  }

  /// A group of operands in which the op is jointly linear (or, for `kinds`
  /// max and min, homogeneous) and that has all of `wanted`.
  const SmallVector<int> *findGroup(ArrayRef<unsigned> wanted,
                                    ArrayRef<ReductionKind> kinds);
  /// The degree of the result, where it is homogeneous in `wanted`: a product,
  /// a quotient, or one that `findGroup` finds (then `isProduct` is false).
  /// With `inParts`, the degree in what partial sums have added up.
  std::optional<Degrees> combine(ArrayRef<unsigned> wanted, bool &isProduct,
                                 bool inParts = false);
  BatchState mixed(StringRef reason, bool isAffine = false) {
    BatchState state;
    state.kind = Kind::Mixed;
    state.isAffine = isAffine;
    state.culprit = &op;
    state.reason = reason;
    return state;
  }
  /// Whether the op is linear in all sums that it takes.
  bool isAffine() {
    SmallVector<unsigned> terms;
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand->kind != Kind::Fixed)
        terms.push_back(i);
    return findGroup(terms, {ReductionKind::sum}) &&
           llvm::all_of(terms,
                        [&](unsigned i) { return operands[i]->isAffineSum(); });
  }
  SmallVector<int64_t, 4> getReducedSizes(ArrayRef<BatchPiece> batch);
  SmallVector<int64_t, 4> getCounts(ArrayRef<unsigned> wanted);
  bool findBatch(SmallVectorImpl<BatchPiece> &batch);
  BatchState combineSamples();
  BatchState visitSamples(unsigned result);
  BatchState reduceSamples(BatchState state, ArrayRef<BatchPiece> batch);
  BatchState visitSums();
  BatchState scaleSum(BatchState state, ArrayRef<unsigned> of);
  BatchState visitLinear(const SmallVector<int> &group);
  BatchState visitCount();
  BatchState visitProduct();

  Operation &op;
  BatchSums &sums;
  ShardingRule rule;
  SmallVector<const BatchState *> operands;
  /// Operands that are samples, numbers from sums, comparisons of such.
  SmallVector<unsigned> samples, totals, decisions;
  bool isData = true;
  SmallVector<int> converted = {0};
};

const SmallVector<int> *
BatchSums::Visit::findGroup(ArrayRef<unsigned> wanted,
                            ArrayRef<ReductionKind> kinds) {
  if (isLinearConvert(&op))
    return &converted;
  for (const graph::Linearity &linear : rule.carries)
    if (llvm::is_contained(kinds, linear.kind))
      for (const SmallVector<int> &group : linear.groups)
        if (llvm::all_of(wanted, [&](unsigned i) {
              return llvm::is_contained(group, static_cast<int>(i));
            }))
          return &group;
  return nullptr;
}

std::optional<Degrees> BatchSums::Visit::combine(ArrayRef<unsigned> wanted,
                                                 bool &isProduct,
                                                 bool inParts) {
  auto degreesOf = [&](unsigned i) {
    return inParts && operands[i]->isPartial ? operands[i]->inParts
                                             : operands[i]->degrees;
  };
  isProduct = true;
  if (isa<stablehlo::DivOp>(op) && llvm::is_contained(wanted, 1u))
    return degreesOf(0).plus(degreesOf(1), -1);
  isProduct = false;
  if (const SmallVector<int> *group = findGroup(wanted, {ReductionKind::sum})) {
    Degrees degrees = degreesOf(wanted[0]);
    for (int i : *group)
      degrees = degrees & degreesOf(i);
    return degrees;
  }
  isProduct = true;
  Degrees degrees = Degrees::of(0);
  for (unsigned i : wanted) {
    const SmallVector<int> *group = findGroup({i}, {ReductionKind::sum});
    if (!group || group->size() != 1)
      return std::nullopt;
    degrees = degrees.plus(degreesOf(i));
  }
  return degrees;
}

/// Sizes of the summed factors, without the batch itself.
SmallVector<int64_t, 4>
BatchSums::Visit::getReducedSizes(ArrayRef<BatchPiece> batch) {
  SmallVector<int64_t, 4> sizes;
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    if (factor.kind != FactorKind::Reduced ||
        factor.reduction != ReductionKind::sum)
      continue;
    SmallVector<BatchPiece, 1> pieces;
    for (const BatchPiece &piece : batch)
      if (piece.place == static_cast<int64_t>(i))
        pieces.push_back(piece);
    llvm::sort(pieces, [](const BatchPiece &a, const BatchPiece &b) {
      return a.inner > b.inner;
    });
    // What lies around and between the pieces.
    int64_t inner = factor.size;
    for (const BatchPiece &piece : pieces) {
      sizes.push_back(inner / (piece.inner * piece.extent));
      inner = piece.inner;
    }
    sizes.push_back(inner);
  }
  return sizes;
}

/// What the sums in linear operands may be divided by.
SmallVector<int64_t, 4> BatchSums::Visit::getCounts(ArrayRef<unsigned> wanted) {
  if (!findGroup(wanted, {ReductionKind::sum}))
    return {1};
  SmallVector<int64_t, 4> counts = operands[wanted[0]]->counts;
  for (unsigned i : wanted)
    counts = intersectCounts(counts, operands[i]->counts);
  return counts;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

constexpr llvm::StringLiteral kMixes = "mixes the samples of the batch";
constexpr llvm::StringLiteral kNonlinear =
    "is not linear in sums over the batch";
constexpr llvm::StringLiteral kAdds =
    "adds a sum over the batch to what is none";

/// Where the batch lies among the factors; false where operands differ in it.
bool BatchSums::Visit::findBatch(SmallVectorImpl<BatchPiece> &batch) {
  for (unsigned i : samples) {
    SmallVector<BatchPiece, 1> found;
    if (!toFactors(operands[i]->pieces, rule.operands[i], rule.factors,
                   found) ||
        (i != samples[0] && ArrayRef(found) != ArrayRef(batch)))
      return false;
    batch.assign(found);
  }
  return true;
}

/// Degrees of the samples of the result.
BatchState BatchSums::Visit::combineSamples() {
  BatchState state;
  state.kind = Kind::Sample;
  state.isData = isData;
  bool isShifted = !totals.empty(),
       areLinear = !!findGroup(samples, {ReductionKind::sum});
  for (unsigned i : samples) {
    isShifted |= !(operands[i]->degrees == Degrees::of(0));
    state.isPartial |= operands[i]->isPartial;
    state.isPlain &= operands[i]->isPlain;
  }
  for (unsigned i : samples)
    areLinear &= operands[i]->isPartial == state.isPartial;
  if (!isShifted && !state.isPartial)
    return state;
  SmallVector<unsigned> wanted(samples);
  wanted.append(totals);
  bool isProduct;
  std::optional<Degrees> degrees = combine(wanted, isProduct),
                         inParts = combine(wanted, isProduct, /*inParts=*/true);
  if (!degrees || degrees->isEmpty() || (!totals.empty() && !isProduct) ||
      (state.isPartial && !areLinear))
    return mixed(kNonlinear);
  if (inParts->isEmpty())
    return mixed(kAdds);
  for (unsigned i : totals) {
    if (!operands[i]->isData || !isFloatTensor(op.getOperand(i).getType()))
      return mixed(kMixes);
    sums.scales.insert(&op.getOpOperand(i));
  }
  state.degrees = *degrees;
  state.inParts = *inParts;
  state.isData &= !isShifted;
  return state;
}

BatchState BatchSums::Visit::visitSamples(unsigned result) {
  SmallVector<BatchPiece, 1> batch, summed, passed;
  if (!decisions.empty() || !findBatch(batch))
    return mixed(kMixes);
  BatchState state = combineSamples();
  if (state.kind == Kind::Mixed)
    return state;
  for (const BatchPiece &piece : batch) {
    FactorKind kind = rule.factors[piece.place].kind;
    if (kind != FactorKind::Reduced && kind != FactorKind::Pass)
      return mixed(kMixes);
    (kind == FactorKind::Reduced ? summed : passed).push_back(piece);
  }
  // With one sample, the sum to a scalar is taken for that over the batch.
  bool isSum = batch.empty() && isScalar(op.getResult(result)) &&
               llvm::any_of(rule.factors, [](const Factor &factor) {
                 return factor.kind == FactorKind::Reduced;
               });
  if (!toDims(passed, rule.results[result], rule.factors, state.pieces))
    return mixed(kMixes);
  if (isSum || !summed.empty())
    return reduceSamples(std::move(state), summed);
  state.counts = extendCounts(getCounts(samples), getReducedSizes({}));
  return state.isPartial ? scaleSum(std::move(state), samples) : state;
}

/// The sum over the batch, or over these pieces of it. Of a sum over others,
/// which has been divided by a number of its elements, no more than the number
/// of the parts is left to divide by.
BatchState BatchSums::Visit::reduceSamples(BatchState state,
                                           ArrayRef<BatchPiece> batch) {
  for (const Factor &factor : rule.factors)
    if (factor.kind == FactorKind::Reduced &&
        factor.reduction != ReductionKind::sum)
      return mixed(kMixes);
  for (int i : rule.addends)
    if (operands[i]->kind != Kind::Sample && !operands[i]->isZero)
      return mixed(kAdds, operands[i]->isAffineSum());
  bool isDivided = state.isPartial && state.inParts.has(0);
  if (state.isPartial && !isDivided && !state.inParts.has(1))
    return mixed(kNonlinear);
  int64_t numSamples = 1;
  for (const BatchPiece &piece : batch)
    numSamples *= piece.extent;
  state.counts =
      extendCounts(isDivided ? SmallVector<int64_t, 4>{1} : getCounts(samples),
                   getReducedSizes(batch));
  for (int64_t &count : state.counts)
    count *= numSamples;
  Degrees degrees = state.degrees.plus(Degrees::of(1));
  if (batch.empty())
    degrees = degrees | state.degrees;
  state.isData &= !isDivided;
  state.isPlain = true;
  state.isPartial = !state.pieces.empty();
  state.kind = state.isPartial ? Kind::Sample : Kind::Linear;
  (state.isPartial ? state.inParts : state.degrees) = degrees;
  return state;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

BatchState BatchSums::Visit::visitSums() {
  if (isData && !decisions.empty())
    return visitCount();
  bool isLinear = llvm::all_of(
      totals, [&](unsigned i) { return operands[i]->kind == Kind::Linear; });
  const SmallVector<int> *group = findGroup(totals, {ReductionKind::sum});
  bool isAffine =
      group && llvm::any_of(*group, [&](int i) {
        return operands[i]->kind == Kind::Fixed && !operands[i]->isZero;
      });
  if (isData)
    return isLinear && group && !isAffine ? visitLinear(*group) : visitCount();
  if (totals.empty())
    return mixed(kNonlinear);
  // A choice between sums by counts: where(count > 0, sum / count, 0).
  for (unsigned i : decisions)
    sums.scales.insert(&op.getOpOperand(i));
  return isLinear && group ? visitLinear(*group) : visitProduct();
}

/// A constant factor of the only sum that may be a count is read both ways.
BatchState BatchSums::Visit::scaleSum(BatchState state, ArrayRef<unsigned> of) {
  if (of.size() != 1 || op.getNumOperands() != 2)
    return state;
  std::optional<double> constant = getNumber(op.getOperand(1 - of[0]));
  if (!constant || *constant == 0)
    return state;
  double divisor = isa<stablehlo::DivOp>(op)   ? *constant
                   : isa<stablehlo::MulOp>(op) ? 1 / *constant
                                               : 0;
  if (!isOneOf(divisor, state.counts))
    return state;
  Degrees &degrees = state.isPartial ? state.inParts : state.degrees;
  degrees = degrees | degrees.plus(Degrees::of(-1));
  state.counts.clear();
  state.isPlain = false;
  return state;
}

BatchState BatchSums::Visit::visitLinear(const SmallVector<int> &group) {
  BatchState state;
  state.kind = Kind::Linear;
  state.isData = isData;
  state.degrees = operands[totals[0]]->degrees;
  for (int i : group)
    state.degrees = state.degrees & operands[i]->degrees;
  if (state.degrees.isEmpty())
    return mixed(kAdds, llvm::all_of(group, [&](int i) {
                   return operands[i]->isAffineSum();
                 }));
  for (unsigned i : totals)
    state.isPlain &= operands[i]->isPlain;
  state.counts = extendCounts(getCounts(totals), getReducedSizes({}));
  return scaleSum(std::move(state), totals);
}

/// A function of counts that is not linear, but homogeneous: a bound of a
/// count, what is added to one, a quotient of two; or a decision.
BatchState BatchSums::Visit::visitCount() {
  BatchState state;
  state.kind = Kind::Count;
  state.isData = true;
  if (totals.empty() ||
      getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1))
    return state;
  // A mean has no whole numbers.
  for (unsigned i : totals)
    if (operands[i]->pickDegree() != 1 &&
        !isFloatTensor(op.getOperand(i).getType()))
      return mixed(kNonlinear);
  auto degreeOf = [&](unsigned i) {
    return operands[i]->isSum() ? operands[i]->pickDegree() : 0;
  };
  std::optional<int> degree;
  if (isa<stablehlo::DivOp>(op)) {
    degree = degreeOf(0) - degreeOf(1);
  } else if (isa<stablehlo::MulOp>(op)) {
    degree = degreeOf(0) + degreeOf(1);
  } else if (findGroup(totals, {ReductionKind::sum, ReductionKind::max,
                                ReductionKind::min})) {
    degree = degreeOf(totals[0]);
    if (llvm::any_of(totals, [&](unsigned i) { return degreeOf(i) != degree; }))
      return mixed(kNonlinear);
  }
  if (!degree || std::abs(*degree) > 2)
    return mixed(kNonlinear);
  state.degrees = Degrees::of(*degree);
  return state;
}

/// A sum, or what does not depend on the data, times or divided by counts.
BatchState BatchSums::Visit::visitProduct() {
  bool isProduct;
  std::optional<Degrees> degrees = combine(totals, isProduct);
  size_t others =
      llvm::count_if(totals, [&](unsigned i) { return !operands[i]->isData; });
  if (!degrees || degrees->isEmpty() || !isProduct || others > 1 ||
      !isFloatTensor(op.getResult(0).getType()))
    return mixed(kNonlinear);
  BatchState state;
  state.kind = Kind::Linear;
  state.degrees = *degrees;
  state.counts = {};
  state.isPlain = false;
  for (unsigned i : totals) {
    if (operands[i]->isData) {
      sums.scales.insert(&op.getOpOperand(i));
      continue;
    }
    if (isa<stablehlo::DivOp>(op) && i == 1)
      return mixed(kNonlinear);
    state.counts = operands[i]->counts;
  }
  return state;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static BatchState makeArgument(func::FuncOp function, unsigned index) {
  BatchState state;
  if (!isInput(function, index))
    return state;
  state.kind = Kind::Sample;
  state.isData = true;
  auto type = dyn_cast<RankedTensorType>(function.getArgument(index).getType());
  if (type && type.getRank() > 0 && type.getDimSize(0) > 1)
    state.pieces.push_back({0, 1, type.getDimSize(0)});
  return state;
}

BatchSums::BatchSums(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    states[argument] = makeArgument(function, argument.getArgNumber());
  dist::LoopRuns loops(function.front());
  for (const dist::LoopStep &step : loops.getSteps())
    if (step.op)
      visit(*step.op);
    else
      visit(loops.getRuns()[step.run]);
}

void BatchSums::visit(Operation &op) {
  if (visitForwarding(op))
    return;
  if (isZero(op)) {
    for (Value result : op.getResults())
      states[result] = BatchState::zero();
    return;
  }
  BatchState state;
  state.isData = true;
  bool isFixed = true;
  auto look = [&](Value value) {
    const BatchState &other = get(value);
    if (other.kind == Kind::Mixed && state.kind != Kind::Mixed)
      state = other;
    isFixed &= other.kind == Kind::Fixed;
    state.isData &= other.isData;
  };
  for (Value operand : op.getOperands())
    look(operand);
  bool areOperandsFixed = isFixed;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  for (Value value : captured)
    look(value);
  auto iface = dyn_cast<graph::ShardingRuleOpInterface>(op);
  bool isRead = iface && isFixed == areOperandsFixed;
  if (!isFixed && !isRead && state.kind != Kind::Mixed) {
    state.kind = Kind::Mixed;
    state.culprit = &op;
    state.reason = kMixes;
  }
  if (isFixed || state.kind == Kind::Mixed) {
    state.isAffine &= isRead && Visit(op, *this, getRule(iface)).isAffine();
    for (Value result : op.getResults())
      states[result] = state;
    return;
  }
  SmallVector<BatchState> found;
  Visit visit(op, *this, getRule(iface));
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    found.push_back(visit.run(i));
  for (auto [result, one] : llvm::zip_equal(op.getResults(), found))
    states[result] = std::move(one);
}

bool BatchSums::isMean(Value value) const {
  const BatchState &state = get(value);
  switch (state.kind) {
  case Kind::Fixed:
    return true;
  case Kind::Sample:
  case Kind::Linear:
    return state.degrees.has(0) && !state.isPartial;
  case Kind::Count:
  case Kind::Mixed:
    return false;
  }
  return false;
}

SmallVector<OpOperand *> BatchSums::findScales(Value value) const {
  llvm::SetVector<Operation *> needed;
  if (Operation *op = value.getDefiningOp())
    needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *op = operand.getDefiningOp()) {
        needed.insert(op);
        if (auto enter = dyn_cast<dist::EnterOp>(op); enter && enter.isCarry())
          needed.insert(enter.getNext());
      }
  return llvm::filter_to_vector(
      scales, [&](OpOperand *use) { return needed.contains(use->getOwner()); });
}

void BatchSums::findRoots(Value value, llvm::SetVector<Value> &roots) const {
  if (!get(value).isSum())
    return;
  Operation *op = value.getDefiningOp();
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        return get(operand).kind == Kind::Sample;
      })) {
    roots.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    findRoots(operand, roots);
}
