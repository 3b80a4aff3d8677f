//===- SumLoss.cpp - The loss as a sum and a count ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %s = reduce add %x            // over 8 x 128 elements
//   %m = divide %s, 1024.0
//   return negate %m              ->  return negate %s, 1024.0
//
// From the result upwards, the scalar ops that are linear in the loss are
// followed down to a sum. One of them divides by the count: a division by a
// number of elements that the sum runs over (the product of some of its
// dimensions), or by a value that depends on the data alone (the sum of a
// mask). That op is left out of the sum, and all others are kept.
//
// Test: test/Transforms/Training/sum-loss.mlir
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/StepSums.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
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
using llmc::dist::DistDialect;

namespace {

/// One scalar op between the sum and the loss.
struct ScalarLink {
  Operation *op;
  /// The operand that leads to the sum.
  unsigned operand;
  /// What it divides by: a constant, or a value; neither for other ops.
  double divisor = 0;
  Value divisorValue;
};

/// The ops from the loss (first) to the sum, and the sizes it runs over.
struct LossChain {
  SmallVector<ScalarLink> links;
  Operation *sum = nullptr;
  SmallVector<int64_t> sizes;
};

} // namespace

static std::optional<double> getConstant(Value value) {
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// Values that depend on a parameter.
static llvm::DenseSet<Value> findParameterDependent(func::FuncOp function) {
  llvm::DenseSet<Value> dependent;
  for (BlockArgument argument : function.getArguments())
    if (training::isParameter(function, argument.getArgNumber()))
      dependent.insert(argument);
  for (Operation &op : function.front())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return dependent.contains(v); }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

static std::optional<ScalarLink>
matchLink(Operation *op, const llvm::DenseSet<Value> &dependent) {
  if (isa<stablehlo::NegOp, stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
    return ScalarLink{op, 0};
  if (auto divide = dyn_cast<stablehlo::DivOp>(op)) {
    if (std::optional<double> constant = getConstant(divide.getRhs()))
      return ScalarLink{op, 0, *constant};
    if (!dependent.contains(divide.getRhs()))
      return ScalarLink{op, 0, 0, divide.getRhs()};
  }
  if (isa<stablehlo::MulOp>(op))
    for (unsigned i : {0u, 1u})
      if (std::optional<double> constant = getConstant(op->getOperand(1 - i));
          constant && *constant != 0)
        return ScalarLink{op, i, 1 / *constant};
  return std::nullopt;
}

static LossChain followChain(Value loss,
                             const llvm::DenseSet<Value> &dependent) {
  LossChain chain;
  for (Operation *op = loss.getDefiningOp(); op;) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || type.getNumElements() != 1)
      break;
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
      if (stablehlo::reduceKindOf(reduce.getBody()) !=
          stablehlo::ReduceKind::Add)
        break;
      auto input = cast<RankedTensorType>(reduce.getInputs()[0].getType());
      for (int64_t dim : reduce.getDimensions())
        chain.sizes.push_back(input.getDimSize(dim));
      chain.sum = op;
      break;
    }
    std::optional<ScalarLink> link = matchLink(op, dependent);
    if (!link)
      break;
    chain.links.push_back(*link);
    op = op->getOperand(link->operand).getDefiningOp();
  }
  return chain;
}

