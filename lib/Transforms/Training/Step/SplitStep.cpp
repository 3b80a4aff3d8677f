//===- SplitStep.cpp - A step of the text becomes a dist.step -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @step(%p, %m, %x) -> (%p', %m', %loss)
//   dist.training @train forward(@step)
//   ->
//   func @train.microbatch(%p, %x) -> (%loss, %count, %gradient of p)
//   func @train.update(%p, %m, %gradient of p) -> (%p', %m', %loss)
//   dist.step @train microbatch(@train.microbatch) update(@train.update)
//
// Where the cut goes through says StepCut.h. What both need and the batch does
// not matter for (a weight that is converted, a rate of the step's number) is
// computed in both.
//
// Test: test/Transforms/Training/split-step.mlir
//===----------------------------------------------------------------------===//

#include "../Loss/CountTotals.h"
#include "../Loss/Evaluation.h"
#include "../TrainingMarks.h"
#include "BatchSlices.h"
#include "LoopCopies.h"
#include "StepCut.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITSTEPPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using llmc::dist::DistDialect;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;
using llmc::training::Crossing;
using llmc::training::toScalar;

namespace {
/// The work on one recipe.
class StepSplitter {
public:
  StepSplitter(dist::TrainingOp recipe, SymbolTable &symbols)
      : recipe(recipe), symbols(symbols),
        step(symbols.lookup<func::FuncOp>(recipe.getForward())) {}

  LogicalResult run();

private:
  LogicalResult prepareResults();
  func::FuncOp cloneStep(const std::string &name, IRMapping &mapping);
  func::FuncOp makeMicrobatch();
  void takeCrossings(func::FuncOp function, IRMapping &mapping);
  FailureOr<func::FuncOp> makeUpdate();
  func::FuncOp makeForward();
  void demoteParameters();
  void layOutMoments();
  PortAttr getPort(PortKind kind, StringRef name = "") {
    return name.empty() ? PortAttr::get(recipe.getContext(), kind)
                        : PortAttr::get(recipe.getContext(), kind, name);
  }

  dist::TrainingOp recipe;
  SymbolTable &symbols;
  func::FuncOp step;
  /// The last function that was made of it.
  Operation *last = step;
  unsigned lossIndex = 0;
  SmallVector<Crossing> crossings;
};
} // namespace

/// The loss becomes a scalar of at least f32, metrics floats of its type.
LogicalResult StepSplitter::prepareResults() {
  Operation *terminator = step.front().getTerminator();
  OpBuilder builder(terminator);
  Value loss = terminator->getOperand(lossIndex);
  auto type = dyn_cast<RankedTensorType>(loss.getType());
  if (!type || type.getNumElements() != 1 ||
      !isa<FloatType>(type.getElementType()))
    return recipe.emitOpError() << "expected the loss of @" << step.getName()
                                << " to be one float, got " << loss.getType();
  loss = toScalar(builder, loss);
  terminator->setOperand(lossIndex, loss);
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    Value value = terminator->getOperand(i);
    if (dist::getMetric(dist::getResultPort(step, i)))
      terminator->setOperand(
          i, stablehlo::convertTo(builder, value.getLoc(), value,
                                  getElementTypeOrSelf(loss.getType())));
  }
  step.setType(FunctionType::get(step.getContext(), step.getArgumentTypes(),
                                 terminator->getOperandTypes()));
  return success();
}

func::FuncOp StepSplitter::cloneStep(const std::string &name,
                                     IRMapping &mapping) {
  func::FuncOp function = step.clone(mapping);
  function.setName(name);
  function.setPrivate();
  symbols.insert(function, std::next(last->getIterator()));
  last = function;
  return function;
}

