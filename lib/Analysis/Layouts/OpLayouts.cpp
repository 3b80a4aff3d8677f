//===- OpLayouts.cpp - In which splits an op runs -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OpLayouts.h. Everything is counted in elements of whole tensors, which
// follow from the rule's factors.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/OpLayouts.h"

#include "OpView.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using dist::AxisAttr;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

static bool isPartialOver(LayoutAttr layout, AxisAttr axis) {
  return llvm::any_of(layout.getPartial(), [&](dist::PartialAttr part) {
    return containsAxis(part.getAxes(), axis);
  });
}

/// The factor that `axis` splits.
static std::optional<int> findHome(const FactorSplits &splits, AxisAttr axis) {
  for (auto [factor, split] : llvm::enumerate(splits))
    if (containsAxis(split->axes, axis))
      return static_cast<int>(factor);
  return std::nullopt;
}

static void splitByResults(const OpView &view, FactorSplits &splits) {
  for (auto [layout, factors] :
       llvm::zip(view.decided.results, view.decided.rule.results)) {
    if (!layout)
      continue;
    projectToFactors(
        layout, factors, view.decided.rule.factors, view.decided.mesh, "",
        [&](int factor, const FactorSplit &split) {
          FactorKind kind = view.decided.rule.factors[factor].kind;
          bool isFree = kind == FactorKind::Pass || kind == FactorKind::Reduced;
          bool isTaken = llvm::any_of(split.axes, [&](AxisAttr axis) {
            return findHome(splits, axis) || isPartialOver(view.wanted, axis);
          });
          if (isFree && !isTaken && splits[factor]->isWhole())
            splits[factor] = split;
        });
  }
}

/// Takes `axis` for `factor`, which is in no result; false when it is in use.
static bool takes(const OpView &view, FactorSplits &splits, int factor,
                  AxisAttr axis) {
  if (!view.like.getPin(axis.getName()).empty())
    return false;
  std::optional<int> home = findHome(splits, axis);
  if (!home)
    return !isDearSum(view, factor, axis);
  bool isOfResult = false;
  for (const TensorFactors &tensor : view.decided.rule.results)
    for (ArrayRef<int> dim : tensor)
      isOfResult |= llvm::is_contained(dim, *home);
  if (!isOfResult || !isTakenFrom(view, *home, factor, axis))
    return false;
  // What stands after it in the list cannot stay either.
  SmallVector<AxisAttr, 1> &axes = splits[*home]->axes;
  while (!axes.empty() && containsAxis(axes, axis))
    axes.pop_back();
  return true;
}

/// Takes several axes that nothing else uses, if all together add up less than
/// they gather, whatever each does.
static bool takesAll(const OpView &view, const FactorSplits &splits, int factor,
                     ArrayRef<AxisAttr> axes) {
  return axes.size() > 1 && isOfOne(view, factor) &&
         llvm::all_of(axes,
                      [&](AxisAttr axis) {
                        return view.like.getPin(axis.getName()).empty() &&
                               !findHome(splits, axis);
                      }) &&
         !isDearSum(view, factor, axes);
}

/// As the largest operand that splits it says.
static void splitOther(const OpView &view, FactorSplits &splits, int factor) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < view.operands().size(); ++i)
    if (view.operands()[i] && view.has(i, factor))
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) {
    int64_t sizeA = view.getElements(view.factorsOf(a)),
            sizeB = view.getElements(view.factorsOf(b));
    return sizeA != sizeB ? sizeA > sizeB : a < b;
  });
  for (size_t i : order) {
    const std::optional<FactorSplit> &split = view.poured[i][factor];
    if (!split || split->axes.empty())
      continue;
    FactorSplit taken{{}, split->atoms};
    if (takesAll(view, splits, factor, split->axes))
      taken.axes = split->axes;
    for (AxisAttr axis : ArrayRef(split->axes).drop_front(taken.axes.size())) {
      if (!takes(view, splits, factor, axis))
        break;
      taken.axes.push_back(axis);
    }
    if (taken.axes.empty())
      continue;
    splits[factor] = taken;
    return;
  }
}

