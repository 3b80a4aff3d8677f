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
#include <set>

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

void LayoutPropagation::prepare(Rule &rule) {
  rule.places.resize(rule.given->factors.size());
  auto addPlaces = [&](ArrayRef<graph::TensorFactors> tensors, bool isResult) {
    for (auto [slot, tensor] : llvm::enumerate(tensors))
      for (auto [d, factors] : llvm::enumerate(tensor))
        for (auto [i, factor] : llvm::enumerate(factors))
          rule.places[factor].push_back(
              {static_cast<int>(slot), static_cast<int16_t>(d),
               static_cast<int16_t>(i), factors.size() == 1, isResult});
  };
  addPlaces(rule.given->operands, false);
  addPlaces(rule.given->results, true);
  bool hasOperand = llvm::any_of(
      rule.given->operands,
      [](const graph::TensorFactors &tensor) { return !tensor.empty(); });
  for (auto [factor, places] : llvm::zip(rule.given->factors, rule.places)) {
    rule.passesAll &= factor.kind != FactorKind::Reduced;
    if (factor.size > 1 && factor.kind == FactorKind::Pass && hasOperand)
      rule.isBroadcast |=
          llvm::all_of(places, [](const Place &p) { return p.isResult; });
  }
}

const LayoutPropagation::Rule *
LayoutPropagation::internRule(graph::ShardingRule given) {
  auto [known, isNew] = rules.try_emplace(std::move(given));
  if (isNew) {
    known->second.given = &known->first;
    prepare(known->second);
  }
  return &known->second;
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
  // What is no variable has no dims to spread along.
  for (auto [variable, tensor] :
       llvm::zip_equal(relation.operands, relation.rule.operands))
    if (variable < 0)
      tensor.clear();
  for (auto [variable, tensor] :
       llvm::zip_equal(relation.results, relation.rule.results))
    if (variable < 0)
      tensor.clear();
  Relation &made = relations.emplace_back();
  made.rule = internRule(std::move(relation.rule));
  made.operands = std::move(relation.operands);
  made.results = std::move(relation.results);
  made.phase = relation.phase;
  made.isOneWay = relation.isOneWay;
  made.onlyTies = relation.onlyTies;
}

graph::ShardingRule LayoutPropagation::getRule(int relation) const {
  graph::ShardingRule rule = *relations[relation].rule->given;
  for (size_t factor = 0; factor < rule.factors.size(); ++factor)
    if (isOpaqueAt(relation, factor))
      rule.factors[factor].kind = FactorKind::Whole;
  return rule;
}

static bool isSpread(FactorKind kind) {
  return kind == FactorKind::Pass || kind == FactorKind::Reduced;
}

void LayoutPropagation::findSingleUses() {
  for (Relation &relation : relations)
    for (int variable : relation.operands)
      if (variable >= 0 && !variables[variable].shape.empty())
        relation.isSingleUse &= users[variable].size() <= 2;
}

ArrayRef<int> LayoutPropagation::factorsAt(const Relation &relation,
                                           const Place &place) const {
  const graph::ShardingRule &rule = *relation.rule->given;
  return (place.isResult ? rule.results : rule.operands)[place.slot][place.dim];
}

SmallVector<int64_t, 4> LayoutPropagation::sizesAt(const Relation &relation,
                                                   const Place &place) const {
  SmallVector<int64_t, 4> sizes;
  for (int factor : factorsAt(relation, place))
    sizes.push_back(relation.rule->given->factors[factor].size);
  return sizes;
}

/// False where the boundaries of the factor cannot be met.
bool LayoutPropagation::tieFactor(const Relation &relation, int factor,
                                  bool isSolved) {
  const graph::ShardingRule &rule = *relation.rule->given;
  bool isSplit = !isSolved;
  SmallVector<DimClasses::Part> parts;
  for (const Place &place : relation.rule->places[factor]) {
    int64_t minor = 1;
    for (int other : factorsAt(relation, place).drop_front(place.index + 1))
      minor *= rule.factors[other].size;
    const LayoutVariable &variable = variables[relation.variableAt(place)];
    isSplit |= !variable.dims[place.dim].empty();
    parts.push_back(
        {variable.firstDim + place.dim, rule.factors[factor].size, minor});
  }
  // Where nothing is split nobody needs the boundaries.
  uint8_t phases = relation.onlyTies || !isSplit ? 0 : 1 << relation.phase;
  return parts.empty() || classes.tie(parts, phases);
}

void LayoutPropagation::tieFactors() {
  for (auto [number, relation] : llvm::enumerate(relations))
    for (auto [f, factor] : llvm::enumerate(relation.rule->given->factors)) {
      if (!isSpread(factor.kind) || factor.size <= 1 ||
          tieFactor(relation, f, /*isSolved=*/false))
        continue;
      opaque.push_back({static_cast<int>(number), static_cast<int>(f)});
      opaqueFactors.insert(opaque.back());
      relation.isOpaque = true;
    }
}

