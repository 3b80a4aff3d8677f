//===- OpLayouts.cpp - In which splits an op runs -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OpLayouts.h. Everything is counted in elements of whole tensors, which
// follow from the rule's factors.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using dist::AxisAttr;
using dist::LayoutAttr;

namespace {
class Chooser {
public:
  explicit Chooser(const LayoutProblem &decided);

  OpLayouts run();
  FactorSplits chooseSplits();

private:
  ArrayRef<LayoutAttr> operands() const { return decided.operands; }
  const TensorFactors &factorsOf(size_t operand) const {
    return decided.rule.operands[operand];
  }
  bool has(size_t operand, int factor) const;
  bool isSplitBy(size_t operand, int factor, AxisAttr axis) const;
  int64_t getElements(const TensorFactors &tensor) const;
  double getLocalElements(const TensorFactors &tensor, LayoutAttr layout,
                          AxisAttr without) const;

  void splitByResults();
  void splitOthers();
  void splitOther(int factor);
  bool takes(int factor, AxisAttr axis);
  bool isTakenFrom(int resultFactor, int factor, AxisAttr axis) const;
  double priceGather(int from, int to, AxisAttr axis) const;
  std::optional<int> findHome(AxisAttr axis) const;
  bool dropUnstorable();

  void findReduced();
  void findCarried();
  void carry(AxisAttr axis, ReductionKind kind, bool isDecided);
  std::optional<ArrayRef<int>> chooseGroup(AxisAttr axis,
                                           ReductionKind kind) const;
  bool isPartial(size_t operand, AxisAttr axis, ReductionKind kind) const;
  bool isApart(size_t operand, AxisAttr axis) const;
  bool isSum() const;
  void findJoin();
  LayoutAttr wantOf(size_t operand) const;
  bool isAddendOver(size_t operand, AxisAttr axis, ReductionKind kind) const;

  const LayoutProblem &decided;
  /// Mesh and pins of the op; null when nothing has a layout.
  LayoutAttr like;
  /// The decided layout of the first result.
  LayoutAttr wanted;
  /// For each operand with a layout, the splits of its factors.
  SmallVector<FactorSplits> poured;
  OpLayouts made;
};
} // namespace

Chooser::Chooser(const LayoutProblem &decided) : decided(decided) {
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
  made.splits.assign(decided.rule.factors.size(), FactorSplit());
}

//===----------------------------------------------------------------------===//
// Questions on factors
//===----------------------------------------------------------------------===//

static bool containsAxis(ArrayRef<AxisAttr> axes, AxisAttr axis) {
  return llvm::any_of(axes, [&](AxisAttr a) { return a.overlaps(axis); });
}

static bool isPartialOver(LayoutAttr layout, AxisAttr axis) {
  return llvm::any_of(layout.getPartial(), [&](dist::PartialAttr part) {
    return containsAxis(part.getAxes(), axis);
  });
}

bool Chooser::has(size_t operand, int factor) const {
  return llvm::any_of(factorsOf(operand), [&](ArrayRef<int> dim) {
    return llvm::is_contained(dim, factor);
  });
}

bool Chooser::isSplitBy(size_t operand, int factor, AxisAttr axis) const {
  const std::optional<FactorSplit> &split = poured[operand][factor];
  return split && containsAxis(split->axes, axis);
}

int64_t Chooser::getElements(const TensorFactors &tensor) const {
  int64_t elements = 1;
  for (ArrayRef<int> dim : tensor)
    for (int factor : dim)
      elements *= decided.rule.factors[factor].size;
  return elements;
}

/// Elements that a device holds, `without` not counted as a split.
double Chooser::getLocalElements(const TensorFactors &tensor, LayoutAttr layout,
                                 AxisAttr without) const {
  double elements = getElements(tensor);
  for (dist::DimAttr dim : layout.getDims())
    for (AxisAttr axis : dim.getAxes())
      if (!axis.overlaps(without))
        elements /= axis.getSize(decided.mesh);
  return elements;
}

