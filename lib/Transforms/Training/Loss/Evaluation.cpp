//===- Evaluation.cpp - The entry 'evaluate' ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/sum-loss-evaluate.mlir
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "../TrainingMarks.h"
#include "CountTotals.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;
using llmc::training::toScalar;

namespace {
/// The loss as one number, and what it was divided by.
struct MeanAndCount {
  Value mean, count;
};
} // namespace

/// The result that is the loss or its sum.
static unsigned findLossOrSum(const dist::Signature &signature) {
  std::optional<unsigned> loss = signature.findResult(PortKind::Loss);
  return loss ? *loss : *signature.findResult(PortKind::LossSum);
}

/// Loss and count of one batch in `function`.
static MeanAndCount buildMean(dist::TrainingOp recipe, func::FuncOp function,
                              SymbolTable &symbols) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  dist::Signature signature(function);
  Value loss = terminator->getOperand(findLossOrSum(signature));
  std::optional<unsigned> count = signature.findResult(PortKind::Count);
  if (!count) {
    Value mean = toScalar(builder, loss);
    return {mean, stablehlo::scalar(builder, mean.getLoc(),
                                    getElementTypeOrSelf(mean.getType()), 1)};
  }
  Value divisor = terminator->getOperand(*count);
  Value bound = training::applyBound(builder, recipe, divisor, symbols);
  return {stablehlo::div(builder, loss.getLoc(), loss, bound), divisor};
}

/// The metric that a result is in an evaluation, or null.
static StringAttr getMetricName(PortAttr port) {
  return dist::isPort(port, PortKind::MetricSum) ? port.getName()
                                                 : dist::getMetric(port);
}

void training::makeEvaluation(dist::TrainingOp recipe, func::FuncOp source,
                              SymbolTable &symbols) {
  constexpr StringRef kEvaluate = "evaluate";
  auto entry = symbols.lookup<dist::EntryOp>(kEvaluate);
  if (entry ? entry.getFunction() != recipe.getForward()
            : static_cast<bool>(symbols.lookup(kEvaluate)))
    return;
  func::FuncOp function = source.clone();
  function.setName((kEvaluate + ".function").str());
  function.setPrivate();
  auto microbatch = symbols.lookup<func::FuncOp>(getMicrobatchName(recipe));
  symbols.insert(function, std::next(microbatch->getIterator()));

  MLIRContext *context = recipe.getContext();
  Operation *terminator = function.front().getTerminator();
  int64_t block = getBlockOf(
      terminator->getOperand(findLossOrSum(dist::Signature(function))));
  auto [mean, count] = buildMean(recipe, function, symbols);
  OpBuilder builder(terminator);
  SmallVector<Value> values = {mean, count};
  SmallVector<StringRef> names = {"loss", "count"};
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringAttr name = getMetricName(dist::getResultPort(function, i));
    if (!name)
      continue;
    values.push_back(stablehlo::convertTo(
        builder, terminator->getOperand(i).getLoc(), terminator->getOperand(i),
        getElementTypeOrSelf(mean.getType())));
    names.push_back(name);
  }
  setResults(function, values);
  markNewBlocks(function, block);
  dist::Signature signature(function);
  signature.results.clear();
  for (StringRef name : names)
    signature.results.push_back(PortAttr::get(context, PortKind::Metric, name));
  signature.write(function);
  eraseDeadOps(function.front());

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