//===----------------------------------------------------------------------===//
// Lists of factors
//===----------------------------------------------------------------------===//

AxisList LayoutPropagation::pourAt(const Relation &relation,
                                   const Place &place) const {
  const AxisList &dim = variables[relation.variableAt(place)].dims[place.dim];
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
  if (!storage.pourIntoFactors(
          variables[relation.variableAt(place)].dims[place.dim], sizes, lists))
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

bool LayoutPropagation::spreads(int relation, int number,
                                const Round &round) const {
  const graph::Factor &factor =
      relations[relation].rule->given->factors[number];
  return factor.size > 1 &&
         (factor.kind == FactorKind::Pass ||
          (round.reduced && factor.kind == FactorKind::Reduced)) &&
         !isOpaqueAt(relation, number);
}

void LayoutPropagation::markDirty(int variable, int except) {
  for (int user : users[variable])
    if (user != except)
      isDirty[user] = true;
}

void LayoutPropagation::refuse(const LayoutRefusal &refusal) {
  if (refused.insert({refusal.variable, refusal.dim, refusal.axis}).second)
    refusals.push_back(refusal);
}

void LayoutPropagation::extend(int relation, const Place &place,
                               ArrayRef<int8_t> target) {
  int number = relations[relation].variableAt(place);
  LayoutVariable &variable = variables[number];
  if (isFrozen[number] || (variable.closed >> place.dim & 1))
    return;
  size_t have = listAt(relations[relation], place).size();
  for (size_t n = have; n < target.size(); ++n) {
    int8_t axis = target[n];
    if ((variable.blocked | variable.axes) >> axis & 1)
      return;
    AxisList list;
    std::string reason =
        setFactor(relations[relation], place, target.take_front(n + 1), list)
            ? storage.refuse(atomsOf(number, place.dim), list, variable.phases)
            : "its factor is minor to one that is not used up";
    if (!reason.empty())
      return refuse({relation, number, place.dim, axis, reason});
    // The new axis may stand before those of minor factors.
    auto &origins = variable.origins[place.dim];
    size_t at = llvm::find(list, axis) - list.begin();
    origins.insert(origins.begin() + at, relation);
    variable.dims[place.dim] = list;
    variable.axes |= uint64_t(1) << axis;
    markDirty(number, -1);
  }
}

void LayoutPropagation::visitFactor(int number, int factor,
                                    const Round &round) {
  const Relation &relation = relations[number];
  ArrayRef<Place> places = relation.rule->places[factor];
  bool onlyBack = relation.rule->isBroadcast && !round.broadcastsForward;
  AxisList best;
  int64_t bytes = -1;
  for (const Place &place : places) {
    int from = relation.variableAt(place);
    const LayoutVariable &variable = variables[from];
    if (variable.dims[place.dim].empty() || !isVisible(from, round) ||
        (relation.isOneWay && place.isResult) || (onlyBack && !place.isResult))
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
  for (const Place &place : places) {
    if ((relation.isOneWay && !place.isResult) || (onlyBack && place.isResult))
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
  if (round.onlyPassing && !relation.rule->passesAll)
    return;
  if (round.onlySingleUse && !relation.isSingleUse)
    return;
  auto hasAxes = [&](int v) { return v >= 0 && variables[v].axes; };
  if (llvm::none_of(relation.operands, hasAxes) &&
      llvm::none_of(relation.results, hasAxes))
    return;
  for (size_t f = 0; f < relation.rule->places.size(); ++f)
    if (spreads(number, f, round))
      visitFactor(number, f, round);
}

void LayoutPropagation::runRound(const Round &round, uint8_t phase) {
  for (size_t i = 0; i < relations.size(); ++i) {
    const Relation &relation = relations[i];
    isDirty[i] = relation.phase == phase && !relation.onlyTies;
  }
  for (bool isAny = true; isAny;) {
    isAny = false;
    for (size_t i = 0; i < relations.size(); ++i)
      if (isDirty[i] && relations[i].phase == phase)
        visit(i, round);
    for (size_t i = relations.size(); i-- > 0;)
      if (isDirty[i] && relations[i].phase == phase) {
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
  auto spread = [&](Seed seed) {
    runRound({seed, true, true, false, false}, phase);
    runRound({seed, true, false, false, false}, phase);
    runRound({seed, false, false, false, false}, phase);
    runRound({seed, false, false, true, false}, phase);
  };
  // What is at rest stays so unless something new is seen.
  for (Seed seed : {Seed::State, Seed::Constraint, Seed::Input})
    if (hasSeed(seed, phase))
      spread(seed);
  runRound({Seed::Input, false, false, true, true}, phase);
  if (!hasSeed(Seed::Stored, phase))
    return;
  spread(Seed::Stored);
  runRound({Seed::Stored, false, false, true, true}, phase);
}

//===----------------------------------------------------------------------===//
// Priorities
//===----------------------------------------------------------------------===//

static uint64_t maskOf(ArrayRef<int8_t> list) {
  uint64_t mask = 0;
  for (int8_t axis : list)
    mask |= uint64_t(1) << axis;
  return mask;
}

/// No other dim of the variable may take the axes of one that waits.
void LayoutPropagation::setAside() {
  for (auto [v, variable] : llvm::enumerate(variables))
    for (auto [d, priority] : llvm::enumerate(variable.priorities)) {
      if (priority <= 0)
        continue;
      uint64_t bit = uint64_t(1) << d, mask = maskOf(variable.dims[d]);
      waiting.push_back({static_cast<int>(v), static_cast<int>(d), priority,
                         variable.dims[d], (variable.closed & bit) != 0});
      variable.dims[d].clear();
      variable.origins[d].clear();
      variable.closed |= bit;
      variable.blocked |= mask;
      variable.axes &= ~mask;
    }
}

/// Whether it is solved in this phase.
bool LayoutPropagation::waitsForPhase(int variable, uint8_t phase) const {
  uint8_t phases = variables[variable].phases;
  bool isFirst = phases == 0 || (phases & 1);
  return isFirst == (phase == 0);
}

void LayoutPropagation::admit(uint8_t phase, int64_t priority) {
  for (const Waiting &dim : waiting) {
    if (dim.priority != priority || !waitsForPhase(dim.variable, phase))
      continue;
    LayoutVariable &variable = variables[dim.variable];
    uint64_t mask = maskOf(dim.list);
    variable.dims[dim.dim] = dim.list;
    variable.origins[dim.dim].assign(dim.list.size(), -1);
    if (!dim.isClosed)
      variable.closed &= ~(uint64_t(1) << dim.dim);
    variable.blocked &= ~mask;
    variable.axes |= mask;
  }
}

/// What has come to rest stays; what is admitted spreads around it.
void LayoutPropagation::runPriorities(uint8_t phase) {
  std::set<int64_t> priorities = {0};
  for (const Waiting &dim : waiting)
    if (waitsForPhase(dim.variable, phase))
      priorities.insert(dim.priority);
  for (int64_t priority : priorities) {
    admit(phase, priority);
    runPhase(phase);
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::optional<LayoutPropagation::Fault> LayoutPropagation::checkGiven() const {
  for (auto [v, variable] : llvm::enumerate(variables))
    for (size_t d = 0; d < variable.dims.size(); ++d)
      if (std::string reason = refuse(v, d); !reason.empty())
        return Fault{static_cast<int>(v), static_cast<int>(d), reason};
  return std::nullopt;
}

std::string LayoutPropagation::refuse(int variable, int dim) const {
  const LayoutVariable &given = variables[variable];
  const AxisList &list = given.dims[dim];
  return list.empty()
             ? ""
             : storage.refuse(atomsOf(variable, dim), list, given.phases);
}

void LayoutPropagation::readAtoms() {
  dimAtoms.clear();
  for (const LayoutVariable &variable : variables)
    for (size_t d = 0; d < variable.shape.size(); ++d)
      dimAtoms.push_back(classes.getAtoms(variable.firstDim + d));
}

std::string LayoutPropagation::storeLists() {
  storage.clear();
  for (auto [v, variable] : llvm::enumerate(variables))
    for (auto [d, list] : llvm::enumerate(variable.dims))
      if (!list.empty())
        storage.add(atomsOf(v, d), list, variable.phases);
  return storage.solve();
}

/// Ops at which nothing is split read what is gathered, however it was stored:
/// without their boundaries less is padded.
void LayoutPropagation::storeAgain() {
  auto saved = std::make_tuple(classes, dimAtoms, storage);
  classes = DimClasses();
  for (const LayoutVariable &variable : variables)
    for (int64_t size : variable.shape)
      classes.addDim(std::max<int64_t>(size, 1));
  bool isTied = true;
  for (auto [number, relation] : llvm::enumerate(relations))
    for (auto [f, factor] : llvm::enumerate(relation.rule->given->factors))
      if (isSpread(factor.kind) && factor.size > 1 && !isOpaqueAt(number, f))
        isTied &= tieFactor(relation, f, /*isSolved=*/true);
  readAtoms();
  if (!isTied || !storeLists().empty())
    std::tie(classes, dimAtoms, storage) = std::move(saved);
}

std::optional<LayoutPropagation::Fault> LayoutPropagation::solve() {
  findSingleUses();
  tieFactors();
  readAtoms();
  if (std::optional<Fault> fault = checkGiven())
    return fault;
  isFrozen.assign(variables.size(), false);
  isDirty.assign(relations.size(), false);
  setAside();
  runPriorities(0);
  for (size_t v = 0; v < variables.size(); ++v)
    isFrozen[v] = variables[v].phases & 1;
  runPriorities(1);
  std::string reason = storeLists();
  if (reason.empty() && storage.isPadded())
    storeAgain();
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