std::optional<int> Chooser::findHome(AxisAttr axis) const {
  for (auto [factor, split] : llvm::enumerate(made.splits))
    if (containsAxis(split->axes, axis))
      return static_cast<int>(factor);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

void Chooser::splitByResults() {
  for (auto [layout, factors] :
       llvm::zip(decided.results, decided.rule.results)) {
    if (!layout)
      continue;
    projectToFactors(
        layout, factors, decided.rule.factors, decided.mesh, "",
        [&](int factor, const FactorSplit &split) {
          FactorKind kind = decided.rule.factors[factor].kind;
          bool isFree = kind == FactorKind::Pass || kind == FactorKind::Reduced;
          bool isTaken = llvm::any_of(split.axes, [&](AxisAttr axis) {
            return findHome(axis) || isPartialOver(wanted, axis);
          });
          if (isFree && !isTaken && made.splits[factor]->isWhole())
            made.splits[factor] = split;
        });
  }
}

/// Elements that a device receives when the operands that `axis` splits along
/// factor `from` are moved for the op to run with it on factor `to` (-1: on
/// none): an all-to-all where the operand has both, else an all-gather.
double Chooser::priceGather(int from, int to, AxisAttr axis) const {
  double price = 0, n = axis.getSize(decided.mesh);
  for (auto [i, layout] : llvm::enumerate(operands())) {
    if (!layout || !isSplitBy(i, from, axis))
      continue;
    double local = getLocalElements(factorsOf(i), layout, axis);
    price += has(i, to) ? local / n * (n - 1) / n : local * (n - 1) / n;
  }
  return price;
}

/// Whether the result shall leave `axis`, which splits it along `resultFactor`,
/// to the reduced `factor`: the result is then scattered after the op.
bool Chooser::isTakenFrom(int resultFactor, int factor, AxisAttr axis) const {
  if (decided.rule.factors[factor].kind != FactorKind::Reduced)
    return false;
  double n = axis.getSize(decided.mesh), scatter = 0;
  for (auto [layout, factors] :
       llvm::zip(decided.results, decided.rule.results))
    if (layout)
      scatter += getLocalElements(factors, layout, axis) * (n - 1) / n;
  // What must move anyway is often gathered for other uses too.
  if (priceGather(resultFactor, factor, axis) > 0)
    return false;
  // Operands that agree rather stay: a weight that is split for this dot would
  // be gathered in each microbatch.
  bool agree = true;
  for (size_t i = 0; i < operands().size(); ++i)
    agree &= !operands()[i] || !has(i, factor) || isSplitBy(i, factor, axis);
  return scatter <= priceGather(factor, resultFactor, axis) * (agree ? 4 : 1);
}

/// Takes `axis` for `factor`, which is in no result; false when it is in use.
bool Chooser::takes(int factor, AxisAttr axis) {
  if (!like.getPin(axis.getName()).empty())
    return false;
  std::optional<int> home = findHome(axis);
  if (!home)
    return true;
  bool isOfResult = false;
  for (const TensorFactors &tensor : decided.rule.results)
    for (ArrayRef<int> dim : tensor)
      isOfResult |= llvm::is_contained(dim, *home);
  if (!isOfResult || !isTakenFrom(*home, factor, axis))
    return false;
  // What stands after it in the list cannot stay either.
  SmallVector<AxisAttr, 1> &axes = made.splits[*home]->axes;
  while (!axes.empty() && containsAxis(axes, axis))
    axes.pop_back();
  return true;
}

/// As the largest operand that splits it says.
void Chooser::splitOther(int factor) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < operands().size(); ++i)
    if (operands()[i] && has(i, factor))
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) {
    int64_t sizeA = getElements(factorsOf(a)),
            sizeB = getElements(factorsOf(b));
    return sizeA != sizeB ? sizeA > sizeB : a < b;
  });
  for (size_t i : order) {
    const std::optional<FactorSplit> &split = poured[i][factor];
    if (!split || split->axes.empty())
      continue;
    FactorSplit taken{{}, split->atoms};
    for (AxisAttr axis : split->axes) {
      if (!takes(factor, axis))
        break;
      taken.axes.push_back(axis);
    }
    if (taken.axes.empty())
      continue;
    made.splits[factor] = taken;
    return;
  }
}

