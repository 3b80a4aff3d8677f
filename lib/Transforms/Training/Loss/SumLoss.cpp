//===- SumLoss.cpp - The loss as a sum and a count ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %s = reduce add %x            // over 8 x 128 elements
//   %m = divide %s, 1024.0
//   return negate %m              ->  return negate %s, 1024.0
//
// With several microbatches the loss must be linear in means over the batch
// (BatchSums.h); otherwise the error names the op at which it is not.
//
// From the result upwards, the scalar ops that are linear in the loss are
// followed to a division by the count: by a value that depends on the data
// alone (the sum of a mask), or by a number of elements that the sum below
// runs over. That op is left out of the sum, and all others are kept. A bound
// of a count, max(sum(mask), 1), becomes a function that the update applies to
// the total.
//
// A loss with several counts of the data keeps its divisions, with the counts
// of the whole step in place of those of the microbatch. The entry
// @<training>.counts gives those of one microbatch as metrics; who runs the
// step adds them up first, as the external hyper values of the same names.
// Every other loss is its own sum, with count 1; so is a loss whose gradients
// the text has: they are those of the mean.
//
// Tests: test/Transforms/Training/sum-loss*.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "BatchSums.h"
#include "CountFirst.h"
#include "CountTotals.h"
#include "Evaluation.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

namespace llmc {
#define GEN_PASS_DEF_SUMLOSSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;
using llmc::training::BatchState;
using llmc::training::BatchSums;
using llmc::training::CountTotals;
using llmc::training::kLossRemedy;
using llmc::training::refuseLoss;
using llmc::training::toScalar;

namespace {

/// One scalar op between the sum and the loss.
struct ScalarLink {
  Operation *op;
  /// The operand that leads to the sum.
  unsigned operand;
  /// What it divides by; 0 for other ops.
  double divisor = 0;
};

/// The loss as what is added up over microbatches and devices.
struct SumAndCount {
  Value sum, count;
  /// What the update makes of the total count: @<training>.count_bound, or
  /// null.
  func::FuncOp bound;
};

} // namespace

//===----------------------------------------------------------------------===//
// One count
//===----------------------------------------------------------------------===//

static bool isOneFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() == 1 &&
         isa<FloatType>(type.getElementType());
}

