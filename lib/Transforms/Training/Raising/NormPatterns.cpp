//===- NormPatterns.cpp - Norms in a graph --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   mean(x)  = sum x / n                    or sum x * (1/n)
//   v        = mean((x - mean x)^2)         squares as x * x, square, power
//            | mean(x^2) - mean(x)^2        also max(0, .) of it
//            | mean(x^2)                    an RMS norm, of any x
//   root     = rsqrt(v + eps) | 1 / sqrt(v + eps) | power(v + eps, -0.5)
//   norm     = (x - mean x) * root | (x - mean x) / sqrt(v + eps)
//
// The root may be multiplied by other factors before it meets x, and x too, as
// by the scale of the norm: these stay, as factors of the norm's result. Shape
// ops may stand anywhere between rows and the full tensor.
//
// Rows are in the last dimensions, or features of the batch
// (BatchNormRaise.cpp). A norm is raised where its root and what is computed of
// full tensors on the way have no other uses: a text that has its own
// derivative keeps its ops.
//
// Test: test/Transforms/Training/raise-norms.mlir
//===----------------------------------------------------------------------===//

#include "NormPatterns.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using stablehlo::isSplatOf;
using stablehlo::matchReduction;
using stablehlo::placesElements;
using stablehlo::RowReduction;
using stablehlo::RowView;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<double> training::getSplatNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Attribute splat = stablehlo::getSplatElement(value);
    if (auto real = dyn_cast_or_null<FloatAttr>(splat))
      return real.getValueAsDouble();
    if (auto integer = dyn_cast_or_null<IntegerAttr>(splat))
      return static_cast<double>(integer.getValue().getSExtValue());
    if (auto difference = dyn_cast<stablehlo::SubtractOp>(op)) {
      std::optional<double> left = getSplatNumber(difference.getLhs());
      std::optional<double> right = getSplatNumber(difference.getRhs());
      if (!left || !right)
        return std::nullopt;
      return *left - *right;
    }
    if (!isa<stablehlo::ConvertOp, stablehlo::BroadcastInDimOp,
             stablehlo::ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The comparison of two numbers that holds: `number > 0`.
static bool isKnownGreater(Value pred) {
  while (pred.getDefiningOp<stablehlo::BroadcastInDimOp>())
    pred = pred.getDefiningOp()->getOperand(0);
  auto compare = pred.getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::GT)
    return false;
  std::optional<double> left = getSplatNumber(compare.getLhs());
  std::optional<double> right = getSplatNumber(compare.getRhs());
  return left && right && *left > *right;
}

/// b of `b * b`, `square b` or `power(b, 2)`.
static Value matchSquare(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_or_null<stablehlo::MulOp>(op))
    return product.getLhs() == product.getRhs() ? product.getLhs() : Value();
  if (auto square = dyn_cast_or_null<chlo::SquareOp>(op))
    return square.getOperand();
  if (auto power = dyn_cast_or_null<stablehlo::PowOp>(op))
    return isSplatOf(power.getRhs(), 2) ? power.getLhs() : Value();
  return Value();
}

//===----------------------------------------------------------------------===//
// Means of rows
//===----------------------------------------------------------------------===//

static int64_t countElements(const RowReduction &reduction) {
  int64_t count = 1;
  for (int64_t dim : reduction.dims)
    count *= getShape(reduction.input)[dim];
  return count;
}

/// The sum of which `view` shows the mean, and the mean.
static std::optional<RowReduction> matchMean(RowView view,
                                             Value *mean = nullptr) {
  view.peel();
  if (mean)
    *mean = view.value;
  Operation *op = view.value.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::DivOp, stablehlo::MulOp>(op))
    return std::nullopt;
  bool isQuotient = isa<stablehlo::DivOp>(op);
  for (unsigned i : {0u, 1u}) {
    std::optional<double> number = getSplatNumber(op->getOperand(1 - i));
    if (!number || (isQuotient && i == 1))
      continue;
    std::optional<RowReduction> sum = matchReduction(
        view.through(op->getOperand(i)).peel(), ReductionKind::sum);
    if (!sum)
      continue;
    double size = static_cast<double>(countElements(*sum));
    Type element = getElementTypeOrSelf(view.value.getType());
    auto wanted = cast<FloatAttr>(
        stablehlo::elementOf(element, isQuotient ? size : 1 / size));
    if (wanted.getValueAsDouble() == *number)
      return sum;
  }
  return std::nullopt;
}

/// x of `x - mean x` along `dims`, and the mean.
static Value matchCentred(Value value, ArrayRef<int64_t> dims,
                          Value *meanOf = nullptr) {
  auto difference = value.getDefiningOp<stablehlo::SubtractOp>();
  if (!difference)
    return Value();
  std::optional<RowReduction> mean =
      matchMean(RowView::of(difference.getRhs()), meanOf);
  bool isMean = mean && mean->input == difference.getLhs() &&
                ArrayRef<int64_t>(mean->dims) == dims;
  return isMean ? difference.getLhs() : Value();
}

