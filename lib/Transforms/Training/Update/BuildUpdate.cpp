//===- BuildUpdate.cpp - The update function and the step -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   g_i   = gradient_i / count                  and by the scale (LossScale.h)
//   norm  = sqrt(sum_i sum(g_i * g_i))          metric "grad_norm"
//   g_i   = g_i * min(1, clip / norm)           where the recipe clips
//   loss  = loss_sum / count                    metric "loss"
//   g_i   = max(-v, min(v, g_i))                where it cuts by value
//   p_i, moments_i = optimizer(p_i, g_i, moments_i, hyper)
//   a_i   = d a_i + (1 - d) p_i                 where it averages (Averages.h)
//   p_i, moments_i = those before, where loss or norm is not finite and the
//                    recipe has `skip_not_finite`, or the norm is not and it
//                    has a scale
//   p_i, moments_i of bf16 are rounded to nearest, or by chance where the
//   recipe
//                    says so (StochasticRounding.h)
//
// where `count` is bounded as the text bounds it (@<training>.count_bound).
// All sums arrive added up over microbatches (`dist.step`). Squares are summed
// in the widest type of the loss and the gradients, which is f32 or f64,
// parameter by parameter in the order of the function.
//
// Test: test/Transforms/Training/build-update.mlir
//===----------------------------------------------------------------------===//

#include "../Floats/LossScale.h"
#include "../TrainingMarks.h"
#include "Averages.h"
#include "ClipGradients.h"
#include "OptimizerInstance.h"
#include "StochasticRounding.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {
#define GEN_PASS_DEF_BUILDUPDATEPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;
using llmc::training::Optimizer;

namespace {

/// One parameter with what its update takes.
struct Update {
  dist::StateOp state;
  const Optimizer *optimizer = nullptr;
  SmallVector<dist::StateOp> moments;
  /// Null where the recipe has none.
  dist::StateOp average;
  Value parameter, gradient, averageValue;
  SmallVector<Value> momentValues;
};

/// Builds @<training>.update for one recipe.
class UpdateBuilder {
public:
  UpdateBuilder(dist::TrainingOp recipe, func::FuncOp microbatch,
                SymbolTable &symbols)
      : recipe(recipe), microbatch(microbatch), symbols(symbols),
        builder(recipe.getContext()) {}

  FailureOr<func::FuncOp> build();

private:
  LogicalResult collectUpdates();
  LogicalResult makeStates(Update &update);
  FailureOr<const Optimizer *> findOptimizer(dist::StateOp state);
  dist::StateOp makeMoment(dist::StateOp state, StringRef moment,
                           RankedTensorType type);
  void setAccumulate(dist::StateOp state);
  LogicalResult collectHypers();
  void makeFunction();
  Value addArgument(Type type, PortAttr port);
  void addResult(Value value, PortAttr port);
  void addMetric(StringRef name, Value value);
  void readScale();
  Value buildDivisor(Location loc, Type element);
  void averageGradients();
  Value buildNorm();
  Value buildMean(Value sum);
  void clipGradients();
  Value buildLoss();
  void buildFinite();
  void writeScale();
  LogicalResult applyOptimizer(Update &update);
  Value buildStored(dist::StateOp state, Value value);
  bool roundsByChance() const {
    return recipe->hasAttr(dist::kStochasticRounding);
  }
  Location getLoc() { return recipe.getLoc(); }
  /// The port of a state, hyper value or gradient.
  PortAttr portOf(PortKind kind, Operation *symbol) {
    return PortAttr::get(
        builder.getContext(), kind,
        FlatSymbolRefAttr::get(SymbolTable::getSymbolName(symbol)));
  }