/// Returns what crosses, the loss first, and the count 1, since the text
/// divides.
func::FuncOp StepSplitter::makeMicrobatch() {
  IRMapping mapping;
  func::FuncOp function =
      cloneStep(training::getMicrobatchName(recipe), mapping);
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  Value loss = terminator->getOperand(lossIndex);
  Value count = stablehlo::scalar(builder, loss.getLoc(),
                                  getElementTypeOrSelf(loss.getType()), 1);
  SmallVector<Value> values = {loss, count};
  dist::Signature signature(function);
  signature.results = {getPort(PortKind::LossSum), getPort(PortKind::Count)};
  for (const Crossing &crossing : crossings) {
    Value value = mapping.lookup(crossing.value);
    if (dist::isPort(crossing.port, PortKind::LossSum)) {
      values[0] = value;
      continue;
    }
    values.push_back(value);
    signature.results.push_back(crossing.port);
  }
  training::setResults(function, values);
  signature.write(function);
  training::eraseDeadOps(function.front());
  training::eraseUnusedArguments(function);
  training::markNewBlocks(function, 0);
  return function;
}

/// In the place of what crosses come arguments.
void StepSplitter::takeCrossings(func::FuncOp function, IRMapping &mapping) {
  dist::Signature signature(function);
  for (const Crossing &crossing : crossings) {
    Value value = mapping.lookup(crossing.value);
    (void)function.insertArgument(function.getNumArguments(), value.getType(),
                                  DictionaryAttr(), value.getLoc());
    signature.arguments.push_back(crossing.port);
    value.replaceAllUsesWith(function.getArguments().back());
  }
  signature.write(function);
}

/// Returns the states that the step does, and all metrics.
FailureOr<func::FuncOp> StepSplitter::makeUpdate() {
  IRMapping mapping;
  func::FuncOp function = cloneStep(training::getUpdateName(recipe), mapping);
  takeCrossings(function, mapping);
  SmallVector<Value> states, metrics;
  SmallVector<PortAttr> ports, metricPorts;
  dist::Signature signature(function);
  for (auto [value, port] :
       llvm::zip_equal(function.front().getTerminator()->getOperands(),
                       signature.results)) {
    StringAttr metric = dist::getMetric(port);
    if (dist::isPort(port, PortKind::Loss))
      metric = StringAttr::get(recipe.getContext(), "loss");
    if (dist::getState(port)) {
      states.push_back(value);
      ports.push_back(port);
    } else if (metric) {
      metrics.push_back(value);
      metricPorts.push_back(getPort(PortKind::Metric, metric));
    }
  }
  llvm::append_range(states, metrics);
  llvm::append_range(ports, metricPorts);
  training::setResults(function, states);
  signature.results = ports;
  signature.write(function);
  training::eraseDeadOps(function.front());
  training::eraseUnusedArguments(function);
  if (failed(training::copyTrips(function)))
    return failure();
  for (Operation &op : function.front().without_terminator()) {
    op.removeAttr(DistDialect::kBlock);
    training::setPhaseMark(&op, dist::Phase::Update);
  }
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (training::isInput(function, i))
      return function.emitOpError()
             << "expected an update past the cut, got input "
             << dist::getInput(dist::getArgumentPort(function, i));
  return function;
}

/// The loss, and metrics that no gradient of a parameter goes into.
func::FuncOp StepSplitter::makeForward() {
  IRMapping mapping;
  func::FuncOp function =
      cloneStep((recipe.getSymName() + ".forward").str(), mapping);
  llvm::SetVector<Value> derived;
  for (const Crossing &crossing : crossings) {
    FlatSymbolRefAttr symbol = dist::getGradientOf(crossing.port);
    if (symbol && symbols.lookup<dist::StateOp>(symbol.getAttr()).getRole() ==
                      dist::Role::Parameter)
      derived.insert(mapping.lookup(crossing.value));
  }
  addDependents(function.front(), derived);
  SmallVector<Value> values;
  SmallVector<PortAttr> ports;
  dist::Signature signature(function);
  for (auto [value, port] : llvm::zip_equal(
           function.front().getTerminator()->getOperands(), signature.results))
    if (dist::isPort(port, PortKind::Loss) ||
        (!dist::getState(port) && !derived.contains(value))) {
      values.push_back(value);
      ports.push_back(port);
    }
  training::setResults(function, values);
  signature.results = ports;
  signature.write(function);
  training::eraseDeadOps(function.front());
  training::eraseUnusedArguments(function);
  return function;
}