/// mean(x^2) - mean(x)^2, not below 0 by some spellings.
static bool matchDifferenceOfMeans(const RowView &view, NormMatch &match) {
  auto difference = view.value.getDefiningOp<stablehlo::SubtractOp>();
  if (!difference)
    return false;
  std::optional<RowReduction> squares =
      matchMean(view.through(difference.getLhs()));
  RowView squared = view.through(difference.getRhs()).peel();
  Value mean = matchSquare(squared.value);
  if (!squares || !mean)
    return false;
  Value meanOf;
  std::optional<RowReduction> sum = matchMean(squared.through(mean), &meanOf);
  Value x = matchSquare(squares->input);
  if (!sum || !x || sum->input != x || sum->dims != squares->dims)
    return false;
  match.x = x;
  match.isCentred = match.isDifference = true;
  match.dims = sum->dims;
  match.squares = squares->input;
  match.means.push_back(meanOf);
  return true;
}

/// The variance or mean square that `view` shows.
static bool matchMeanSquare(RowView view, NormMatch &match) {
  match.variance = view.peel().value;
  // JAX's variance is NaN where no element would be left to divide by.
  if (auto select = view.value.getDefiningOp<stablehlo::SelectOp>();
      select && isKnownGreater(select.getPred()))
    view = view.through(select.getOnTrue()).peel();
  if (auto bound = view.value.getDefiningOp<stablehlo::MaxOp>())
    for (unsigned i : {0u, 1u})
      if (std::optional<double> number = getSplatNumber(bound->getOperand(i));
          number && *number == 0)
        return matchDifferenceOfMeans(
            view.through(bound->getOperand(1 - i)).peel(), match);
  if (matchDifferenceOfMeans(view, match))
    return true;
  std::optional<RowReduction> squares = matchMean(view);
  Value base = squares ? matchSquare(squares->input) : Value();
  if (!base)
    return false;
  match.dims = squares->dims;
  match.squares = squares->input;
  Value mean;
  if (Value x = matchCentred(base, squares->dims, &mean)) {
    match.means.push_back(mean);
    match.centred = base;
    base = x;
    match.isCentred = true;
  }
  match.x = base;
  return true;
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

static bool matchUnderRoot(RowView view, NormMatch &match) {
  view.peel();
  if (auto sum = view.value.getDefiningOp<stablehlo::AddOp>())
    for (unsigned i : {0u, 1u})
      if (std::optional<double> epsilon = getSplatNumber(sum->getOperand(i));
          epsilon && *epsilon >= 0) {
        match.epsilon = *epsilon;
        return matchMeanSquare(view.through(sum->getOperand(1 - i)), match);
      }
  return matchMeanSquare(view, match);
}

/// sqrt or power(., 0.5).
static bool matchRoot(RowView view, NormMatch &match) {
  view.peel();
  match.root = view.value;
  if (auto root = view.value.getDefiningOp<stablehlo::SqrtOp>())
    return matchUnderRoot(view.through(root.getOperand()), match);
  auto power = view.value.getDefiningOp<stablehlo::PowOp>();
  return power && isSplatOf(power.getRhs(), 0.5) &&
         matchUnderRoot(view.through(power.getLhs()), match);
}

static bool matchInverseRoot(RowView view, NormMatch &match) {
  view.peel();
  match.root = view.value;
  if (auto root = view.value.getDefiningOp<stablehlo::RsqrtOp>())
    return matchUnderRoot(view.through(root.getOperand()), match);
  if (auto power = view.value.getDefiningOp<stablehlo::PowOp>())
    return isSplatOf(power.getRhs(), -0.5) &&
           matchUnderRoot(view.through(power.getLhs()), match);
  auto quotient = view.value.getDefiningOp<stablehlo::DivOp>();
  std::optional<double> one =
      quotient ? getSplatNumber(quotient.getLhs()) : std::nullopt;
  return one && *one == 1 && matchRoot(view.through(quotient.getRhs()), match);
}

/// Rows lie in the last dimensions, or are features.
static bool findRows(NormMatch &match) {
  int64_t rank = getShape(match.x).size(), size = match.dims.size();
  if (size == 0)
    return false;
  if (match.dims.back() == rank - 1 && match.dims.front() == rank - size)
    return true;
  if (!match.isCentred || size != rank - 1)
    return false;
  int64_t feature = 0;
  while (feature < size && match.dims[feature] == feature)
    ++feature;
  match.feature = feature;
  return true;
}

/// A product of inverse root and something else, of rows: it brings the root
/// in.
static bool matchScaledRoot(RowView view, NormMatch &match) {
  auto product = view.peel().value.getDefiningOp<stablehlo::MulOp>();
  for (unsigned i = 0; product && i < 2; ++i) {
    NormMatch scaled = match;
    scaled.op = product;
    scaled.rootOperand = i;
    if (!matchInverseRoot(view.through(product->getOperand(i)), scaled))
      continue;
    match = scaled;
    return true;
  }
  return false;
}

std::optional<NormMatch> training::matchNorm(Operation *op, StringRef &reason) {
  reason = {};
  if (!isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return std::nullopt;
  bool isQuotient = isa<stablehlo::DivOp>(op);
  for (unsigned i : {1u, 0u}) {
    NormMatch match;
    match.op = op;
    match.rootOperand = i;
    RowView view = RowView::of(op->getOperand(i));
    bool isRoot = isQuotient ? i == 1 && matchRoot(view, match)
                             : matchInverseRoot(view, match) ||
                                   matchScaledRoot(view, match);
    if (!isRoot)
      continue;
    if (!isa<FloatType>(getElementTypeOrSelf(match.x.getType())))
      return std::nullopt;
    if (findRows(match))
      return match;
    reason = match.isCentred ? "its rows are neither of the last dimensions "
                               "nor of all but one"
                             : "its rows are not of the last dimensions";
    return std::nullopt;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

/// What is multiplied by the root: x itself, or x minus its mean.
static bool isNormalized(Value value, const NormMatch &match) {
  return match.isCentred ? matchCentred(value, match.dims) == match.x
                         : value == match.x;
}

/// The use of x (minus its mean) in the product `value`, whose other factors
/// have no other uses; null where there is none.
static OpOperand *findFactor(OpOperand &use, const NormMatch &match) {
  SmallVector<OpOperand *> work = {&use};
  for (unsigned steps = 0; !work.empty() && steps < 8; ++steps) {
    OpOperand *next = work.pop_back_val();
    if (isNormalized(next->get(), match))
      return next;
    auto product = next->get().getDefiningOp<stablehlo::MulOp>();
    if (product && product->hasOneUse())
      for (OpOperand &operand : product->getOpOperands())
        work.push_back(&operand);
  }
  return nullptr;
}

/// The factor in the op itself, or in the product that alone takes its result,
/// through shape ops: x * (root * scale).
static OpOperand *findFactorAround(const NormMatch &match) {
  OpOperand &other = match.op->getOpOperand(1 - match.rootOperand);
  if (OpOperand *factor = findFactor(other, match))
    return factor;
  if (!isa<stablehlo::MulOp>(match.op))
    return nullptr;
  Value value = match.op->getResult(0);
  while (value.hasOneUse() && placesElements(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  if (!value.hasOneUse())
    return nullptr;
  auto product = dyn_cast<stablehlo::MulOp>(*value.user_begin());
  if (!product || product.getLhs() == product.getRhs())
    return nullptr;
  unsigned number = product.getLhs() == value ? 1 : 0;
  return findFactor(product->getOpOperand(number), match);
}

/// Every use of the root, through shape ops and `1 / .`, is in the op.
static bool isRootOnlyIn(const NormMatch &match) {
  SmallVector<Value> work = {match.root};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user == match.op)
        continue;
      auto quotient = dyn_cast<stablehlo::DivOp>(user);
      std::optional<double> one =
          quotient ? getSplatNumber(quotient.getLhs()) : std::nullopt;
      if (!placesElements(user) && !(one && *one == 1))
        return false;
      work.push_back(user->getResult(0));
    }
  }
  return true;
}

/// The squares have no use but their sum, the centred rows none but squares and
/// the factor.
static bool areInnerOnlyIn(const NormMatch &match, OpOperand *factor) {
  if (!match.squares.hasOneUse())
    return false;
  SmallVector<Value> rows;
  if (match.isCentred)
    rows = {match.centred ? match.centred : factor->get(), factor->get()};
  return llvm::all_of(rows, [&](Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      return &use == factor || use.getOwner() == match.squares.getDefiningOp();
    });
  });
}

bool training::raiseNorm(const NormMatch &match, StringRef &reason) {
  OpOperand *factor = findFactorAround(match);
  if (!factor) {
    reason = "what is divided is not what the root is of";
    return false;
  }
  if (!isRootOnlyIn(match)) {
    reason = "the root has other uses";
    return false;
  }
  if (!areInnerOnlyIn(match, factor)) {
    reason = "the rows or their squares have other uses";
    return false;
  }
  if (match.feature) {
    NormMatch batch = match;
    matchCentred(factor->get(), match.dims, &batch.means.emplace_back());
    raiseBatchNorm(batch, *factor);
    return true;
  }
  OpBuilder builder(factor->getOwner());
  Location loc = match.op->getLoc();
  int64_t dims = match.dims.size();
  Value result;
  if (match.isCentred)
    result = nn::LayerNormOp::create(builder, loc, match.x, dims, match.epsilon)
                 .getResult();
  else
    result = nn::RmsNormOp::create(builder, loc, match.x, dims, match.epsilon)
                 .getResult();
  factor->set(result);
  Value rest = match.op->getOperand(1 - match.rootOperand);
  match.op->getResult(0).replaceAllUsesWith(rest);
  return true;
}