/// Whether `divisor` is the product of some of the sizes: the whole count of
/// elements, or that of samples. Within the rounding of a reciprocal.
static bool isCountOf(double divisor, ArrayRef<int64_t> sizes) {
  double count = std::round(divisor);
  if (count < 1 || std::abs(divisor - count) > 1e-6 * count)
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

/// The link that divides by the count: true divisions before reciprocals.
static const ScalarLink *findDivision(const LossChain &chain) {
  if (!chain.sum)
    return nullptr;
  for (bool reciprocal : {false, true})
    for (const ScalarLink &link : chain.links) {
      if (reciprocal != isa<stablehlo::MulOp>(link.op))
        continue;
      if (link.divisorValue || isCountOf(link.divisor, chain.sizes))
        return &link;
    }
  return nullptr;
}

/// Builds the links above the division again, on what it divides.
static Value rebuildWithout(OpBuilder &builder, const LossChain &chain,
                            const ScalarLink *division) {
  Value value = division->op->getOperand(division->operand);
  for (const ScalarLink *link = division; link != chain.links.begin();) {
    --link;
    Operation *clone = builder.clone(*link->op);
    clone->setOperand(link->operand, value);
    value = clone->getResult(0);
  }
  return value;
}

/// Sums are at least f32 scalars.
static Value toSumType(OpBuilder &builder, Value value, int64_t block) {
  Location loc = value.getLoc();
  Type element = getElementTypeOrSelf(value.getType());
  if (element.getIntOrFloatBitWidth() < 32)
    value = stablehlo::convertTo(builder, loc, value, builder.getF32Type());
  value = stablehlo::reshape(builder, loc, value, {});
  if (Operation *op = value.getDefiningOp(); op && !training::getBlockMark(op))
    training::setBlockMark(op, block);
  return value;
}

static InFlightDiagnostic refuse(dist::TrainingOp training, Value loss) {
  InFlightDiagnostic diag =
      emitRefusal(training)
      << "expected the loss of " << training.getForwardAttr()
      << " to be a sum divided by a count, since the step has "
      << training.getMicrobatches()
      << " microbatches, got a loss that cannot be added up; write it as a "
         "mean over the batch, or set microbatches to 1";
  diag.attachNote(loss.getLoc()) << "the loss is computed here";
  return diag;
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
      makeEvaluation(recipe, *microbatch, symbols);
    }
  }

private:
  FailureOr<func::FuncOp> makeMicrobatch(dist::TrainingOp recipe,
                                         SymbolTable &symbols);
  void makeEvaluation(dist::TrainingOp recipe, func::FuncOp microbatch,
                      SymbolTable &symbols);
};

} // namespace

/// Results that are added up beside the loss: the model's own metrics, as
/// floats of the type of `sum`. Import has named and checked them.
static void addMetricSums(func::FuncOp function, Value sum, int64_t block,
                          SmallVectorImpl<Value> &values,
                          SmallVectorImpl<DictionaryAttr> &marks) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name =
        function.getResultAttrOfType<StringAttr>(i, DistDialect::kMetric);
    if (!name)
      continue;
    Value value = terminator->getOperand(i);
    value = stablehlo::convertTo(builder, value.getLoc(), value,
                                 getElementTypeOrSelf(sum.getType()));
    if (Operation *op = value.getDefiningOp();
        op && !training::getBlockMark(op))
      training::setBlockMark(op, block);
    values.push_back(value);
    marks.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        DistDialect::kRole,
        builder.getStringAttr(dist::kMetricSum + name.getValue()))));
  }
}