static std::optional<ScalarLink> matchLink(Operation *op,
                                           const BatchSums &batch) {
  auto isFixed = [&](unsigned i) {
    return batch.get(op->getOperand(i)).kind == BatchState::Kind::Fixed;
  };
  if (!isOneFloat(op->getResult(0)))
    return std::nullopt;
  if (isa<stablehlo::NegOp, stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
    return ScalarLink{op, 0};
  if (isa<stablehlo::DivOp>(op) && isFixed(1))
    return ScalarLink{op, 0,
                      training::getNumber(op->getOperand(1)).value_or(0)};
  if (isa<stablehlo::MulOp>(op))
    for (unsigned i : {0u, 1u})
      if (isFixed(1 - i)) {
        double factor = training::getNumber(op->getOperand(1 - i)).value_or(0);
        return ScalarLink{op, i, factor ? 1 / factor : 0};
      }
  return std::nullopt;
}

/// The links from the loss down to the first op that is none.
static SmallVector<ScalarLink> followLinks(Value loss, const BatchSums &batch,
                                           Operation *&end) {
  SmallVector<ScalarLink> links;
  for (end = loss.getDefiningOp(); end;) {
    std::optional<ScalarLink> link = matchLink(end, batch);
    if (!link)
      break;
    links.push_back(*link);
    end = end->getOperand(link->operand).getDefiningOp();
  }
  return links;
}

/// Builds `links`, the loss first, again on `value`.
static Value rebuild(OpBuilder &builder, ArrayRef<ScalarLink> links,
                     Value value) {
  for (const ScalarLink &link : llvm::reverse(links)) {
    Operation *clone = builder.clone(*link.op);
    clone->setOperand(link.operand, value);
    value = clone->getResult(0);
  }
  return value;
}

/// Whether `divisor` is the product of some of the sizes: the whole count of
/// elements, or that of samples. Within the rounding of a reciprocal.
static bool isCountOf(double divisor, ArrayRef<int64_t> sizes) {
  constexpr double mostElements = 0x1p63; // not even a tensor has so many
  double count = std::round(divisor);
  if (!(count >= 1 && count < mostElements) ||
      std::abs(divisor - count) > 1e-6 * count)
    return false;
  llvm::DenseSet<int64_t> products;
  products.insert(1);
  for (int64_t size : sizes) {
    SmallVector<int64_t> longer;
    for (int64_t product : products)
      longer.push_back(product * size);
    products.insert(longer.begin(), longer.end());
  }
  // A division by 1 counts only where there is just one element.
  return products.contains(static_cast<int64_t>(count)) &&
         (count > 1 || llvm::all_of(sizes, [](int64_t s) { return s == 1; }));
}

/// Sizes over which `op` sums; none for what is no sum.
static SmallVector<int64_t> getSummedSizes(Operation *op) {
  auto reduce = dyn_cast_if_present<stablehlo::ReduceOp>(op);
  SmallVector<int64_t> sizes;
  if (!reduce ||
      stablehlo::reduceKindOf(reduce.getBody()) != ReductionKind::sum)
    return sizes;
  auto input = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  for (int64_t dim : reduce.getDimensions())
    sizes.push_back(input.getDimSize(dim));
  return sizes;
}

/// A sum with a constant count: true divisions before reciprocals.
static std::optional<SumAndCount> matchConstant(OpBuilder &builder, Value loss,
                                                const BatchSums &batch) {
  Operation *end;
  SmallVector<ScalarLink> links = followLinks(loss, batch, end);
  SmallVector<int64_t> sizes = getSummedSizes(end);
  if (sizes.empty())
    return std::nullopt;
  for (bool isReciprocal : {false, true})
    for (auto [i, link] : llvm::enumerate(links)) {
      if (isReciprocal != isa<stablehlo::MulOp>(link.op) ||
          !isCountOf(link.divisor, sizes))
        continue;
      Value value = link.op->getOperand(link.operand);
      Value sum = toScalar(
          builder, rebuild(builder, ArrayRef(links).take_front(i), value));
      return SumAndCount{sum,
                         stablehlo::scalar(builder, loss.getLoc(),
                                           getElementTypeOrSelf(sum.getType()),
                                           std::round(link.divisor))};
    }
  return std::nullopt;
}

static LogicalResult checkExact(dist::TrainingOp recipe, Value loss,
                                const BatchSums &batch) {
  if (batch.isMean(loss))
    return success();
  const BatchState &state = batch.get(loss);
  if (state.kind == BatchState::Kind::Mixed)
    return refuseLoss(state.culprit, recipe) << state.reason << kLossRemedy;
  return refuseLoss(loss.getDefiningOp(), recipe)
         << "is a sum over the batch that no number of its elements divides"
         << kLossRemedy;
}

namespace {

class SumLossPass : public llmc::impl::SumLossPassBase<SumLossPass> {
public:
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto recipe :
         llvm::to_vector(getOperation().getOps<dist::TrainingOp>())) {
      FailureOr<func::FuncOp> microbatch = makeMicrobatch(recipe, symbols);
      if (failed(microbatch))
        return signalPassFailure();
      // Where counts are counted first, one batch is divided by its own.
      bool countsFirst = static_cast<bool>(dist::findCounting(recipe));
      training::makeEvaluation(
          recipe,
          countsFirst ? symbols.lookup<func::FuncOp>(recipe.getForward())
                      : *microbatch,
          symbols);
    }
  }

private:
  FailureOr<func::FuncOp> makeMicrobatch(dist::TrainingOp recipe,
                                         SymbolTable &symbols);
  FailureOr<SumAndCount> splitLoss(dist::TrainingOp recipe,
                                   func::FuncOp function, Value loss,
                                   SymbolTable &symbols);
  std::optional<SumAndCount> matchCounted(OpBuilder &builder,
                                          dist::TrainingOp recipe, Value loss,
                                          const BatchSums &batch,
                                          SymbolTable &symbols);
  func::FuncOp makeBound(dist::TrainingOp recipe, Value root, Value count,
                         Type element, const BatchSums &batch,
                         SymbolTable &symbols);
};

} // namespace

//===----------------------------------------------------------------------===//
// Counts of the data
//===----------------------------------------------------------------------===//

