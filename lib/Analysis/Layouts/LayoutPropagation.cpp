//===- LayoutPropagation.cpp - Axes spread from values to values ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LayoutPropagation.h. An op is visited again when a list at it changed:
// forward over the dirty ones, then backward, until none is left. A list only
// grows, so the work is linear in ops plus changes.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutPropagation.h"
#include "llvm/ADT/STLExtras.h"

using namespace llmc;
using graph::FactorKind;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

int LayoutPropagation::addVariable(LayoutVariable variable) {
  variable.dims.resize(variable.shape.size());
  variable.origins.resize(variable.shape.size());
  for (auto [list, origins] : llvm::zip(variable.dims, variable.origins)) {
    origins.assign(list.size(), -1);
    for (int8_t axis : list)
      variable.axes |= uint64_t(1) << axis;
  }
  for (auto [d, size] : llvm::enumerate(variable.shape)) {
    int dim = classes.addDim(std::max<int64_t>(size, 1));
    if (d == 0)
      variable.firstDim = dim;
  }
  variables.push_back(std::move(variable));
  users.emplace_back();
  return static_cast<int>(variables.size()) - 1;
}

void LayoutPropagation::addRelation(LayoutRelation relation) {
  int number = static_cast<int>(relations.size());
  for (ArrayRef<int> list :
       {ArrayRef<int>(relation.operands), ArrayRef<int>(relation.results)})
    for (int variable : list) {
      if (variable < 0 || relation.onlyTies)
        continue;
      variables[variable].phases |= 1 << relation.phase;
      if (users[variable].empty() || users[variable].back() != number)
        users[variable].push_back(number);
    }
  // Distributed factors are whole until the op is replaced.
  for (int factor : relation.rule.distributed)
    relation.rule.factors[factor].kind = FactorKind::Pass;
  relations.emplace_back().given = std::move(relation);
}

static bool isSpread(FactorKind kind) {
  return kind == FactorKind::Pass || kind == FactorKind::Reduced;
}

void LayoutPropagation::prepare(Relation &relation) {
  const graph::ShardingRule &rule = relation.given.rule;
  relation.places.resize(rule.factors.size());
  auto addPlaces = [&](ArrayRef<int> numbers,
                       ArrayRef<graph::TensorFactors> tensors, bool isResult) {
    for (auto [slot, variable] : llvm::enumerate(numbers))
      for (auto [d, factors] : llvm::enumerate(tensors[slot]))
        for (auto [i, factor] : llvm::enumerate(factors))
          if (variable >= 0)
            relation.places[factor].push_back(
                {variable, static_cast<int>(slot), static_cast<int16_t>(d),
                 static_cast<int16_t>(i), factors.size() == 1, isResult});
  };
  addPlaces(relation.given.operands, rule.operands, false);
  addPlaces(relation.given.results, rule.results, true);
  bool hasOperand = false;
  for (int variable : relation.given.operands)
    if (variable >= 0 && !variables[variable].shape.empty()) {
      hasOperand = true;
      relation.isSingleUse &= users[variable].size() <= 2;
    }
  for (auto [factor, places] : llvm::zip(rule.factors, relation.places)) {
    relation.passesAll &= factor.kind != FactorKind::Reduced;
    if (factor.size > 1 && factor.kind == FactorKind::Pass && hasOperand)
      relation.isBroadcast |=
          llvm::all_of(places, [](const Place &p) { return p.isResult; });
  }
}

ArrayRef<int> LayoutPropagation::factorsAt(const Relation &relation,
                                           const Place &place) const {
  const graph::ShardingRule &rule = relation.given.rule;
  return (place.isResult ? rule.results : rule.operands)[place.slot][place.dim];
}

SmallVector<int64_t, 4> LayoutPropagation::sizesAt(const Relation &relation,
                                                   const Place &place) const {
  SmallVector<int64_t, 4> sizes;
  for (int factor : factorsAt(relation, place))
    sizes.push_back(relation.given.rule.factors[factor].size);
  return sizes;
}

