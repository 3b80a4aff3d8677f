//===- ReshardPlanner.cpp - Cheapest way between two layouts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dijkstra over (cost, number of moves). Every move adds at least one to that
// pair, so the path to a layout is final when it is taken from the queue, and
// equal pairs are decided by comparing whole paths. The greedy plan bounds the
// search: what costs more is not visited.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reshard/ReshardPlanner.h"

#include "ReshardPlannerMoves.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

namespace llmc {

bool ReshardLayout::operator==(const ReshardLayout &other) const {
  return dims == other.dims && partial == other.partial &&
         (kind == other.kind || partial.empty()) && stages == other.stages;
}

static std::string listOf(const std::vector<int32_t> &axes,
                          const rt::Mesh &mesh) {
  std::string text;
  for (int32_t axis : axes)
    text += (text.empty() ? "" : ",") + mesh.axes[axis].name;
  return text;
}

std::string ReshardLayout::describe(const rt::Mesh &mesh) const {
  std::string text = "[";
  for (size_t dim = 0; dim < dims.size(); ++dim)
    text += (dim ? ", {" : "{") + listOf(dims[dim], mesh) + "}";
  text += "]";
  if (!partial.empty())
    text +=
        (kind == ReductionKind::sum ? "" : " " + std::string(nameOf(kind))) +
        " P{" + listOf(partial, mesh) + "}";
  if (stages == everywhere)
    return text;
  std::string pins;
  for (int s = 0; s < 64; ++s)
    if (stages >> s & 1)
      pins += (pins.empty() ? "" : ",") + std::to_string(s);
  return text + " @[" + pins + "]";
}

namespace {
struct MoveKind {
  const char *name;
  std::optional<CollectiveKind> collective;
};
} // namespace

static const MoveKind moveKinds[] = {
#define LLMC_RESHARD_MOVE(kind, name, collective) {name, collective},
#include "llmc/Solvers/Reshard/ReshardMoves.def"
};

std::optional<CollectiveKind> collectiveOf(ReshardMove::Kind kind) {
  return moveKinds[size_t(kind)].collective;
}

const char *nameOf(ReshardMove::Kind kind) {
  return moveKinds[size_t(kind)].name;
}

std::string ReshardPlan::describe(const rt::Mesh &mesh) const {
  std::string text;
  for (const ReshardMove &move : moves) {
    text += (text.empty() ? "" : ", ") + std::string(nameOf(move.kind)) + " " +
            listOf(move.axes, mesh);
    if (move.from >= 0)
      text += " from " + std::to_string(move.from);
    if (move.to >= 0)
      text += " to " + std::to_string(move.to);
  }
  return text;
}

ReshardPlanner::ReshardPlanner(rt::Mesh mesh,
                               const std::vector<double> &slowness,
                               const std::vector<double> &latencyBytes)
    : mesh(std::move(mesh)) {
  for (double value : slowness)
    links.slowness.push_back(
        std::max<int64_t>(16, std::llround(std::min(value, 1e6) * 16)));
  for (double value : latencyBytes)
    links.latencyBytes.push_back(std::llround(std::min(value, 1e12)));
  links.slowness.resize(this->mesh.axes.size(), 16);
  links.latencyBytes.resize(this->mesh.axes.size(), 0);
}

std::string ReshardPlanner::check(const ReshardTensor &tensor,
                                  const ReshardLayout &layout) const {
  if (mesh.axes.size() > 32 ||
      (mesh.pipelineAxis >= 0 && mesh.axes[mesh.pipelineAxis].size > 64))
    return "expected at most 32 mesh axes and 64 stages";
  size_t rank = tensor.sizes.size();
  if (tensor.extents.size() != rank || layout.dims.size() != rank)
    return "expected sizes, extents and layout of one rank";
  std::vector<int32_t> seen = layout.partial;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t devices = 1;
    for (int32_t axis : layout.dims[dim]) {
      seen.push_back(axis);
      if (axis >= 0 && size_t(axis) < mesh.axes.size())
        devices *= mesh.axes[axis].size;
    }
    if (tensor.sizes[dim] < 1 || tensor.extents[dim] < tensor.sizes[dim] ||
        tensor.extents[dim] % devices)
      return "expected an extent of dim " + std::to_string(dim) +
             " of at least its size " + std::to_string(tensor.sizes[dim]) +
             " and divisible by " + std::to_string(devices) + ", got " +
             std::to_string(tensor.extents[dim]);
  }
  if (!std::is_sorted(layout.partial.begin(), layout.partial.end()))
    return "expected partial axes in ascending order";
  std::sort(seen.begin(), seen.end());
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] < 0 || size_t(seen[i]) >= mesh.axes.size())
      return "expected a mesh axis, got index " + std::to_string(seen[i]);
    if (i && seen[i] == seen[i - 1])
      return "expected axis '" + mesh.axes[seen[i]].name + "' once";
  }
  ReshardMoves moves(mesh, links, tensor, layout, layout);
  uint64_t stages = moves.normal(layout.stages);
  if (stages == 0)
    return "expected at least one stage";
  for (auto &list : layout.dims)
    for (int32_t axis : list)
      if (axis == mesh.pipelineAxis && stages != ReshardLayout::everywhere)
        return "expected a value that '" + mesh.axes[axis].name +
               "' splits to live at all stages";
  return "";
}