static void splitOthers(const OpView &view, FactorSplits &splits) {
  SmallVector<bool> isOfResult(view.decided.rule.factors.size(), false);
  for (const TensorFactors &tensor : view.decided.rule.results)
    for (ArrayRef<int> dim : tensor)
      for (int factor : dim)
        isOfResult[factor] = true;
  for (auto [i, factor] : llvm::enumerate(view.decided.rule.factors))
    if (!isOfResult[i] &&
        (factor.kind == FactorKind::Reduced || factor.kind == FactorKind::Pass))
      splitOther(view, splits, static_cast<int>(i));
}

/// A dim whose minor factor is split while the major one is not used up cannot
/// be stored: its factors are made whole from the minor end.
static bool dropUnstorable(const OpView &view, FactorSplits &splits) {
  bool isChanged = false;
  auto drop = [&](const TensorFactors &tensor) {
    for (ArrayRef<int> dim : tensor) {
      SmallVector<FactorSplit> parts;
      SmallVector<int64_t> sizes;
      for (int factor : dim) {
        parts.push_back(*splits[factor]);
        sizes.push_back(view.decided.rule.factors[factor].size);
      }
      for (size_t i = dim.size(); i-- > 1;) {
        if (assembleDim(view.like.getContext(), parts, sizes,
                        view.decided.mesh))
          break;
        isChanged |= !parts[i].isWhole();
        parts[i] = FactorSplit();
        splits[dim[i]] = FactorSplit();
      }
    }
  };
  llvm::for_each(view.decided.rule.operands, drop);
  llvm::for_each(view.decided.rule.results, drop);
  return isChanged;
}

