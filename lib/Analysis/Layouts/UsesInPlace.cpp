//===- UsesInPlace.cpp - Whether others gather a value too ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/UsesInPlace.h"

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using dist::AxisAttr;
using dist::DistDialect;
using dist::LayoutAttr;

LayoutAttr llmc::getDecidedLayout(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? dist::getLayout(dist::getArgumentPort(
                          function, argument.getArgNumber()))
                    : LayoutAttr();
  }
  auto result = cast<OpResult>(value);
  auto list =
      result.getOwner()->getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
  return list ? cast<LayoutAttr>(list[result.getResultNumber()]) : LayoutAttr();
}

/// The factor of a tensor that `axis` splits.
static std::optional<int> findFactor(const ShardingRule &rule,
                                     const TensorFactors &tensor,
                                     LayoutAttr layout, AxisAttr axis,
                                     dist::MeshAxesAttr mesh) {
  std::optional<int> found;
  if (layout)
    projectToFactors(layout, tensor, rule.factors, mesh, "",
                     [&](int factor, const FactorSplit &split) {
                       if (llvm::is_contained(split.axes, axis))
                         found = factor;
                     });
  return found;
}

static bool hasFactor(const TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](ArrayRef<int> dim) {
    return llvm::is_contained(dim, factor);
  });
}

static bool isInPlace(OpOperand &use, LayoutAttr layout, AxisAttr axis,
                      dist::MeshAxesAttr mesh);

/// A factor that no result has: the op makes terms of a sum where all other
/// operands with the factor are split alike, which one alone always is.
static bool agreesWithOthers(OpOperand &use, const ShardingRule &rule,
                             int factor, AxisAttr axis,
                             dist::MeshAxesAttr mesh) {
  if (rule.factors[factor].kind != FactorKind::Reduced)
    return false;
  Operation *op = use.getOwner();
  for (auto [i, tensor] : llvm::enumerate(rule.operands))
    if (i != use.getOperandNumber() && hasFactor(tensor, factor) &&
        findFactor(rule, tensor, getDecidedLayout(op->getOperand(i)), axis,
                   mesh) != factor)
      return false;
  return true;
}

/// The op reads a part for its own part of the result. What it only arranges
/// anew may be gathered after it.
static bool passesOn(OpOperand &use, const ShardingRule &rule, int factor,
                     AxisAttr axis, dist::MeshAxesAttr mesh) {
  Operation *op = use.getOwner();
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results)) {
    if (!hasFactor(tensor, factor))
      continue;
    LayoutAttr layout = getDecidedLayout(result);
    if (findFactor(rule, tensor, layout, axis, mesh) != factor)
      return false;
    if (op->getNumOperands() == 1 &&
        !llvm::all_of(result.getUses(), [&](OpOperand &next) {
          return isInPlace(next, layout, axis, mesh);
        }))
      return false;
  }
  return true;
}

static bool isInPlace(OpOperand &use, LayoutAttr layout, AxisAttr axis,
                      dist::MeshAxesAttr mesh) {
  auto model = dyn_cast<ShardingRuleOpInterface>(use.getOwner());
  if (!model)
    return true;
  ShardingRule rule = model.getShardingRule();
  const TensorFactors &tensor = rule.operands[use.getOperandNumber()];
  std::optional<int> factor = findFactor(rule, tensor, layout, axis, mesh);
  if (!factor)
    return false;
  bool isOfResult =
      llvm::any_of(rule.results, [&](const TensorFactors &result) {
        return hasFactor(result, *factor);
      });
  return isOfResult ? passesOn(use, rule, *factor, axis, mesh)
                    : agreesWithOthers(use, rule, *factor, axis, mesh);
}

std::optional<int> llmc::countUsesInPlace(Value value, LayoutAttr layout,
                                          Operation *user, AxisAttr axis,
                                          dist::MeshAxesAttr mesh) {
  int count = 0;
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner() != user && !isInPlace(use, layout, axis, mesh))
      return std::nullopt;
    ++count;
  }
  return count;
}