void Chooser::splitOthers() {
  SmallVector<bool> isOfResult(decided.rule.factors.size(), false);
  for (const TensorFactors &tensor : decided.rule.results)
    for (ArrayRef<int> dim : tensor)
      for (int factor : dim)
        isOfResult[factor] = true;
  for (auto [i, factor] : llvm::enumerate(decided.rule.factors))
    if (!isOfResult[i] &&
        (factor.kind == FactorKind::Reduced || factor.kind == FactorKind::Pass))
      splitOther(static_cast<int>(i));
}

/// A dim whose minor factor is split while the major one is not used up cannot
/// be stored: its factors are made whole from the minor end.
bool Chooser::dropUnstorable() {
  bool isChanged = false;
  auto drop = [&](const TensorFactors &tensor) {
    for (ArrayRef<int> dim : tensor) {
      SmallVector<FactorSplit> splits;
      SmallVector<int64_t> sizes;
      for (int factor : dim) {
        splits.push_back(*made.splits[factor]);
        sizes.push_back(decided.rule.factors[factor].size);
      }
      for (size_t i = dim.size(); i-- > 1;) {
        if (assembleDim(like.getContext(), splits, sizes, decided.mesh))
          break;
        isChanged |= !splits[i].isWhole();
        splits[i] = FactorSplit();
        made.splits[dim[i]] = FactorSplit();
      }
    }
  };
  llvm::for_each(decided.rule.operands, drop);
  llvm::for_each(decided.rule.results, drop);
  return isChanged;
}

