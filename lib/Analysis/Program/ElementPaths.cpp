//===- ElementPaths.cpp - What is computed element by element -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;
using namespace llmc;

bool llmc::feeds(OpOperand &operand, OpResult result) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(operand.getOwner());
  return !kernel || kernel.getKernelForm() != graph::KernelForm::Alias ||
         kernel.getAliasedOperand(result.getResultNumber()) ==
             operand.getOperandNumber();
}

OpOperand *llmc::getForwarded(OpResult result) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(result.getOwner());
  if (!kernel || kernel.getKernelForm() != graph::KernelForm::Alias)
    return nullptr;
  OpOperand &operand =
      kernel->getOpOperand(kernel.getAliasedOperand(result.getResultNumber()));
  return operand.get().getType() == result.getType() ? &operand : nullptr;
}

SmallVector<Value> llmc::getSources(OpResult result) {
  SmallVector<Value> sources;
  for (OpOperand &operand : result.getOwner()->getOpOperands())
    if (feeds(operand, result))
      sources.push_back(operand.get());
  auto enter = dyn_cast<dist::EnterOp>(result.getOwner());
  if (!enter)
    return sources;
  if (enter.isCarry())
    sources.push_back(enter.getNext().getValue());
  if (enter.getLoop().getConditional())
    sources.push_back(dist::findCondition(*enter->getBlock(), enter.getLoop())
                          .getNext()
                          .getValue());
  return sources;
}

void llmc::addDependents(Block &block, llvm::SetVector<Value> &values) {
  // What a loop carries is found in a later round.
  bool hasLoops = llvm::any_of(block, llvm::IsaPred<dist::EnterOp>);
  size_t known;
  do {
    known = values.size();
    for (Operation &op : block.without_terminator())
      for (OpResult result : op.getResults())
        if (!values.contains(result) &&
            llvm::any_of(getSources(result),
                         [&](Value source) { return values.contains(source); }))
          values.insert(result);
  } while (hasLoops && values.size() > known);
}

bool llmc::keepsPlaces(OpOperand &operand, OpResult result) {
  auto from = dyn_cast<RankedTensorType>(operand.get().getType());
  auto to = dyn_cast<RankedTensorType>(result.getType());
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(operand.getOwner());
  if (!from || !to || from.getShape() != to.getShape() || !model ||
      !feeds(operand, result))
    return false;
  graph::ShardingRule rule = model.getShardingRule();
  const graph::TensorFactors &factors =
      rule.operands[operand.getOperandNumber()];
  if (factors != rule.results[result.getResultNumber()])
    return false;
  return llvm::all_of(factors, [&](ArrayRef<int> dim) {
    return llvm::all_of(dim, [&](int factor) {
      return rule.factors[factor].kind == graph::FactorKind::Pass;
    });
  });
}

llvm::MapVector<Value, unsigned> llmc::findElementSources(Value value) {
  llvm::MapVector<Value, unsigned> sources;
  sources.insert({value, 0});
  for (size_t i = 0; i < sources.size(); ++i) {
    auto [source, distance] = sources.begin()[i];
    auto result = dyn_cast<OpResult>(source);
    if (!result)
      continue;
    for (OpOperand &operand : result.getOwner()->getOpOperands())
      if (!sources.contains(operand.get()) && keepsPlaces(operand, result))
        sources.insert({operand.get(), distance + 1});
  }
  return sources;
}
