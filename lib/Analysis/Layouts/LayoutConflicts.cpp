//===- LayoutConflicts.cpp - Who gave what, and where it does not fit -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LayoutPropagation.h: the ways that axes have come by, and the factors at
// which two lists meet.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutPropagation.h"

#include "llvm/ADT/DenseMap.h"

using namespace llmc;

/// The place whose list an op runs with.
int LayoutPropagation::pickKept(const Relation &relation, int factor) const {
  int kept = -1;
  int64_t most = 0;
  for (auto [i, place] : llvm::enumerate(relation.rule->places[factor])) {
    if (place.isResult)
      return i;
    if (listAt(relation, place).empty())
      continue;
    int64_t bytes = variables[relation.variableAt(place)].bytes;
    if (kept >= 0 && bytes <= most)
      continue;
    kept = i;
    most = bytes;
  }
  return kept;
}

int LayoutPropagation::originAt(const Relation &relation,
                                const Place &place) const {
  const auto &origins =
      variables[relation.variableAt(place)].origins[place.dim];
  return origins.empty() ? -1 : origins.front();
}

/// Why the variable has the axis, which splits it: a relation, or -1.
int LayoutPropagation::originOf(int variable, int8_t axis) const {
  const LayoutVariable &has = variables[variable];
  for (auto [list, origins] : llvm::zip(has.dims, has.origins))
    for (auto [given, origin] : llvm::zip(list, origins))
      if (given == axis)
        return origin;
  return -1;
}

int LayoutPropagation::findGiver(int variable, int8_t axis) const {
  return findWay(variable, axis).back().variable;
}

/// The other variables of the relation that have the axis in the factor in
/// which the variable has it; the last one is to be looked at first.
SmallVector<int> LayoutPropagation::findSources(int variable, int8_t axis,
                                                int number) const {
  const Relation &relation = relations[number];
  SmallVector<int> sources;
  auto has = [&](const Place &place) {
    return relation.variableAt(place) >= 0 &&
           llvm::is_contained(listAt(relation, place), axis);
  };
  for (ArrayRef<Place> places : relation.rule->places) {
    bool isHere = llvm::any_of(places, [&](const Place &place) {
      return relation.variableAt(place) == variable && has(place);
    });
    for (const Place &place : llvm::reverse(places))
      if (isHere && relation.variableAt(place) != variable && has(place))
        sources.push_back(relation.variableAt(place));
  }
  return sources;
}

std::vector<LayoutPropagation::WayStep>
LayoutPropagation::findWay(int variable, int8_t axis) const {
  // From each variable the one that asked for it.
  llvm::DenseMap<int, int> askers = {{variable, -1}};
  SmallVector<int> next = {variable};
  int giver = variable;
  while (!next.empty()) {
    int at = next.pop_back_val(), origin = originOf(at, axis);
    if (origin < 0) {
      giver = at;
      break;
    }
    for (int other : findSources(at, axis, origin))
      if (originOf(other, axis) != origin &&
          askers.try_emplace(other, at).second)
        next.push_back(other);
  }
  std::vector<WayStep> way;
  for (int at = giver; at >= 0; at = askers.lookup(at))
    way.push_back({at, originOf(at, axis)});
  std::reverse(way.begin(), way.end());
  return way;
}

std::vector<LayoutConflict> LayoutPropagation::findConflicts() const {
  std::vector<LayoutConflict> conflicts;
  const Round all = {Seed::None, false, false, true, true};
  for (auto [number, relation] : llvm::enumerate(relations)) {
    if (relation.onlyTies || relation.isOneWay)
      continue;
    for (size_t f = 0; f < relation.rule->places.size(); ++f) {
      if (!spreads(number, f, all))
        continue;
      int picked = pickKept(relation, f);
      if (picked < 0)
        continue;
      ArrayRef<Place> places = relation.rule->places[f];
      const Place &kept = places[picked];
      AxisList keptList = listAt(relation, kept);
      for (const Place &place : places) {
        AxisList list = listAt(relation, place);
        if (startsWith(keptList, list) || startsWith(list, keptList))
          continue;
        conflicts.push_back(
            {static_cast<int>(number), static_cast<int>(f),
             relation.variableAt(kept), relation.variableAt(place), keptList,
             list, originAt(relation, kept), originAt(relation, place)});
        break;
      }
    }
  }
  return conflicts;
}