static FactorSplits splitFactors(const OpView &view) {
  FactorSplits splits(view.decided.rule.factors.size(), FactorSplit());
  if (!view.like)
    return splits;
  splitByResults(view, splits);
  splitOthers(view, splits);
  // What one tensor loses, another one may need: each round makes at least one
  // factor whole.
  while (dropUnstorable(view, splits))
    ;
  return splits;
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

static SmallVector<std::pair<AxisAttr, ReductionKind>>
findReduced(const OpView &view, const FactorSplits &splits) {
  SmallVector<std::pair<AxisAttr, ReductionKind>> reduced;
  for (auto [split, factor] : llvm::zip(splits, view.decided.rule.factors))
    if (factor.kind == FactorKind::Reduced &&
        !isSeeded(Fault::reducedFactorIsNotPartial))
      for (AxisAttr axis : split->axes)
        reduced.push_back({axis, factor.reduction});
  return reduced;
}

/// The group of operands whose partial sums are carried: of several that hold
/// one, the one whose partial operand is defined last.
static std::optional<ArrayRef<int>>
chooseGroup(const OpView &view, AxisAttr axis, ReductionKind kind) {
  auto isLater = [&](int a, int b) {
    if (!view.decided.op)
      return a > b;
    Operation *x = view.decided.op->getOperand(a).getDefiningOp();
    Operation *y = view.decided.op->getOperand(b).getDefiningOp();
    if (!x || !y || x->getBlock() != y->getBlock())
      return x != nullptr;
    return y->isBeforeInBlock(x);
  };
  std::optional<int> latest;
  std::optional<ArrayRef<int>> chosen;
  for (const Linearity &linearity : view.decided.rule.carries) {
    if (linearity.kind != kind)
      continue;
    for (ArrayRef<int> group : linearity.groups)
      for (int i : group) {
        bool isTerm = view.isPartial(i, axis, kind) ||
                      (kind == ReductionKind::sum && view.isApart(i, axis));
        if (isTerm && (!latest || isLater(i, *latest))) {
          latest = i;
          chosen = group;
        }
      }
  }
  return chosen;
}

static std::optional<CarriedAxis> carry(const OpView &view,
                                        const FactorSplits &splits,
                                        AxisAttr axis, ReductionKind kind,
                                        bool isDecided) {
  if (findHome(splits, axis))
    return std::nullopt;
  std::optional<ArrayRef<int>> group = chooseGroup(view, axis, kind);
  bool isSumOfSeveral =
      group && group->size() > 1 &&
      llvm::any_of(*group, [&](int i) { return view.isApart(i, axis); });
  if (!group || (!isDecided && !isSumOfSeveral))
    return std::nullopt;
  // Where stages are joined, only a sum can be made of a full operand.
  bool isKept = kind == ReductionKind::sum || isIdempotent(kind) ||
                view.like.getPin(axis.getName()).empty();
  if (!isKept && !llvm::all_of(*group, [&](int i) {
        return view.isPartial(i, axis, kind);
      }))
    return std::nullopt;
  return CarriedAxis{axis, kind, SmallVector<int>(*group)};
}

/// What the op itself leaves partial, `reduced`, and what it carries are of one
/// kind, as no value is partial in two ways.
static SmallVector<CarriedAxis>
findCarried(const OpView &view, const FactorSplits &splits,
            ArrayRef<std::pair<AxisAttr, ReductionKind>> reduced) {
  SmallVector<CarriedAxis> carried;
  auto add = [&](AxisAttr axis, ReductionKind kind, bool isDecided) {
    bool isOfKind = llvm::all_of(
        reduced, [&](const auto &made) { return made.second == kind; });
    if (!isOfKind)
      return;
    if (auto found = carry(view, splits, axis, kind, isDecided))
      carried.push_back(std::move(*found));
  };
  if (!view.wanted)
    return carried;
  for (dist::PartialAttr part : view.wanted.getPartial())
    for (AxisAttr axis : part.getAxes())
      add(axis, part.getKind(), /*isDecided=*/true);
  // Operands of a sum that live at some of its coordinates are terms of it,
  // decided or not; other ops are sent what they lack.
  for (dist::PinAttr pin : view.wanted.getAt()) {
    auto axis =
        AxisAttr::get(view.wanted.getContext(), pin.getAxis().getValue());
    if (view.isSum() && !isPartialOver(view.wanted, axis))
      add(axis, ReductionKind::sum, /*isDecided=*/false);
  }
  return carried;
}

/// The axis over which the op is a join: terms at disjoint coordinates need no
/// addition.
static AxisAttr findJoin(const OpView &view,
                         ArrayRef<CarriedAxis> carriedAxes) {
  AxisAttr joined;
  for (const CarriedAxis &carried : carriedAxes) {
    if (carried.kind != ReductionKind::sum || !view.isSum())
      continue;
    SmallVector<int64_t> seen;
    bool isDisjoint = true;
    for (size_t i = 0; i < view.operands().size(); ++i) {
      isDisjoint &= view.isApart(i, carried.axis);
      if (isDisjoint)
        for (int64_t c : view.operands()[i].getPin(carried.axis.getName())) {
          isDisjoint &= !llvm::is_contained(seen, c);
          seen.push_back(c);
        }
    }
    if (isDisjoint)
      joined = carried.axis;
  }
  return joined;
}

//===----------------------------------------------------------------------===//
// Wanted and made
//===----------------------------------------------------------------------===//

/// A term of a reduced sum without the factor that is split: one device alone
/// may contribute it.
static bool isAddendOver(const OpView &view, const FactorSplits &splits,
                         size_t operand, AxisAttr axis, ReductionKind kind) {
  if (!llvm::is_contained(view.decided.rule.addends, static_cast<int>(operand)))
    return false;
  std::optional<int> home = findHome(splits, axis);
  if (!home || view.has(operand, *home) || isSeeded(Fault::addendIsKeptByAll))
    return false;
  return !isIdempotent(kind) || view.isPartial(operand, axis, kind);
}

static LayoutAttr wantOf(const OpView &view, const OpLayouts &made,
                         size_t operand) {
  LayoutAttr own = view.operands()[operand];
  if (!own)
    return {};
  LayoutAttr want =
      layoutFromFactors(view.factorsOf(operand), view.decided.rule.factors,
                        made.splits, view.decided.mesh, view.like);
  for (auto [axis, kind] : made.reduced)
    if (isAddendOver(view, made.splits, operand, axis, kind))
      want = want.withPartialOver(axis, kind);
  for (const CarriedAxis &carried : made.carried) {
    if (!llvm::is_contained(carried.group, static_cast<int>(operand)))
      continue;
    if (carried.axis == made.joined) {
      // Each term stays where it is, as the sum that it is there.
      SmallVector<dist::PinAttr> pins;
      for (dist::PinAttr pin : want.getAt())
        if (pin.getAxis() != carried.axis.getName())
          pins.push_back(pin);
      ArrayRef<int64_t> at = own.getPin(carried.axis.getName());
      pins.push_back(
          dist::PinAttr::get(own.getContext(), carried.axis.getName(), at));
      want = want.withPins(pins);
      if (at.size() > 1)
        want = want.withPartialOver(carried.axis, ReductionKind::sum);
      continue;
    }
    if ((!isIdempotent(carried.kind) &&
         !isSeeded(Fault::partialIsCarriedPastFull)) ||
        view.isPartial(operand, carried.axis, carried.kind))
      want = want.withPartialOver(carried.axis, carried.kind);
  }
  return want;
}

static LayoutAttr resultOf(const OpView &view, const OpLayouts &made,
                           size_t number) {
  const LayoutProblem &decided = view.decided;
  if (!decided.results[number])
    return {};
  LayoutAttr result =
      layoutFromFactors(decided.rule.results[number], decided.rule.factors,
                        made.splits, decided.mesh, view.like);
  for (auto [axis, kind] : made.reduced)
    result = result.withPartialOver(axis, kind);
  for (const CarriedAxis &carried : made.carried)
    result = result.withPartialOver(carried.axis, carried.kind);
  return result;
}

OpLayouts llmc::getOpLayouts(const LayoutProblem &decided) {
  OpView view(decided);
  OpLayouts made;
  made.splits = splitFactors(view);
  made.operands.resize(decided.operands.size());
  made.results.resize(decided.results.size());
  if (!view.like)
    return made;
  made.reduced = findReduced(view, made.splits);
  made.carried = findCarried(view, made.splits, made.reduced);
  made.joined = findJoin(view, made.carried);
  for (size_t i = 0; i < decided.operands.size(); ++i)
    made.operands[i] = wantOf(view, made, i);
  for (size_t i = 0; i < decided.results.size(); ++i)
    made.results[i] = resultOf(view, made, i);
  return made;
}

bool OpLayouts::operator==(const OpLayouts &other) const {
  return operands == other.operands && results == other.results &&
         splits == other.splits && reduced == other.reduced &&
         carried == other.carried && joined == other.joined;
}

size_t OpLayoutsHash::operator()(const OpLayouts &layouts) const {
  return llvm::hash_combine(ArrayRef(layouts.operands),
                            ArrayRef(layouts.results), layouts.splits.size(),
                            layouts.carried.size());
}

FactorSplits llmc::chooseSplits(const LayoutProblem &decided) {
  return splitFactors(OpView(decided));
}

bool llmc::isReadableAs(LayoutAttr have, LayoutAttr want) {
  if (have.getDims() != want.getDims() ||
      have.getPartial() != want.getPartial() ||
      have.getReplicated() != want.getReplicated())
    return false;
  SmallVector<dist::PinAttr> pins(have.getAt());
  llvm::append_range(pins, want.getAt());
  return llvm::all_of(pins, [&](dist::PinAttr pin) {
    StringRef axis = pin.getAxis();
    ArrayRef<int64_t> lives = have.getPin(axis), read = want.getPin(axis);
    if (lives == read)
      return true;
    bool isInside = llvm::all_of(
        read, [&](int64_t c) { return llvm::is_contained(lives, c); });
    return !have.getPartialKind(axis) &&
           (lives.empty() || (!read.empty() && isInside));
  });
}
