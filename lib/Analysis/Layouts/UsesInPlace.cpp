//===- UsesInPlace.cpp - Whether others gather a value too ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/UsesInPlace.h"

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Analysis/Layouts/Remaking.h"
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

//===----------------------------------------------------------------------===//
// Terms of one sum
//===----------------------------------------------------------------------===//

/// Sums in a row that are looked through.
static constexpr int kMostSums = 8;

/// The op does nothing but add its operands, or arranges the elements of one.
static bool addsOrArranges(const ShardingRule &rule) {
  bool isSum = rule.results.size() == 1 && rule.addends.size() > 1 &&
               rule.addends.size() == rule.operands.size();
  bool isOfOne = rule.operands.size() == 1 && rule.results.size() == 1;
  return isSum ||
         (isOfOne && llvm::any_of(rule.carries, [](const Linearity &l) {
            return l.kind == ReductionKind::sum;
          }));
}

static std::optional<ShardingRule> getRule(Operation *op) {
  auto model = dyn_cast_or_null<ShardingRuleOpInterface>(op);
  return model ? std::optional(model.getShardingRule()) : std::nullopt;
}

/// All operands that have the factor, several, are split along it.
static bool areSplitAlike(const ShardingRule &rule,
                          ArrayRef<LayoutAttr> operands, int factor,
                          AxisAttr axis, dist::MeshAxesAttr mesh) {
  int have = 0;
  for (auto [layout, tensor] : llvm::zip_equal(operands, rule.operands)) {
    if (!hasFactor(tensor, factor))
      continue;
    if (findFactor(rule, tensor, layout, axis, mesh) != factor)
      return false;
    ++have;
  }
  return have > 1;
}

/// A product that is left with terms over the axis as it runs by itself, of
/// operands that stay where they are. What a light op adds up may be moved
/// instead.
static bool makesTerms(Operation *op, const ShardingRule &rule, AxisAttr axis,
                       dist::MeshAxesAttr mesh) {
  if (isLight(op))
    return false;
  LayoutProblem problem{nullptr, rule, mesh, {}, {}};
  for (Value operand : op->getOperands())
    problem.operands.push_back(getDecidedLayout(operand));
  for (Value result : op->getResults())
    problem.results.push_back(getDecidedLayout(result));
  FactorSplits splits = chooseSplits(problem);
  for (auto [number, factor] : llvm::enumerate(rule.factors))
    if (factor.kind == FactorKind::Reduced &&
        factor.reduction == ReductionKind::sum && splits[number] &&
        llvm::is_contained(splits[number]->axes, axis) &&
        areSplitAlike(rule, problem.operands, static_cast<int>(number), axis,
                      mesh))
      return true;
  return false;
}

static bool isOfTerms(Value value, AxisAttr axis, dist::MeshAxesAttr mesh,
                      int depth) {
  LayoutAttr layout = getDecidedLayout(value);
  if (layout && layout.getPartialKind(axis.getName()) == ReductionKind::sum)
    return true;
  Operation *op = value.getDefiningOp();
  std::optional<ShardingRule> rule = getRule(op);
  if (!rule || depth >= kMostSums)
    return false;
  if (!addsOrArranges(*rule))
    return makesTerms(op, *rule, axis, mesh);
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isOfTerms(operand, axis, mesh, depth + 1);
  });
}

bool llmc::joinsTerms(Value value, AxisAttr axis, dist::MeshAxesAttr mesh) {
  for (int depth = 0; depth < kMostSums && value.hasOneUse(); ++depth) {
    Operation *user = *value.user_begin();
    std::optional<ShardingRule> rule = getRule(user);
    if (!rule || !addsOrArranges(*rule))
      return false;
    for (Value other : user->getOperands())
      if (other != value && isOfTerms(other, axis, mesh, depth + 1))
        return true;
    value = user->getResult(0);
  }
  return false;
}