/// Replaces the results: the loss by sum and count, others are kept if they
/// write a state or are metrics.
static void setResults(func::FuncOp function, unsigned lossIndex, Value sum,
                       Value count, int64_t block) {
  MLIRContext *context = function.getContext();
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> values = {sum, count};
  SmallVector<DictionaryAttr> marks;
  for (StringRef role : {"loss_sum", "count"})
    marks.push_back(DictionaryAttr::get(
        context, NamedAttribute(StringAttr::get(context, DistDialect::kRole),
                                StringAttr::get(context, role))));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (i != lossIndex && function.getResultAttr(i, DistDialect::kWrites)) {
      values.push_back(terminator->getOperand(i));
      marks.push_back(function.getResultAttrDict(i));
    }
  addMetricSums(function, sum, block, values, marks);
  terminator->setOperands(values);
  function.setType(FunctionType::get(context, function.getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  function.setAllResultAttrs(marks);
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

  unsigned lossIndex = 0;
  while (training::getResultRole(function, lossIndex) != "loss")
    ++lossIndex;
  Operation *terminator = function.front().getTerminator();
  Value loss = terminator->getOperand(lossIndex);
  auto type = dyn_cast<RankedTensorType>(loss.getType());
  if (!type || type.getNumElements() != 1 ||
      !isa<FloatType>(type.getElementType()))
    return recipe.emitOpError() << "expected the loss of @" << forward.getName()
                                << " to be one float, got " << loss.getType();
  Operation *lossOp = loss.getDefiningOp();
  int64_t block = lossOp ? training::getBlockMark(lossOp).value_or(0) : 0;

  OpBuilder builder(terminator);
  LossChain chain = followChain(loss, findParameterDependent(function));
  const ScalarLink *division = findDivision(chain);
  if (!division && recipe.getMicrobatches() > 1)
    return refuse(recipe, loss);
  Value sum = division ? rebuildWithout(builder, chain, division) : loss;
  sum = toSumType(builder, sum, block);
  Value count;
  if (division && division->divisorValue) {
    count = toSumType(builder, division->divisorValue, block);
    count = stablehlo::convertTo(builder, count.getLoc(), count,
                                 getElementTypeOrSelf(sum.getType()));
  } else {
    double number = division ? std::round(division->divisor) : 1.0;
    count = stablehlo::scalar(builder, loss.getLoc(),
                              getElementTypeOrSelf(sum.getType()), number);
    remark::analysis(loss.getLoc(), training::remarkOf("loss"))
        << "the loss of one microbatch is a sum over "
        << std::to_string(static_cast<int64_t>(number)) << " counted elements";
  }
  if (Operation *op = count.getDefiningOp(); op && !training::getBlockMark(op))
    training::setBlockMark(op, block);
  setResults(function, lossIndex, sum, count, block);
  training::eraseDeadOps(function.front());
  return function;
}

/// @evaluate: loss and count of one batch, as metrics.
void SumLossPass::makeEvaluation(dist::TrainingOp recipe,
                                 func::FuncOp microbatch,
                                 SymbolTable &symbols) {
  constexpr StringRef kEvaluate = "evaluate";
  auto entry = symbols.lookup<dist::EntryOp>(kEvaluate);
  if (entry ? entry.getFunction() != recipe.getForward()
            : static_cast<bool>(symbols.lookup(kEvaluate)))
    return;
  func::FuncOp function = microbatch.clone();
  function.setName((kEvaluate + ".function").str());
  symbols.insert(function, std::next(microbatch->getIterator()));

  MLIRContext *context = &getContext();
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  Value sum = terminator->getOperand(0), count = terminator->getOperand(1);
  Value mean = stablehlo::div(builder, sum.getLoc(), sum, count);
  if (Operation *op = sum.getDefiningOp())
    training::setBlockMark(mean.getDefiningOp(),
                           training::getBlockMark(op).value_or(0));
  SmallVector<Value> values = {mean, count};
  SmallVector<StringRef> names = {"loss", "count"};
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringRef role = training::getResultRole(function, i);
    if (role.consume_front(dist::kMetricSum)) {
      values.push_back(terminator->getOperand(i));
      names.push_back(role);
    }
  }
  terminator->setOperands(values);
  SmallVector<DictionaryAttr> marks;
  for (StringRef name : names)
    marks.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(DistDialect::kRole,
                              builder.getStringAttr("metric")),
         builder.getNamedAttr(DistDialect::kMetric,
                              builder.getStringAttr(name))}));
  function.setType(FunctionType::get(context, function.getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  function.setAllResultAttrs(marks);
  training::eraseDeadOps(function.front());

  auto symbol = FlatSymbolRefAttr::get(function.getNameAttr());
  if (entry) {
    entry.setFunctionAttr(symbol);
    return;
  }
  builder.setInsertionPointAfter(recipe);
  OperationState state(recipe.getLoc(), dist::EntryOp::getOperationName());
  state.addAttribute("sym_name", builder.getStringAttr(kEvaluate));
  state.addAttribute("function", symbol);
  symbols.insert(builder.create(state));
}
