//===- OpView.cpp - An op's operands by factors ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpView.h"

#include "llmc/Analysis/Layouts/UsesInPlace.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using dist::AxisAttr;
using dist::LayoutAttr;

OpView::OpView(const LayoutProblem &decided) : decided(decided) {
  for (LayoutAttr layout : decided.results)
    if (!wanted)
      wanted = layout;
  like = wanted;
  for (auto [i, layout] : llvm::enumerate(decided.operands)) {
    FactorSplits splits(decided.rule.factors.size());
    if (layout)
      projectToFactors(layout, factorsOf(i), decided.rule.factors, decided.mesh,
                       "", [&](int factor, const FactorSplit &split) {
                         splits[factor] = split;
                       });
    if (!like)
      like = layout;
    poured.push_back(std::move(splits));
  }
}

//===----------------------------------------------------------------------===//
// Questions on factors
//===----------------------------------------------------------------------===//

bool OpView::has(size_t operand, int factor) const {
  return llvm::any_of(factorsOf(operand), [&](ArrayRef<int> dim) {
    return llvm::is_contained(dim, factor);
  });
}

bool OpView::isSplitBy(size_t operand, int factor, AxisAttr axis) const {
  const std::optional<FactorSplit> &split = poured[operand][factor];
  return split && containsAxis(split->axes, axis);
}

int64_t OpView::getElements(const TensorFactors &tensor) const {
  int64_t elements = 1;
  for (ArrayRef<int> dim : tensor)
    for (int factor : dim)
      elements *= decided.rule.factors[factor].size;
  return elements;
}

/// Elements that a device holds, `without` not counted as a split.
double OpView::getLocalElements(const TensorFactors &tensor, LayoutAttr layout,
                                ArrayRef<AxisAttr> without) const {
  double elements = getElements(tensor);
  for (dist::DimAttr dim : layout.getDims())
    for (AxisAttr axis : dim.getAxes())
      if (!containsAxis(without, axis))
        elements /= axis.getSize(decided.mesh);
  return elements;
}

double OpView::countDevices(ArrayRef<AxisAttr> axes) const {
  double devices = 1;
  for (AxisAttr axis : axes)
    devices *= axis.getSize(decided.mesh);
  return devices;
}

bool OpView::isPartial(size_t operand, AxisAttr axis,
                       ReductionKind kind) const {
  LayoutAttr layout = operands()[operand];
  return layout && layout.getPartialKind(axis.getName()) == kind;
}

/// The operand does not live at all of the op's coordinates, though there are
/// several: elsewhere it counts as zero.
bool OpView::isApart(size_t operand, AxisAttr axis) const {
  LayoutAttr layout = operands()[operand];
  ArrayRef<int64_t> pin = like.getPin(axis.getName());
  if (!layout || pin.size() < 2)
    return false;
  ArrayRef<int64_t> own = layout.getPin(axis.getName());
  auto isIn = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return llvm::all_of(a, [&](int64_t x) { return llvm::is_contained(b, x); });
  };
  return !own.empty() && isIn(own, pin) && !isIn(pin, own);
}

/// The op does nothing but add its operands, element by element.
bool OpView::isSum() const {
  const ShardingRule &rule = decided.rule;
  return rule.results.size() == 1 && rule.addends.size() > 1 &&
         rule.addends.size() == rule.operands.size() &&
         llvm::all_of(rule.operands, [&](const TensorFactors &tensor) {
           return tensor == rule.results[0];
         });
}

//===----------------------------------------------------------------------===//
// What is sent
//===----------------------------------------------------------------------===//

/// Elements that a device receives when the operands that `axes` split along
/// factor `from` are moved for the op to run with them on factor `to` (-1: on
/// none): an all-to-all where the operand has both, else an all-gather.
static double priceGather(const OpView &view, int from, int to,
                          ArrayRef<AxisAttr> axes) {
  double price = 0, n = view.countDevices(axes);
  for (auto [i, layout] : llvm::enumerate(view.operands())) {
    if (!layout || !view.isSplitBy(i, from, axes.front()))
      continue;
    double local = view.getLocalElements(view.factorsOf(i), layout, axes);
    price += view.has(i, to) ? local / n * (n - 1) / n : local * (n - 1) / n;
  }
  return price;
}

