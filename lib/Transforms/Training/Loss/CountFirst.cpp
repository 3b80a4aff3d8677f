//===- CountFirst.cpp - Counts before the step that divides by them -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountFirst.h.
//
// Test: test/Transforms/Training/sum-loss-counts.mlir
//===----------------------------------------------------------------------===//

#include "CountFirst.h"
#include "../TrainingMarks.h"
#include "CountTotals.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

InFlightDiagnostic training::refuseLoss(Operation *op,
                                        dist::TrainingOp recipe) {
  return emitRefusal(op->getLoc())
         << "expected a loss that is linear in means over the batch, since the "
            "step has "
         << recipe.getMicrobatches() << " microbatches, got '" << op->getName()
         << "' that ";
}

/// @<training>.counts: the roots of one microbatch as metrics.
static func::FuncOp makeCounts(dist::TrainingOp recipe, func::FuncOp function,
                               ArrayRef<Value> roots,
                               ArrayRef<std::string> names,
                               SymbolTable &symbols) {
  IRMapping mapping;
  func::FuncOp counts = function.clone(mapping);
  counts.setName(training::getCountsName(recipe) + ".function");
  symbols.insert(counts, std::next(function->getIterator()));
  Operation *terminator = counts.front().getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Value> values;
  dist::Signature signature(function);
  signature.results.clear();
  for (auto [root, name] : llvm::zip_equal(roots, names)) {
    Value value = toScalar(builder, mapping.lookup(root));
    values.push_back(value);
    signature.results.push_back(
        PortAttr::get(builder.getContext(), PortKind::Metric, StringRef(name)));
  }
  training::setResults(counts, values);
  signature.write(counts);
  training::eraseDeadOps(counts.front());
  training::markNewBlocks(counts, 0);
  training::eraseUnusedArguments(counts);
  builder.setInsertionPointAfter(recipe);
  auto entry = dist::EntryOp::create(
      builder, recipe.getLoc(),
      builder.getStringAttr(training::getCountsName(recipe)),
      FlatSymbolRefAttr::get(recipe.getSymNameAttr()),
      FlatSymbolRefAttr::get(counts.getNameAttr()), DenseI64ArrayAttr(),
      dist::TableAttr());
  symbols.insert(entry);
  return counts;
}

/// Gives the uses `scales` the counts of the whole step.
LogicalResult training::countFirst(dist::TrainingOp recipe,
                                   func::FuncOp function,
                                   ArrayRef<OpOperand *> scales,
                                   const BatchSums &batch,
                                   SymbolTable &symbols) {
  llvm::SetVector<Value> roots;
  for (OpOperand *use : scales)
    batch.findRoots(use->get(), roots);
  SmallVector<std::string> names;
  for (Value root : roots) {
    auto type = cast<RankedTensorType>(root.getType());
    if (type.getNumElements() != 1)
      return refuseLoss(root.getDefiningOp(), recipe)
             << "is a count of several elements" << kLossRemedy;
    names.push_back(training::getCountsName(recipe) + "." +
                    std::to_string(names.size()));
  }
  makeCounts(recipe, function, roots.getArrayRef(), names, symbols);
  MLIRContext *context = recipe.getContext();
  OpBuilder builder(context);
  CountTotals totals(batch, recipe.getMicrobatches());
  dist::Signature signature(function);
  for (auto [root, name] : llvm::zip_equal(roots, names)) {
    auto type = cast<RankedTensorType>(root.getType());
    Type element = type.getElementType();
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      element = builder.getF32Type();
    auto scalar = RankedTensorType::get({}, element);
    builder.setInsertionPoint(recipe);
    symbols.insert(dist::HyperOp::create(
        builder, root.getLoc(), builder.getStringAttr(name),
        TypeAttr::get(scalar),
        dist::RuleAttr::get(context, dist::RuleKind::External)));
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, scalar, {}, root.getLoc());
    signature.arguments.push_back(PortAttr::get(
        context, PortKind::Hyper, FlatSymbolRefAttr::get(context, name)));
    builder.setInsertionPointToStart(&function.front());
    Value total = stablehlo::convertTo(builder, root.getLoc(),
                                       function.getArgument(index),
                                       type.getElementType());
    totals.setTotal(root, stablehlo::reshape(builder, root.getLoc(), total,
                                             type.getShape()));
  }
  signature.write(function);
  for (OpOperand *use : scales) {
    builder.setInsertionPoint(use->getOwner());
    use->set(totals.buildScale(builder, use->get()));
  }
  return success();
}