  dist::TrainingOp recipe;
  func::FuncOp microbatch;
  SymbolTable &symbols;
  OpBuilder builder;
  func::FuncOp function;
  SmallVector<Update> updates;
  llvm::MapVector<StringRef, std::unique_ptr<Optimizer>> optimizers;
  /// Hyper values by name, as arguments of the function.
  llvm::MapVector<StringRef, Value> hypers;
  Value lossSum, count, loss, norm;
  std::optional<training::LossScale> scaling;
  Value scale, good;
  std::optional<training::Averages> averages;
  Value begun;
  /// Whether the step counts, as an i1; null where every step does.
  Value finite;
  /// A state was rounded by chance.
  bool hasRounded = false;
  /// Sums of the model's own metrics, by name.
  SmallVector<std::pair<StringRef, Value>> metricSums;
  SmallVector<Value> results;
  dist::Signature signature;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

FailureOr<const Optimizer *> UpdateBuilder::findOptimizer(dist::StateOp state) {
  StringRef name = state.getOptimizer().value_or(*recipe.getOptimizer());
  std::unique_ptr<Optimizer> &slot = optimizers[name];
  if (slot)
    return slot.get();
  auto definition = symbols.lookup<func::FuncOp>(name);
  if (!definition)
    return state.emitOpError()
           << "expected optimizer @" << name << " in the module, got none";
  FailureOr<Optimizer> optimizer = Optimizer::read(definition);
  if (failed(optimizer))
    return failure();
  slot = std::make_unique<Optimizer>(std::move(*optimizer));
  return slot.get();
}

/// dist.state @w.m : ... {role = optimizer, of = @w, source = zeros}
dist::StateOp UpdateBuilder::makeMoment(dist::StateOp state, StringRef moment,
                                        RankedTensorType type) {
  std::string name = (state.getSymName() + "." + moment).str();
  if (auto existing = symbols.lookup<dist::StateOp>(name);
      existing && existing.getOf() == state.getSymName())
    return existing;
  auto zeros = dist::DrawAttr::get(builder.getContext(), dist::DrawKind::Zeros,
                                   ArrayRef<double>());
  auto op =
      dist::StateOp::create(builder, state.getLoc(), name, type,
                            dist::Role::Optimizer, zeros, state.getSymName());
  if (dist::RowAttr row = training::getMomentRow(state, type))
    op.setRowAttr(row);
  symbols.insert(op, builder.getInsertionPoint());
  return op;
}

/// The recipe's element type of sums, where the state's row names none.
void UpdateBuilder::setAccumulate(dist::StateOp state) {
  std::optional<Type> element = recipe.getAccumulate();
  dist::RowAttr row = state.getRowAttr();
  if (!element || (row && row.getAccumulate()))
    return;
  if (!row)
    row = dist::RowAttr::get(state.getContext(), dist::LayoutAttr());
  state.setRowAttr(row.withAccumulate(*element));
}

/// What the optimizer and the recipe keep beside a parameter.
LogicalResult UpdateBuilder::makeStates(Update &update) {
  builder.setInsertionPointAfter(update.state);
  for (StringRef moment : update.optimizer->getMoments()) {
    RankedTensorType type =
        update.optimizer->getMomentType(moment, update.state.getTensorType());
    dist::StateOp made = makeMoment(update.state, moment, type);
    if (made.getTensorType() != type)
      return made.emitOpError()
             << "expected " << type << " for moment \"" << moment << "\" of @"
             << update.state.getSymName() << ", got " << made.getTensorType();
    if (averages && moment == training::Averages::kName)
      return emitRefusal(update.optimizer->getFunction().getLoc())
             << "expected no moment \"" << moment
             << "\" of an optimizer beside averages, got one";
    update.moments.push_back(made);
    builder.setInsertionPointAfter(made);
  }
  if (averages)
    update.average =
        makeMoment(update.state, training::Averages::kName,
                   training::Averages::getType(update.state.getTensorType()));
  return success();
}

LogicalResult UpdateBuilder::collectUpdates() {
  for (unsigned i = 0; i < microbatch.getNumResults(); ++i) {
    FlatSymbolRefAttr symbol =
        dist::getGradientOf(dist::getResultPort(microbatch, i));
    if (!symbol)
      continue;
    Update update;
    update.state = symbols.lookup<dist::StateOp>(symbol.getAttr());
    FailureOr<const Optimizer *> optimizer = findOptimizer(update.state);
    if (failed(optimizer))
      return failure();
    update.optimizer = *optimizer;
    if (failed(makeStates(update)))
      return failure();
    if (dist::RowAttr row = update.state.getRowAttr();
        row && row.getOptimizer())
      update.state.setRowAttr(row.withOptimizer({}));
    setAccumulate(update.state);
    updates.push_back(std::move(update));
  }
  if (updates.empty())
    return emitRefusal(recipe)
           << "expected at least one parameter with a gradient, got none";
  return success();
}

LogicalResult UpdateBuilder::collectHypers() {
  for (auto &[name, optimizer] : optimizers)
    for (const Optimizer::Argument &argument : optimizer->getArguments())
      if (argument.kind == Optimizer::Kind::Hyper) {
        if (!symbols.lookup<dist::HyperOp>(argument.name))
          return recipe.emitOpError()
                 << "expected hyper value @" << argument.name
                 << " of optimizer @" << name << " in the module, got none";
        hypers.insert({argument.name, Value()});
      }
  if (symbols.lookup<dist::HyperOp>("lr"))
    hypers.insert({"lr", Value()});
  for (StringRef name : {"seed", "step"}) {
    if (roundsByChance() && !symbols.lookup<dist::HyperOp>(name))
      return recipe.emitOpError() << "expected hyper value @" << name
                                  << " for stochastic rounding, got none";
    if (roundsByChance())
      hypers.insert({name, Value()});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

Value UpdateBuilder::addArgument(Type type, PortAttr port) {
  signature.arguments.push_back(port);
  return function.front().addArgument(type, getLoc());
}

void UpdateBuilder::addResult(Value value, PortAttr port) {
  results.push_back(value);
  signature.results.push_back(port);
}

void UpdateBuilder::addMetric(StringRef name, Value value) {
  addResult(value, PortAttr::get(builder.getContext(), PortKind::Metric, name));
}

void UpdateBuilder::makeFunction() {
  function = func::FuncOp::create(getLoc(), training::getUpdateName(recipe),
                                  builder.getFunctionType({}, {}));
  function.setPrivate();
  symbols.insert(function, std::next(microbatch->getIterator()));
  function.getBody().emplaceBlock();
  auto reads = [&](dist::StateOp state) {
    return addArgument(state.getTensorType(),
                       portOf(dist::getPortKind(state.getRole()), state));
  };
  for (Update &update : updates) {
    update.parameter = reads(update.state);
    for (dist::StateOp moment : update.moments)
      update.momentValues.push_back(reads(moment));
    if (update.average)
      update.averageValue = reads(update.average);
  }
  for (Update &update : updates)
    update.gradient = addArgument(update.state.getTensorType(),
                                  portOf(PortKind::Gradient, update.state));
  for (unsigned i = 0; i < microbatch.getNumResults(); ++i) {
    PortAttr port = dist::getResultPort(microbatch, i);
    if (!dist::isScalarSum(port))
      continue;
    Value sum = addArgument(microbatch.getResultTypes()[i], port.getSlot());
    if (port.getKind() == PortKind::LossSum)
      lossSum = sum;
    else if (port.getKind() == PortKind::Count)
      count = sum;
    else
      metricSums.push_back({port.getName().getValue(), sum});
  }
  for (auto &[name, value] : hypers) {
    auto hyper = symbols.lookup<dist::HyperOp>(name);
    value = addArgument(hyper.getType(), portOf(PortKind::Hyper, hyper));
  }
  readScale();
  if (averages)
    begun =
        addArgument(averages->getBegun().getTensorType(), averages->getPort());
  builder.setInsertionPointToStart(&function.front());
}

void UpdateBuilder::readScale() {
  scaling = training::LossScale::find(recipe, microbatch);
  if (!scaling)
    return;
  scale = addArgument(scaling->scale.getTensorType(),
                      scaling->getPort(scaling->scale));
  good = addArgument(scaling->good.getTensorType(),
                     scaling->getPort(scaling->good));
}

/// What sums of gradients are divided by.
Value UpdateBuilder::buildDivisor(Location loc, Type element) {
  if (!scaling)
    return count;
  Value divisor = scaling->buildDivisor(builder, loc, scale);
  return stablehlo::mul(builder, loc,
                        stablehlo::convertTo(builder, loc, count, element),
                        stablehlo::convertTo(builder, loc, divisor, element));
}

void UpdateBuilder::averageGradients() {
  for (Update &update : updates) {
    Location loc = update.state.getLoc();
    Type element = getElementTypeOrSelf(update.gradient.getType());
    // The divisor of a scaled gradient need not be a number of its type.
    bool isNarrow = scaling && element.getIntOrFloatBitWidth() < 32;
    Type wide = isNarrow ? builder.getF32Type() : element;
    Value g = stablehlo::convertTo(builder, loc, update.gradient, wide);
    g = stablehlo::div(
        builder, loc, g,
        training::broadcastTo(builder, loc, buildDivisor(loc, wide), g));
    update.gradient = stablehlo::convertTo(builder, loc, g, element);
  }
}

/// sqrt(sum_i sum(g_i * g_i))
Value UpdateBuilder::buildNorm() {
  Type element = getElementTypeOrSelf(lossSum.getType());
  for (const Update &update : updates) {
    Type own = getElementTypeOrSelf(update.gradient.getType());
    if (own.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
      element = own;
  }
  Value total;
  for (Update &update : updates) {
    Location loc = update.state.getLoc();
    Value g = stablehlo::convertTo(builder, loc, update.gradient, element);
    int64_t rank = cast<RankedTensorType>(g.getType()).getRank();
    Value squares =
        stablehlo::reduceAdd(builder, loc, stablehlo::mul(builder, loc, g, g),
                             llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    total = total ? stablehlo::add(builder, loc, total, squares) : squares;
  }
  return stablehlo::sqrt(builder, getLoc(), total);
}

void UpdateBuilder::clipGradients() {
  Value factor;
  if (recipe.getClip())
    factor = training::getClipFactor(builder, getLoc(), norm,
                                     recipe.getClip()->convertToDouble());
  auto bound = recipe->getAttrOfType<FloatAttr>(dist::kClipValue);
  for (Update &update : updates) {
    Location loc = update.state.getLoc();
    Value &g = update.gradient;
    if (bound)
      g = training::clipByValue(builder, loc, g, bound.getValueAsDouble());
    if (factor)
      g = stablehlo::mul(builder, loc, g,
                         training::broadcastTo(builder, loc, factor, g));
  }
}

Value UpdateBuilder::buildLoss() {
  return stablehlo::div(builder, getLoc(), lossSum, count);
}

/// All devices have the same loss and norm, hence the same answer.
void UpdateBuilder::buildFinite() {
  auto isFinite = [&](Value scalar) -> Value {
    auto type = RankedTensorType::get({}, builder.getI1Type());
    return stablehlo::IsFiniteOp::create(builder, getLoc(), type, scalar);
  };
  Value isLossFinite;
  if (recipe.getSkipNotFinite()) {
    loss = buildLoss();
    isLossFinite = isFinite(loss);
  }
  finite = isFinite(norm);
  if (isLossFinite)
    finite = stablehlo::logicalAnd(builder, getLoc(), isLossFinite, finite);
}

/// The metric is the scale of this step.
void UpdateBuilder::writeScale() {
  auto [nextScale, nextGood] =
      scaling->buildNext(builder, getLoc(), scale, good, finite);
  addResult(nextScale, scaling->getPort(scaling->scale));
  addResult(nextGood, scaling->getPort(scaling->good));
}

/// The new value of a state in its own type.
Value UpdateBuilder::buildStored(dist::StateOp state, Value value) {
  Location loc = state.getLoc();
  Type element = state.getTensorType().getElementType();
  bool isNarrower =
      element.getIntOrFloatBitWidth() <
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (!roundsByChance() || !isNarrower ||
      !training::canRoundStochastically(element))
    return stablehlo::convertTo(builder, loc, value, element);
  hasRounded = true;
  return training::roundStochastically(
      builder, loc, value, element, state.getSymName(), hypers.lookup("seed"),
      hypers.lookup("step"));
}

LogicalResult UpdateBuilder::applyOptimizer(Update &update) {
  SmallVector<Value> operands;
  unsigned moment = 0;
  for (const Optimizer::Argument &argument : update.optimizer->getArguments()) {
    switch (argument.kind) {
    case Optimizer::Kind::Parameter:
      operands.push_back(update.parameter);
      break;
    case Optimizer::Kind::Gradient:
      operands.push_back(update.gradient);
      break;
    case Optimizer::Kind::Moment:
      operands.push_back(update.momentValues[moment++]);
      break;
    case Optimizer::Kind::Hyper:
      operands.push_back(hypers.lookup(argument.name));
      break;
    }
  }
  SmallVector<Value> updated;
  Location loc = update.state.getLoc();
  if (failed(update.optimizer->instantiate(builder, loc, operands, updated)))
    return failure();
  SmallVector<dist::StateOp> states = {update.state};
  llvm::append_range(states, update.moments);
  SmallVector<Value> before = {update.parameter};
  llvm::append_range(before, update.momentValues);
  for (auto [state, value, old] : llvm::zip_equal(states, updated, before)) {
    Value stored = buildStored(state, value);
    if (finite)
      stored = stablehlo::select(builder, loc, finite, stored, old);
    addResult(stored, portOf(dist::getPortKind(state.getRole()), state));
    if (state == update.state && averages)
      addResult(averages->buildNext(builder, loc, begun, update.averageValue,
                                    update.parameter, stored, finite),
                portOf(PortKind::Optimizer, update.average));
  }
  return success();
}

/// The mean over microbatches of a value that each of them has.
Value UpdateBuilder::buildMean(Value sum) {
  auto number = static_cast<double>(recipe.getMicrobatches());
  return number == 1 ? sum
                     : stablehlo::div(builder, getLoc(), sum,
                                      stablehlo::constantLike(builder, getLoc(),
                                                              sum, number));
}

FailureOr<func::FuncOp> UpdateBuilder::build() {
  builder.setInsertionPoint(microbatch);
  averages = training::Averages::make(builder, recipe, symbols);
  if (failed(collectUpdates()) || failed(collectHypers()))
    return failure();
  makeFunction();
  count = training::applyBound(builder, recipe, count, symbols);
  averageGradients();
  norm = buildNorm();
  clipGradients();
  if (recipe.getSkipNotFinite() || scaling)
    buildFinite();
  for (Update &update : updates)
    if (failed(applyOptimizer(update)))
      return failure();
  if (roundsByChance() && !hasRounded)
    return emitRefusal(recipe) << "expected a parameter of bf16 or f16 beside "
                                  "stochastic rounding, got none";
  for (StringRef mark :
       {dist::kStochasticRounding, dist::kClipValue, dist::kAverage})
    recipe->removeAttr(mark);
  if (averages)
    addResult(averages->buildBegun(builder, getLoc()), averages->getPort());
  if (scaling)
    writeScale();
  if (!loss)
    loss = buildLoss();
  addMetric("loss", loss);
  addMetric("grad_norm", norm);
  if (Value rate = hypers.lookup("lr"))
    addMetric("lr", rate);
  if (scaling)
    addMetric("loss_scale", scale);
  for (auto [name, sum] : metricSums)
    addMetric(name, buildMean(sum));
  func::ReturnOp::create(builder, getLoc(), results);
  function.setType(builder.getFunctionType(function.front().getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  signature.write(function);
  training::eraseDeadOps(function.front());
  for (Operation &op : function.front().without_terminator())
    training::setPhaseMark(&op, dist::Phase::Update);
  return function;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct BuildUpdatePass : llmc::impl::BuildUpdatePassBase<BuildUpdatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::SetVector<StringAttr> spent;
    for (auto recipe : llvm::to_vector(module.getOps<dist::TrainingOp>())) {
      SymbolTable symbols(module);
      FailureOr<func::FuncOp> microbatch = training::findMicrobatch(recipe);
      if (failed(microbatch))
        return signalPassFailure();
      if (!recipe.getOptimizerAttr()) {
        recipe.emitOpError() << "expected an optimizer, got none; run "
                                "'llmc-split-step' on a whole step";
        return signalPassFailure();
      }
      UpdateBuilder update(recipe, *microbatch, symbols);
      FailureOr<func::FuncOp> function = update.build();
      if (failed(function))
        return signalPassFailure();
      spent.insert(recipe.getForwardAttr().getAttr());
      spent.insert(recipe.getOptimizerAttr().getAttr());
      spent.insert(
          StringAttr::get(&getContext(), training::getBoundName(recipe)));
      training::makeStep(recipe, *microbatch, *function);
    }
    for (auto state : module.getOps<dist::StateOp>())
      if (auto optimizer = state.getOptimizerAttr()) {
        spent.insert(optimizer.getAttr());
        state.removeOptimizerAttr();
      }
    // What only the recipes named is not needed any more.
    SymbolTable symbols(module);
    for (StringAttr name : spent)
      if (Operation *function = symbols.lookup(name))
        if (SymbolTable::symbolKnownUseEmpty(name, module))
          symbols.erase(function);
  }
};

} // namespace