/// Operands that have the reduced factor are split alike along it.
static bool agree(const OpView &view, int factor, AxisAttr axis) {
  bool agree = true;
  for (size_t i = 0; i < view.operands().size(); ++i)
    agree &= !view.operands()[i] || !view.has(i, factor) ||
             view.isSplitBy(i, factor, axis);
  return agree;
}

/// Elements that a device receives when partial results are scattered.
static double priceScatter(const OpView &view, ArrayRef<AxisAttr> axes) {
  double n = view.countDevices(axes), price = 0;
  for (auto [layout, factors] :
       llvm::zip(view.decided.results, view.decided.rule.results))
    if (layout)
      price += view.getLocalElements(factors, layout, axes) * (n - 1) / n;
  return price;
}

bool llmc::isOfOne(const OpView &view, int factor) {
  int operands = 0;
  for (size_t i = 0; i < view.operands().size(); ++i)
    operands += view.has(i, factor);
  return operands == 1;
}

/// What the op adds up is added to other terms over the axis, and reduced with
/// them.
static bool isAddedToTerms(const OpView &view, int factor, AxisAttr axis) {
  const Factor &reduced = view.decided.rule.factors[factor];
  return reduced.kind == FactorKind::Reduced &&
         reduced.reduction == ReductionKind::sum && view.decided.op &&
         view.decided.op->getNumResults() == 1 &&
         joinsTerms(view.decided.op->getResult(0), axis, view.decided.mesh);
}

bool llmc::isDearSum(const OpView &view, int factor, ArrayRef<AxisAttr> axes) {
  return view.decided.rule.factors[factor].kind == FactorKind::Reduced &&
         (!agree(view, factor, axes.front()) || isOfOne(view, factor)) &&
         2 * priceScatter(view, axes) > priceGather(view, factor, -1, axes) &&
         !isAddedToTerms(view, factor, axes.front());
}

/// The value is made of nothing that is sent, as zeros are.
static bool isOfConstants(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  return op && op->getNumOperands() == 0;
}

/// Operands that `axis` splits along the factor are there in any layout.
static bool isThere(const OpView &view, int factor, AxisAttr axis) {
  for (size_t i = 0; i < view.operands().size(); ++i)
    if (view.operands()[i] && view.isSplitBy(i, factor, axis) &&
        !isOfConstants(view.decided.op->getOperand(i)))
      return false;
  return true;
}

/// How many uses share what is gathered where `axis` does not split `factor`;
/// none where others gather it anyway, so that it is free here.
static std::optional<int> countSharers(const OpView &view, int factor,
                                       AxisAttr axis) {
  int sharers = 0;
  for (auto [i, layout] : llvm::enumerate(view.operands())) {
    if (!layout || !view.isSplitBy(i, factor, axis))
      continue;
    Operation *op = view.decided.op;
    std::optional<int> uses = op ? countUsesInPlace(op->getOperand(i), layout,
                                                    op, axis, view.decided.mesh)
                                 : std::nullopt;
    if (!uses)
      return std::nullopt;
    sharers = std::max(sharers, *uses);
  }
  return sharers;
}

bool llmc::isTakenFrom(const OpView &view, int resultFactor, int factor,
                       AxisAttr axis) {
  if (view.decided.rule.factors[factor].kind != FactorKind::Reduced)
    return false;
  if (isAddedToTerms(view, factor, axis) && isThere(view, resultFactor, axis))
    return true;
  double moved = priceGather(view, resultFactor, factor, axis),
         gathered = priceGather(view, factor, resultFactor, axis);
  // Indices move rather than the table that they look into.
  if (moved > 0) {
    std::optional<int> sharers = countSharers(view, factor, axis);
    return sharers && (moved + priceScatter(view, axis)) * *sharers <= gathered;
  }
  // Operands that agree rather stay: a weight that is split for this dot would
  // be gathered in each microbatch.
  int times = agree(view, factor, axis) ? 4 : 1;
  return priceScatter(view, axis) <= gathered * times;
}