/// @<training>.count_bound: the count as the text uses it, from its root.
func::FuncOp SumLossPass::makeBound(dist::TrainingOp recipe, Value root,
                                    Value count, Type element,
                                    const BatchSums &batch,
                                    SymbolTable &symbols) {
  auto type = RankedTensorType::get({}, element);
  OpBuilder builder(recipe.getContext());
  auto function =
      func::FuncOp::create(recipe.getLoc(), training::getBoundName(recipe),
                           builder.getFunctionType({type}, {type}));
  function.setPrivate();
  symbols.insert(function, recipe->getIterator());
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Location loc = count.getLoc();
  auto rootType = cast<RankedTensorType>(root.getType());
  Value total = stablehlo::convertTo(builder, loc, body->getArgument(0),
                                     rootType.getElementType());
  CountTotals totals(batch, recipe.getMicrobatches());
  totals.setTotal(root,
                  stablehlo::reshape(builder, loc, total, rootType.getShape()));
  Value bound = toScalar(builder, totals.build(builder, count));
  func::ReturnOp::create(builder, loc,
                         stablehlo::convertTo(builder, loc, bound, element));
  return function;
}

/// One sum, divided by one count of the data: both are added up.
std::optional<SumAndCount> SumLossPass::matchCounted(OpBuilder &builder,
                                                     dist::TrainingOp recipe,
                                                     Value loss,
                                                     const BatchSums &batch,
                                                     SymbolTable &symbols) {
  SmallVector<OpOperand *> scales = batch.findScales(loss);
  Operation *end;
  SmallVector<ScalarLink> links = followLinks(loss, batch, end);
  auto division = dyn_cast_if_present<stablehlo::DivOp>(end);
  if (!division || scales.size() != 1 ||
      scales[0] != &division->getOpOperand(1) ||
      batch.get(division.getLhs()).kind == BatchState::Kind::Fixed)
    return std::nullopt;
  Value count = division.getRhs();
  const BatchState &state = batch.get(count);
  llvm::SetVector<Value> roots;
  batch.findRoots(count, roots);
  bool isBound = state.kind == BatchState::Kind::Count;
  if (!isOneFloat(count) ||
      (isBound && (roots.size() != 1 || state.pickDegree() != 1)))
    return std::nullopt;
  SumAndCount found;
  found.sum = toScalar(builder, rebuild(builder, links, division.getLhs()));
  Type element = getElementTypeOrSelf(found.sum.getType());
  if (isBound)
    found.bound = makeBound(recipe, roots[0], count, element, batch, symbols);
  found.count = stablehlo::convertTo(
      builder, count.getLoc(), toScalar(builder, isBound ? roots[0] : count),
      element);
  return found;
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// Results that are added up beside the loss: the model's own metrics, as
/// floats of the type of `sum`. Import has named and checked them.
static void addMetricSums(func::FuncOp function, Value sum, int64_t block,
                          SmallVectorImpl<Value> &values,
                          SmallVectorImpl<PortAttr> &ports) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringAttr name = dist::getMetric(dist::getResultPort(function, i));
    if (!name)
      continue;
    Value value = terminator->getOperand(i);
    value = stablehlo::convertTo(builder, value.getLoc(), value,
                                 getElementTypeOrSelf(sum.getType()));
    if (Operation *op = value.getDefiningOp();
        op && !training::getBlockMark(op))
      training::setBlockMark(op, block);
    values.push_back(value);
    ports.push_back(PortAttr::get(builder.getContext(), PortKind::MetricSum,
                                  name.getValue()));
  }
}

/// Replaces the results: the loss by sum and count, others are kept if they
/// write a state, or are gradients or metrics.
static void setResults(func::FuncOp function, unsigned lossIndex, Value sum,
                       Value count, int64_t block) {
  MLIRContext *context = function.getContext();
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> values = {sum, count};
  dist::Signature signature(function);
  SmallVector<PortAttr> ports = {PortAttr::get(context, PortKind::LossSum),
                                 PortAttr::get(context, PortKind::Count)};
  for (auto [i, port] : llvm::enumerate(signature.results))
    if (i != lossIndex && dist::getStateOrGradientOf(port)) {
      values.push_back(terminator->getOperand(i));
      ports.push_back(port);
    }
  addMetricSums(function, sum, block, values, ports);
  training::setResults(function, values);
  signature.results = ports;
  signature.write(function);
}