FactorSplits Chooser::chooseSplits() {
  if (!like)
    return made.splits;
  splitByResults();
  splitOthers();
  // What one tensor loses, another one may need: each round makes at least one
  // factor whole.
  while (dropUnstorable())
    ;
  return made.splits;
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

void Chooser::findReduced() {
  for (auto [split, factor] : llvm::zip(made.splits, decided.rule.factors))
    if (factor.kind == FactorKind::Reduced &&
        !isSeeded(Fault::reducedFactorIsNotPartial))
      for (AxisAttr axis : split->axes)
        made.reduced.push_back({axis, factor.reduction});
}

bool Chooser::isPartial(size_t operand, AxisAttr axis,
                        ReductionKind kind) const {
  LayoutAttr layout = operands()[operand];
  return layout && layout.getPartialKind(axis.getName()) == kind;
}

/// The operand does not live at all of the op's coordinates, though there are
/// several: elsewhere it counts as zero.
bool Chooser::isApart(size_t operand, AxisAttr axis) const {
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

/// The group of operands whose partial sums are carried: of several that hold
/// one, the one whose partial operand is defined last.
std::optional<ArrayRef<int>> Chooser::chooseGroup(AxisAttr axis,
                                                  ReductionKind kind) const {
  auto isLater = [&](int a, int b) {
    if (!decided.op)
      return a > b;
    Operation *x = decided.op->getOperand(a).getDefiningOp();
    Operation *y = decided.op->getOperand(b).getDefiningOp();
    if (!x || !y || x->getBlock() != y->getBlock())
      return x != nullptr;
    return y->isBeforeInBlock(x);
  };
  std::optional<int> latest;
  std::optional<ArrayRef<int>> chosen;
  for (const Linearity &linearity : decided.rule.carries) {
    if (linearity.kind != kind)
      continue;
    for (ArrayRef<int> group : linearity.groups)
      for (int i : group) {
        bool isTerm = isPartial(i, axis, kind) ||
                      (kind == ReductionKind::sum && isApart(i, axis));
        if (isTerm && (!latest || isLater(i, *latest))) {
          latest = i;
          chosen = group;
        }
      }
  }
  return chosen;
}

void Chooser::carry(AxisAttr axis, ReductionKind kind, bool isDecided) {
  if (findHome(axis))
    return;
  std::optional<ArrayRef<int>> group = chooseGroup(axis, kind);
  bool isSumOfSeveral =
      group && group->size() > 1 &&
      llvm::any_of(*group, [&](int i) { return isApart(i, axis); });
  if (!group || (!isDecided && !isSumOfSeveral))
    return;
  // Where stages are joined, only a sum can be made of a full operand.
  bool isKept = kind == ReductionKind::sum || isIdempotent(kind) ||
                like.getPin(axis.getName()).empty();
  if (!isKept &&
      !llvm::all_of(*group, [&](int i) { return isPartial(i, axis, kind); }))
    return;
  made.carried.push_back({axis, kind, SmallVector<int>(*group)});
}

void Chooser::findCarried() {
  if (!wanted)
    return;
  for (dist::PartialAttr part : wanted.getPartial())
    for (AxisAttr axis : part.getAxes())
      carry(axis, part.getKind(), /*isDecided=*/true);
  // Operands of a sum that live at some of its coordinates are terms of it,
  // decided or not; other ops are sent what they lack.
  for (dist::PinAttr pin : wanted.getAt()) {
    auto axis = AxisAttr::get(wanted.getContext(), pin.getAxis().getValue());
    if (isSum() && !isPartialOver(wanted, axis))
      carry(axis, ReductionKind::sum, /*isDecided=*/false);
  }
}

/// The op does nothing but add its operands, element by element.
bool Chooser::isSum() const {
  const ShardingRule &rule = decided.rule;
  return rule.results.size() == 1 && rule.addends.size() > 1 &&
         rule.addends.size() == rule.operands.size() &&
         llvm::all_of(rule.operands, [&](const TensorFactors &tensor) {
           return tensor == rule.results[0];
         });
}

/// Terms at disjoint coordinates need no addition.
void Chooser::findJoin() {
  for (const CarriedAxis &carried : made.carried) {
    if (carried.kind != ReductionKind::sum || !isSum())
      continue;
    SmallVector<int64_t> seen;
    bool isDisjoint = true;
    for (size_t i = 0; i < operands().size(); ++i) {
      isDisjoint &= isApart(i, carried.axis);
      if (isDisjoint)
        for (int64_t c : operands()[i].getPin(carried.axis.getName())) {
          isDisjoint &= !llvm::is_contained(seen, c);
          seen.push_back(c);
        }
    }
    if (isDisjoint)
      made.joined = carried.axis;
  }
}

//===----------------------------------------------------------------------===//
// Wanted and made
//===----------------------------------------------------------------------===//

/// A term of a reduced sum without the factor that is split: one device alone
/// may contribute it.
bool Chooser::isAddendOver(size_t operand, AxisAttr axis,
                           ReductionKind kind) const {
  if (!llvm::is_contained(decided.rule.addends, static_cast<int>(operand)))
    return false;
  std::optional<int> home = findHome(axis);
  if (!home || has(operand, *home) || isSeeded(Fault::addendIsKeptByAll))
    return false;
  return !isIdempotent(kind) || isPartial(operand, axis, kind);
}

LayoutAttr Chooser::wantOf(size_t operand) const {
  LayoutAttr own = operands()[operand];
  if (!own)
    return {};
  LayoutAttr want = layoutFromFactors(factorsOf(operand), decided.rule.factors,
                                      made.splits, decided.mesh, like);
  for (auto [axis, kind] : made.reduced)
    if (isAddendOver(operand, axis, kind))
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
        isPartial(operand, carried.axis, carried.kind))
      want = want.withPartialOver(carried.axis, carried.kind);
  }
  return want;
}

OpLayouts Chooser::run() {
  chooseSplits();
  made.operands.resize(operands().size());
  made.results.resize(decided.results.size());
  if (!like)
    return std::move(made);
  findReduced();
  findCarried();
  findJoin();
  for (size_t i = 0; i < operands().size(); ++i)
    made.operands[i] = wantOf(i);
  for (auto [i, layout] : llvm::enumerate(decided.results)) {
    if (!layout)
      continue;
    LayoutAttr result =
        layoutFromFactors(decided.rule.results[i], decided.rule.factors,
                          made.splits, decided.mesh, like);
    for (auto [axis, kind] : made.reduced)
      result = result.withPartialOver(axis, kind);
    for (const CarriedAxis &carried : made.carried)
      result = result.withPartialOver(carried.axis, carried.kind);
    made.results[i] = result;
  }
  return std::move(made);
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

OpLayouts llmc::getOpLayouts(const LayoutProblem &decided) {
  return Chooser(decided).run();
}

FactorSplits llmc::chooseSplits(const LayoutProblem &decided) {
  return Chooser(decided).chooseSplits();
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