namespace {

struct Node {
  ReshardLayout layout;
  int64_t cost = 0;
  int32_t numMoves = 0;
  int32_t parent = -1;
  bool done = false;
  /// That led here from the parent.
  ReshardMove move;
};

class Search {
public:
  explicit Search(const ReshardMoves &moves) : moves(moves) {}

  /// False if it would visit more than `limit` layouts, or nothing is as cheap
  /// as `bound`.
  bool run(int64_t bound, size_t limit, ReshardPlan &plan);

private:
  /// A layout as a short string: no two are alike.
  static std::string keyOf(const ReshardLayout &layout) {
    std::string key;
    for (auto &list : layout.dims) {
      for (int32_t axis : list)
        key += char('a' + axis);
      key += '/';
    }
    for (int32_t axis : layout.partial)
      key += char('a' + axis);
    key += char('0' + int(layout.partial.empty() ? 0 : int(layout.kind)));
    if (layout.stages != ReshardLayout::everywhere)
      key += std::to_string(layout.stages);
    return key;
  }
  static auto rank(const ReshardMove &move) {
    return std::make_tuple(move.kind, move.axes.size(), move.axes, move.from,
                           move.to);
  }
  std::vector<const ReshardMove *> pathTo(int32_t node) const {
    std::vector<const ReshardMove *> path;
    for (; nodes[node].parent >= 0; node = nodes[node].parent)
      path.push_back(&nodes[node].move);
    std::reverse(path.begin(), path.end());
    return path;
  }
  /// Of two paths with equal cost and length: the one over `parent` by `move`
  /// comes first in the tie order.
  bool precedes(int32_t parent, const ReshardMove &move, int32_t node) const {
    auto mine = pathTo(parent), theirs = pathTo(node);
    mine.push_back(&move);
    for (size_t i = 0; i < mine.size(); ++i) {
      auto a = rank(*mine[i]), b = rank(*theirs[i]);
      if (a != b)
        return a < b;
      if (mine[i]->result != theirs[i]->result)
        return keyOf(mine[i]->result) < keyOf(theirs[i]->result);
    }
    return false;
  }
  void relax(int32_t parent, ReshardMove &&move);

  using Entry = std::tuple<int64_t, int32_t, int32_t>;

  const ReshardMoves &moves;
  std::vector<Node> nodes;
  std::map<std::string, int32_t> index;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
};

void Search::relax(int32_t parent, ReshardMove &&move) {
  int64_t cost = nodes[parent].cost + move.cost;
  int32_t numMoves = nodes[parent].numMoves + 1;
  auto [found, isNew] =
      index.try_emplace(keyOf(move.result), int32_t(nodes.size()));
  int32_t id = found->second;
  if (isNew) {
    nodes.emplace_back();
    nodes[id].layout = move.result;
  } else {
    Node &node = nodes[id];
    if (node.done ||
        std::tie(node.cost, node.numMoves) < std::tie(cost, numMoves))
      return;
    if (node.cost == cost && node.numMoves == numMoves &&
        !precedes(parent, move, id))
      return;
  }
  Node &node = nodes[id];
  node.cost = cost;
  node.numMoves = numMoves;
  node.parent = parent;
  node.move = std::move(move);
  queue.push({cost, numMoves, id});
}

bool Search::run(int64_t bound, size_t limit, ReshardPlan &plan) {
  nodes.emplace_back();
  nodes[0].layout = moves.source();
  index[keyOf(moves.source())] = 0;
  queue.push({0, 0, 0});
  while (!queue.empty() && nodes.size() <= limit) {
    auto [cost, numMoves, id] = queue.top();
    queue.pop();
    if (nodes[id].done)
      continue;
    nodes[id].done = true;
    if (nodes[id].layout == moves.target()) {
      plan = ReshardPlan();
      plan.cost = cost;
      for (const ReshardMove *move : pathTo(id)) {
        plan.moves.push_back(*move);
        plan.bytes += move->bytes;
      }
      return true;
    }
    for (ReshardMove &move : moves.movesFrom(ReshardLayout(nodes[id].layout)))
      if (cost + move.cost <= bound)
        relax(id, std::move(move));
  }
  return false;
}

} // namespace

static void addPrefixes(ReshardPlan &plan, const ReshardMoves &moves) {
  for (ReshardMove &move : plan.moves)
    for (size_t dim = 0; dim < move.result.dims.size(); ++dim) {
      auto &list = move.result.dims[dim];
      const auto &prefix = moves.prefixes()[dim];
      list.insert(list.begin(), prefix.begin(), prefix.end());
    }
}

ReshardPlan ReshardPlanner::greedyPlan(const ReshardTensor &tensor,
                                       const ReshardLayout &from,
                                       const ReshardLayout &to) const {
  ReshardMoves moves(mesh, links, tensor, from, to);
  ReshardPlan plan = greedyReshard(moves);
  addPrefixes(plan, moves);
  return plan;
}

ReshardPlan ReshardPlanner::plan(const ReshardTensor &tensor,
                                 const ReshardLayout &from,
                                 const ReshardLayout &to) {
  ReshardMoves moves(mesh, links, tensor, from, to);
  auto [found, isNew] = plans.try_emplace(moves.key());
  if (isNew) {
    found->second = greedyReshard(moves);
    Search(moves).run(found->second.cost, maxLayouts, found->second);
  }
  ReshardPlan plan = found->second;
  addPrefixes(plan, moves);
  return plan;
}

} // namespace llmc