FailureOr<SumAndCount> SumLossPass::splitLoss(dist::TrainingOp recipe,
                                              func::FuncOp function, Value loss,
                                              SymbolTable &symbols) {
  OpBuilder builder(function.front().getTerminator());
  BatchSums batch(function);
  bool isStep = recipe.getMicrobatches() > 1;
  bool isMean = isStep && recipe.getMeanOfMicrobatches();
  if (isStep && !isMean && failed(checkExact(recipe, loss, batch)))
    return failure();
  SmallVector<OpOperand *> scales;
  if (!isMean && batch.isMean(loss))
    scales = batch.findScales(loss);
  if (scales.empty())
    if (std::optional<SumAndCount> found =
            matchConstant(builder, loss, batch)) {
      if (std::optional<double> count = training::getNumber(found->count))
        remark::analysis(loss.getLoc(), training::remarkOf("loss"))
            << "the loss of one microbatch is a sum over "
            << std::to_string(static_cast<int64_t>(*count))
            << " counted elements";
      return *found;
    }
  if (!scales.empty()) {
    if (std::optional<SumAndCount> found =
            matchCounted(builder, recipe, loss, batch, symbols))
      return *found;
    if (isStep &&
        failed(training::countFirst(recipe, function, scales, batch, symbols)))
      return failure();
  }
  Value sum = toScalar(builder, loss);
  return SumAndCount{sum,
                     stablehlo::scalar(builder, loss.getLoc(),
                                       getElementTypeOrSelf(sum.getType()), 1)};
}

/// The mean over microbatches of each gradient of the text must be that of the
/// whole batch, as that of the loss.
static LogicalResult checkGradients(dist::TrainingOp recipe,
                                    func::FuncOp function, Value loss) {
  BatchSums batch(function);
  if (failed(checkExact(recipe, loss, batch)))
    return failure();
  if (SmallVector<OpOperand *> scales = batch.findScales(loss); !scales.empty())
    return refuseLoss(scales[0]->getOwner(), recipe)
           << "has a sum of the data, by which the gradients of the text are "
              "divided too; return the loss alone, or set training.loss = "
              "\"mean of microbatches\"";
  Operation *terminator = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FlatSymbolRefAttr state =
        dist::getGradientOf(dist::getResultPort(function, i));
    const BatchState &gradient = batch.get(terminator->getOperand(i));
    if (state && gradient.kind == BatchState::Kind::Mixed && !gradient.isAffine)
      return refuseLoss(gradient.culprit, recipe)
             << "the gradient of " << state << " depends on: it "
             << gradient.reason;
  }
  return success();
}

/// Of a loss whose gradients the text has.
static FailureOr<SumAndCount> takeMean(dist::TrainingOp recipe,
                                       func::FuncOp function, Value loss) {
  if (recipe.getMicrobatches() > 1 && !recipe.getMeanOfMicrobatches() &&
      failed(checkGradients(recipe, function, loss)))
    return failure();
  OpBuilder builder(function.front().getTerminator());
  Value sum = toScalar(builder, loss);
  return SumAndCount{sum,
                     stablehlo::scalar(builder, loss.getLoc(),
                                       getElementTypeOrSelf(sum.getType()), 1)};
}

FailureOr<func::FuncOp> SumLossPass::makeMicrobatch(dist::TrainingOp recipe,
                                                    SymbolTable &symbols) {
  auto forward = symbols.lookup<func::FuncOp>(recipe.getForward());
  if (forward.isExternal())
    return recipe.emitOpError() << "expected @" << forward.getName()
                                << " to have a body, got a declaration";
  func::FuncOp function = forward.clone();
  function.setName(training::getMicrobatchName(recipe));
  function.setPrivate();
  symbols.insert(function, std::next(forward->getIterator()));

  unsigned lossIndex = training::findLoss(function);
  Value loss = function.front().getTerminator()->getOperand(lossIndex);
  if (!isOneFloat(loss))
    return recipe.emitOpError() << "expected the loss of @" << forward.getName()
                                << " to be one float, got " << loss.getType();
  int64_t block = training::getBlockOf(loss);
  FailureOr<SumAndCount> found =
      training::hasDerivative(function)
          ? takeMean(recipe, function, loss)
          : splitLoss(recipe, function, loss, symbols);
  if (failed(found))
    return failure();
  training::markNewBlocks(function, block);
  setResults(function, lossIndex, found->sum, found->count, block);
  training::eraseDeadOps(function.front());
  return function;
}
