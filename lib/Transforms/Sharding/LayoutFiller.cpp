//===- LayoutFiller.cpp - Layouts of new ops between others ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Sharding/distribute-ops.mlir
//===----------------------------------------------------------------------===//

#include "LayoutFiller.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

/// Numbers of the values, of the largest one first.
template <typename Values>
static SmallVector<size_t> orderBySize(const Values &values) {
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, value] : llvm::enumerate(values)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    order.push_back({type ? -type.getNumElements() : 0, i});
  }
  llvm::sort(order);
  return llvm::to_vector(llvm::make_second_range(order));
}

/// Takes a layout whose axes are all new to it, or none.
bool LayoutFiller::write(Value value, const graph::TensorFactors &tensor,
                         const graph::ShardingRule &rule,
                         const FactorSplits &splits) {
  if (!isOpen.contains(value))
    return false;
  LayoutAttr layout =
      layoutFromFactors(tensor, rule.factors, splits, mesh, like);
  if (!layout || layout == layouts.lookup(value))
    return false;
  layouts[value] = layout;
  return true;
}

bool LayoutFiller::visit(Operation *op, const graph::ShardingRule &rule) {
  FactorSplits splits(rule.factors.size());
  SmallVector<dist::AxisAttr> taken;
  auto read = [&](Value value, const graph::TensorFactors &tensor) {
    LayoutAttr layout = layouts.lookup(value);
    if (!layout)
      return;
    projectToFactors(layout, tensor, rule.factors, mesh, "",
                     [&](int factor, const FactorSplit &split) {
                       bool isTaken =
                           llvm::any_of(split.axes, [&](dist::AxisAttr axis) {
                             return llvm::is_contained(taken, axis);
                           });
                       if (split.isWhole() || splits[factor] || isTaken)
                         return;
                       splits[factor] = split;
                       llvm::append_range(taken, split.axes);
                     });
  };
  // The largest first, results before operands.
  SmallVector<std::pair<Value, const graph::TensorFactors *>> tensors;
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    tensors.push_back({result, &tensor});
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    tensors.push_back({operand, &tensor});
  for (size_t i : orderBySize(llvm::make_first_range(tensors)))
    read(tensors[i].first, *tensors[i].second);
  bool isChanged = false;
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    isChanged |= write(result, tensor, rule, splits);
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    isChanged |= write(operand, tensor, rule, splits);
  return isChanged;
}

LogicalResult LayoutFiller::open() {
  for (Operation *op : ops) {
    auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
    if (!model)
      return graph::emitMissingAnswer(op, graph::Answer::Rule);
    rules.push_back(model.getShardingRule());
    isOpen.insert(op->result_begin(), op->result_end());
  }
  for (auto [value, layout] : given)
    isOpen.erase(value);
  return success();
}

/// Splits are only added, so that this ends; the bound is for safety.
void LayoutFiller::spread() {
  bool isChanged = true;
  for (size_t round = 0; isChanged && round < ops.size() + 2; ++round) {
    isChanged = false;
    for (size_t i = 0; i < ops.size(); ++i)
      isChanged |= visit(ops[i], rules[i]);
    for (size_t i = ops.size(); i-- > 0;)
      isChanged |= visit(ops[i], rules[i]);
  }
}

void LayoutFiller::write() {
  for (Operation *op : ops) {
    SmallVector<Attribute> list;
    for (Value result : op->getResults()) {
      LayoutAttr layout = layouts.lookup(result);
      auto type = cast<RankedTensorType>(result.getType());
      if (!layout)
        layout = LayoutAttr::getReplicated(like.getMesh(), type.getRank())
                     .withPins(like.getAt());
      list.push_back(layout);
    }
    op->setAttr(DistDialect::kLayouts, ArrayAttr::get(op->getContext(), list));
  }
}

LogicalResult LayoutFiller::run() {
  if (failed(open()))
    return failure();
  for (size_t i : orderBySize(llvm::make_first_range(given))) {
    layouts[given[i].first] = given[i].second;
    spread();
  }
  write();
  return success();
}
