//===- ReshardPlannerGreedy.cpp - The ladder in use elsewhere -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduce what the target does not want partial (a reduce-scatter only if one
// dim of the target takes all of it), go to the target's stages, then repeat
// slice, lift, permute, all-to-all, and as a last resort gather to the common
// prefix. Ends because every slice and all-to-all lengthens the common prefix
// of some dim, and a gather leaves that dim with nothing but it.
//
//===----------------------------------------------------------------------===//

#include "ReshardPlannerMoves.h"

#include <algorithm>

namespace llmc {

namespace {

using List = std::vector<int32_t>;

class GreedyLadder {
public:
  explicit GreedyLadder(const ReshardMoves &moves)
      : moves(moves), now(moves.source()), want(moves.target()) {}

  ReshardPlan run() {
    reducePartial();
    while (now != want)
      if (!slice() && !lift() && !changeStages() && !permute() && !allToAll())
        gather();
    return std::move(plan);
  }

private:
  void take(ReshardMove move) {
    now = move.result;
    plan.bytes += move.bytes;
    plan.cost += move.cost;
    plan.moves.push_back(std::move(move));
  }

  static bool contains(const List &list, int32_t axis) {
    return std::find(list.begin(), list.end(), axis) != list.end();
  }
  size_t commonLength(size_t dim) const {
    const List &a = now.dims[dim], &b = want.dims[dim];
    size_t length = 0;
    while (length < a.size() && length < b.size() && a[length] == b[length])
      ++length;
    return length;
  }
  bool isPrefix(size_t dim) const {
    return commonLength(dim) == now.dims[dim].size();
  }
  bool splitsByPipeline() const {
    for (const List &list : now.dims)
      if (contains(list, moves.pipeline()))
        return true;
    return false;
  }

  void reducePartial();
  bool slice();
  bool lift();
  bool changeStages();
  bool permute();
  bool allToAll();
  void gather();

  const ReshardMoves &moves;
  ReshardLayout now;
  const ReshardLayout &want;
  ReshardPlan plan;
};

void GreedyLadder::reducePartial() {
  List axes;
  for (int32_t axis : now.partial) {
    bool kept = contains(want.partial, axis) && now.kind == want.kind;
    if (axis == moves.pipeline() && (now.stages & ~want.stages))
      kept = false;
    if (!kept)
      axes.push_back(axis);
  }
  if (axes.empty())
    return;
  for (size_t dim = 0; dim < now.dims.size(); ++dim) {
    const List &list = want.dims[dim];
    size_t length = now.dims[dim].size();
    if (!isPrefix(dim) || list.size() < length + axes.size())
      continue;
    List order(list.begin() + length, list.begin() + length + axes.size());
    if (std::is_permutation(order.begin(), order.end(), axes.begin()) &&
        (!contains(order, moves.pipeline()) ||
         now.stages == ReshardLayout::everywhere))
      return take(moves.reduceScatter(now, order, int32_t(dim)));
  }
  take(moves.allReduce(now, axes));
}

bool GreedyLadder::slice() {
  for (size_t dim = 0; dim < now.dims.size(); ++dim) {
    size_t length = now.dims[dim].size();
    if (!isPrefix(dim) || want.dims[dim].size() == length)
      continue;
    int32_t axis = want.dims[dim][length];
    if (!moves.isFree(now, axis))
      continue;
    take(moves.slice(now, axis, int32_t(dim)));
    return true;
  }
  return false;
}

bool GreedyLadder::lift() {
  for (int32_t axis : want.partial) {
    if (axis == moves.pipeline()) {
      bool done = contains(now.partial, axis) && now.stages == want.stages;
      if (done || (now.stages & ~want.stages) || splitsByPipeline())
        continue;
    } else if (!moves.isFree(now, axis)) {
      continue;
    }
    take(moves.lift(now, axis, -1));
    return true;
  }
  for (size_t dim = 0; dim < now.dims.size(); ++dim) {
    if (now.dims[dim].empty() || !moves.isWanted(now.dims[dim].back()))
      continue;
    // Embedded, the terms would lie at all stages, for good.
    if (now.dims[dim].back() == moves.pipeline() && now.stages != want.stages)
      continue;
    take(moves.lift(now, now.dims[dim].back(), int32_t(dim)));
    return true;
  }
  return false;
}

bool GreedyLadder::changeStages() {
  if (now.stages == want.stages || splitsByPipeline() ||
      contains(now.partial, moves.pipeline()))
    return false;
  uint64_t shared = now.stages & want.stages;
  if (contains(want.partial, moves.pipeline())) {
    // One term at one of the target's stages; the lift adds the others.
    uint64_t first = shared ? shared : want.stages & (~want.stages + 1);
    take(shared ? moves.drop(now, first) : moves.transfer(now, first));
  } else {
    take(shared == want.stages ? moves.drop(now, shared)
                               : moves.transfer(now, want.stages));
  }
  return true;
}

bool GreedyLadder::permute() {
  List mine, theirs;
  bool moved = false;
  for (size_t dim = 0; dim < now.dims.size(); ++dim) {
    const List &a = now.dims[dim], &b = want.dims[dim];
    if (moves.split(a) != moves.split(b))
      return false;
    mine.insert(mine.end(), a.begin(), a.end());
    theirs.insert(theirs.end(), b.begin(), b.end());
    moved |= a != b;
  }
  if (!moved || mine.size() != theirs.size() ||
      !std::is_permutation(mine.begin(), mine.end(), theirs.begin()))
    return false;
  take(moves.permute(now, want.dims));
  return true;
}

bool GreedyLadder::allToAll() {
  for (size_t dim = 0; dim < now.dims.size(); ++dim)
    for (size_t count = now.dims[dim].size() - commonLength(dim); count > 0;
         --count) {
      const List &list = now.dims[dim];
      for (size_t other = 0; other < now.dims.size(); ++other) {
        const List &goal = want.dims[other];
        size_t length = now.dims[other].size();
        if (other == dim || !isPrefix(other) || goal.size() < length + count ||
            !std::equal(list.end() - count, list.end(), goal.begin() + length))
          continue;
        take(moves.allToAll(now, count, int32_t(dim), int32_t(other)));
        return true;
      }
    }
  return false;
}

void GreedyLadder::gather() {
  for (size_t dim = 0; dim < now.dims.size(); ++dim) {
    size_t count = now.dims[dim].size() - commonLength(dim);
    if (count)
      return take(moves.allGather(now, count, int32_t(dim)));
  }
}

} // namespace

ReshardPlan greedyReshard(const ReshardMoves &moves) {
  return GreedyLadder(moves).run();
}

} // namespace llmc