void LayoutPropagation::tieFactors() {
  for (auto [number, relation] : llvm::enumerate(relations)) {
    graph::ShardingRule &rule = relation.given.rule;
    uint8_t phases = relation.given.onlyTies ? 0 : 1 << relation.given.phase;
    for (size_t f = 0; f < rule.factors.size(); ++f) {
      if (!isSpread(rule.factors[f].kind) || rule.factors[f].size <= 1)
        continue;
      SmallVector<DimClasses::Part> parts;
      for (const Place &place : relation.places[f]) {
        int64_t minor = 1;
        for (int other : factorsAt(relation, place).drop_front(place.index + 1))
          minor *= rule.factors[other].size;
        parts.push_back({variables[place.variable].firstDim + place.dim,
                         rule.factors[f].size, minor});
      }
      if (parts.empty() || classes.tie(parts, phases))
        continue;
      opaque.push_back({static_cast<int>(number), static_cast<int>(f)});
      rule.factors[f].kind = FactorKind::Whole;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lists of factors
//===----------------------------------------------------------------------===//

AxisList LayoutPropagation::pourAt(const Relation &relation,
                                   const Place &place) const {
  const AxisList &dim = variables[place.variable].dims[place.dim];
  SmallVector<AxisList> lists;
  if (dim.empty() ||
      !storage.pourIntoFactors(dim, sizesAt(relation, place), lists))
    return {};
  return lists[place.index];
}

/// The dim's list when the factor at `place` gets `list`; false when the axes
/// would not be poured back so.
bool LayoutPropagation::setFactor(const Relation &relation, const Place &place,
                                  ArrayRef<int8_t> list, AxisList &dim) const {
  dim.assign(list.begin(), list.end());
  if (place.isOnly)
    return true;
  SmallVector<int64_t, 4> sizes = sizesAt(relation, place);
  SmallVector<AxisList> lists, poured;
  if (!storage.pourIntoFactors(variables[place.variable].dims[place.dim], sizes,
                               lists))
    return false;
  lists[place.index] = dim;
  dim.clear();
  for (const AxisList &part : lists)
    dim.append(part.begin(), part.end());
  return storage.pourIntoFactors(dim, sizes, poured) && poured == lists;
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

bool LayoutPropagation::spreads(const graph::ShardingRule &rule, int factor,
                                const Round &round) const {
  FactorKind kind = rule.factors[factor].kind;
  return rule.factors[factor].size > 1 &&
         (kind == FactorKind::Pass ||
          (round.reduced && kind == FactorKind::Reduced));
}

static bool startsWith(ArrayRef<int8_t> list, ArrayRef<int8_t> prefix) {
  return list.take_front(prefix.size()) == prefix;
}

void LayoutPropagation::markDirty(int variable, int except) {
  for (int user : users[variable])
    if (user != except)
      isDirty[user] = true;
}

void LayoutPropagation::refuse(const LayoutRefusal &refusal) {
  auto isSame = [&](const LayoutRefusal &r) {
    return r.variable == refusal.variable && r.dim == refusal.dim &&
           r.axis == refusal.axis;
  };
  if (llvm::none_of(refusals, isSame))
    refusals.push_back(refusal);
}

void LayoutPropagation::extend(int relation, const Place &place,
                               ArrayRef<int8_t> target) {
  LayoutVariable &variable = variables[place.variable];
  if (isFrozen[place.variable] || (variable.closed >> place.dim & 1))
    return;
  size_t have = listAt(relations[relation], place).size();
  for (size_t n = have; n < target.size(); ++n) {
    int8_t axis = target[n];
    if ((variable.blocked | variable.axes) >> axis & 1)
      return;
    AxisList list;
    std::string reason =
        setFactor(relations[relation], place, target.take_front(n + 1), list)
            ? storage.refuse(atomsOf(place.variable, place.dim), list,
                             variable.phases)
            : "its factor is minor to one that is not used up";
    if (!reason.empty())
      return refuse({relation, place.variable, place.dim, axis, reason});
    // The new axis may stand before those of minor factors.
    auto &origins = variable.origins[place.dim];
    size_t at = llvm::find(list, axis) - list.begin();
    origins.insert(origins.begin() + at, relation);
    variable.dims[place.dim] = list;
    variable.axes |= uint64_t(1) << axis;
    markDirty(place.variable, -1);
  }
}

void LayoutPropagation::visitFactor(int number, int factor,
                                    const Round &round) {
  const Relation &relation = relations[number];
  const LayoutRelation &given = relation.given;
  bool onlyBack = relation.isBroadcast && !round.broadcastsForward;
  AxisList best;
  int64_t bytes = -1;
  for (const Place &place : relation.places[factor]) {
    const LayoutVariable &variable = variables[place.variable];
    if (variable.dims[place.dim].empty() || !isVisible(place.variable, round) ||
        (given.isOneWay && place.isResult) || (onlyBack && !place.isResult))
      continue;
    AxisList list = listAt(relation, place);
    if (startsWith(best, list))
      continue;
    if (startsWith(list, best) || variable.bytes > bytes) {
      best = list;
      bytes = variable.bytes;
    }
  }
  if (best.empty())
    return;
  for (const Place &place : relation.places[factor]) {
    if ((given.isOneWay && !place.isResult) || (onlyBack && place.isResult))
      continue;
    AxisList own = listAt(relation, place);
    if (own.size() < best.size() && startsWith(best, own))
      extend(number, place, best);
  }
}

void LayoutPropagation::visit(int number, const Round &round) {
  const Relation &relation = relations[number];
  isDirty[number] = false;
  ++numVisits;
  if (round.onlyPassing && !relation.passesAll)
    return;
  if (round.onlySingleUse && !relation.isSingleUse)
    return;
  const LayoutRelation &given = relation.given;
  auto hasAxes = [&](int v) { return v >= 0 && variables[v].axes; };
  if (llvm::none_of(given.operands, hasAxes) &&
      llvm::none_of(given.results, hasAxes))
    return;
  for (size_t f = 0; f < given.rule.factors.size(); ++f)
    if (spreads(given.rule, f, round))
      visitFactor(number, f, round);
}

void LayoutPropagation::runRound(const Round &round, uint8_t phase) {
  for (size_t i = 0; i < relations.size(); ++i) {
    const LayoutRelation &given = relations[i].given;
    isDirty[i] = given.phase == phase && !given.onlyTies;
  }
  for (bool isAny = true; isAny;) {
    isAny = false;
    for (size_t i = 0; i < relations.size(); ++i)
      if (isDirty[i] && relations[i].given.phase == phase)
        visit(i, round);
    for (size_t i = relations.size(); i-- > 0;)
      if (isDirty[i] && relations[i].given.phase == phase) {
        visit(i, round);
        isAny = true;
      }
  }
}

bool LayoutPropagation::hasSeed(Seed seed, uint8_t phase) const {
  for (size_t v = 0; v < variables.size(); ++v)
    if ((variables[v].phases >> phase & 1) && variables[v].axes &&
        rankOf(v) == seed)
      return true;
  return false;
}

void LayoutPropagation::runPhase(uint8_t phase) {
  for (Seed seed : {Seed::State, Seed::Constraint, Seed::Input}) {
    // What is at rest stays so unless something new is seen.
    if (!hasSeed(seed, phase))
      continue;
    runRound({seed, true, true, false, false}, phase);
    runRound({seed, true, false, false, false}, phase);
    runRound({seed, false, false, false, false}, phase);
    runRound({seed, false, false, true, false}, phase);
  }
  runRound({Seed::None, false, false, true, true}, phase);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::optional<LayoutPropagation::Fault> LayoutPropagation::checkGiven() const {
  for (auto [v, variable] : llvm::enumerate(variables))
    for (auto [d, list] : llvm::enumerate(variable.dims)) {
      if (list.empty())
        continue;
      std::string reason = storage.refuse(atomsOf(v, d), list, variable.phases);
      if (!reason.empty())
        return Fault{static_cast<int>(v), static_cast<int>(d), reason};
    }
  return std::nullopt;
}

std::optional<LayoutPropagation::Fault> LayoutPropagation::solve() {
  for (Relation &relation : relations)
    prepare(relation);
  tieFactors();
  for (const LayoutVariable &variable : variables)
    for (size_t d = 0; d < variable.shape.size(); ++d)
      dimAtoms.push_back(classes.getAtoms(variable.firstDim + d));
  if (std::optional<Fault> fault = checkGiven())
    return fault;
  isFrozen.assign(variables.size(), false);
  isDirty.assign(relations.size(), false);
  runPhase(0);
  for (size_t v = 0; v < variables.size(); ++v)
    isFrozen[v] = variables[v].phases & 1;
  runPhase(1);
  for (auto [v, variable] : llvm::enumerate(variables))
    for (auto [d, list] : llvm::enumerate(variable.dims))
      if (!list.empty())
        storage.add(atomsOf(v, d), list, variable.phases);
  std::string reason = storage.solve();
  return reason.empty() ? std::nullopt
                        : std::optional<Fault>(findRefused(reason));
}

/// Given lists before those that follow from them.
LayoutPropagation::Fault
LayoutPropagation::findRefused(const std::string &reason) const {
  Fault fault{-1, 0, reason};
  for (auto [v, variable] : llvm::enumerate(variables))
    for (auto [d, list] : llvm::enumerate(variable.dims))
      if (!list.empty() && storage.isRefused(atomsOf(v, d), list) &&
          (fault.variable < 0 ||
           variable.seed < variables[fault.variable].seed))
        fault = {static_cast<int>(v), static_cast<int>(d), reason};
  assert(fault.variable >= 0 && "every list in store is some variable's");
  return fault;
}

Atoms LayoutPropagation::getStored(int variable, int dim) const {
  const AxisList &list = variables[variable].dims[dim];
  return list.empty() ? Atoms()
                      : storage.getStored(atomsOf(variable, dim), list);
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// The place whose list an op runs with.
int LayoutPropagation::pickKept(const Relation &relation, int factor) const {
  int kept = -1;
  for (auto [i, place] : llvm::enumerate(relation.places[factor])) {
    if (place.isResult)
      return i;
    if (listAt(relation, place).empty())
      continue;
    if (kept < 0 || variables[place.variable].bytes >
                        variables[relation.places[factor][kept].variable].bytes)
      kept = i;
  }
  return kept;
}

int LayoutPropagation::originAt(const Relation &relation,
                                const Place &place) const {
  const auto &origins = variables[place.variable].origins[place.dim];
  return origins.empty() ? -1 : origins.front();
}

std::vector<LayoutConflict> LayoutPropagation::findConflicts() const {
  std::vector<LayoutConflict> conflicts;
  const Round all = {Seed::None, false, false, true, true};
  for (auto [number, relation] : llvm::enumerate(relations)) {
    if (relation.given.onlyTies || relation.given.isOneWay)
      continue;
    for (size_t f = 0; f < relation.places.size(); ++f) {
      if (!spreads(relation.given.rule, f, all))
        continue;
      int picked = pickKept(relation, f);
      if (picked < 0)
        continue;
      const Place &kept = relation.places[f][picked];
      AxisList keptList = listAt(relation, kept);
      for (const Place &place : relation.places[f]) {
        AxisList list = listAt(relation, place);
        if (startsWith(keptList, list) || startsWith(list, keptList))
          continue;
        conflicts.push_back({static_cast<int>(number), static_cast<int>(f),
                             kept.variable, place.variable, keptList, list,
                             originAt(relation, kept),
                             originAt(relation, place)});
        break;
      }
    }
  }
  return conflicts;
}