/// A state that the loss depends on, but that no gradient goes to (a copy of
/// the weights that follows them), is no parameter.
void StepSplitter::demoteParameters() {
  llvm::DenseSet<Attribute> trained;
  for (const Crossing &crossing : crossings)
    if (FlatSymbolRefAttr state = dist::getGradientOf(crossing.port))
      trained.insert(state.getAttr());
  auto module = recipe->getParentOfType<ModuleOp>();
  auto isDemoted = [&](dist::StateOp state) {
    return state.getRole() == dist::Role::Parameter &&
           !trained.contains(state.getSymNameAttr());
  };
  auto change = [&](PortAttr &port) {
    FlatSymbolRefAttr symbol = dist::getState(port);
    auto state = symbol ? symbols.lookup<dist::StateOp>(symbol.getAttr())
                        : dist::StateOp();
    if (state && isDemoted(state))
      port = PortAttr::get(recipe.getContext(), PortKind::Carried, symbol)
                 .withLayout(dist::getLayout(port));
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    dist::Signature signature(function);
    llvm::for_each(signature.arguments, change);
    llvm::for_each(signature.results, change);
    signature.write(function);
  }
  for (auto state : module.getOps<dist::StateOp>())
    if (isDemoted(state))
      state.setRole(dist::Role::Carried);
}

/// Optimizer states of the text lie as those of an optimizer of ours would.
void StepSplitter::layOutMoments() {
  auto module = recipe->getParentOfType<ModuleOp>();
  for (auto state : module.getOps<dist::StateOp>()) {
    if (!state.getOf() || state.getRowAttr())
      continue;
    auto parameter = symbols.lookup<dist::StateOp>(*state.getOf());
    if (dist::RowAttr row =
            training::getMomentRow(parameter, state.getTensorType()))
      state.setRowAttr(row);
  }
  for (auto state : module.getOps<dist::StateOp>())
    if (dist::RowAttr row = state.getRowAttr(); row && row.getOptimizer())
      state.setRowAttr(row.withOptimizer({}));
}

LogicalResult StepSplitter::run() {
  if (step.isExternal())
    return recipe.emitOpError() << "expected @" << step.getName()
                                << " to have a body, got a declaration";
  training::eraseDerivativeMarks(step);
  lossIndex = training::findLoss(step);
  if (failed(prepareResults()))
    return failure();
  FailureOr<SmallVector<Crossing>> found =
      training::findStepCut(step, recipe.getSymName(), symbols);
  if (failed(found))
    return failure();
  crossings = std::move(*found);
  demoteParameters();
  layOutMoments();
  func::FuncOp microbatch = makeMicrobatch();
  FailureOr<func::FuncOp> update = makeUpdate();
  if (failed(update))
    return failure();
  func::FuncOp forward = makeForward();
  training::makeEvaluation(recipe, forward, symbols);
  symbols.erase(forward);
  if (recipe.getMicrobatches() > 1 &&
      failed(training::sliceBatch(recipe, microbatch)))
    return failure();
  training::markNewBlocks(microbatch, 0);
  training::markGivenDerivative(microbatch);
  training::makeStep(recipe, microbatch, *update);
  if (SymbolTable::symbolKnownUseEmpty(step, step->getParentOp()))
    symbols.erase(step);
  return success();
}

namespace {

struct SplitStepPass : llmc::impl::SplitStepPassBase<SplitStepPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto recipe :
         llvm::to_vector(getOperation().getOps<dist::TrainingOp>()))
      if (!recipe.getOptimizerAttr() &&
          failed(StepSplitter(recipe, symbols).run()))
        return signalPassFailure();
  }
};

} // namespace
