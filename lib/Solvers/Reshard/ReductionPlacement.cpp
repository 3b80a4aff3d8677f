//===- ReductionPlacement.cpp - Where partial values are reduced ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of ReductionPlacement.h, its parts, and the cut of each.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reshard/ReductionPlacement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace llmc {

//===----------------------------------------------------------------------===//
// Which values may be partial
//===----------------------------------------------------------------------===//

static bool contains(const std::vector<int32_t> &list, size_t item) {
  return std::find(list.begin(), list.end(), int32_t(item)) != list.end();
}

/// The use stands in `group`, and its value nowhere else in the op.
static bool standsInside(const PlacementProblem::Op &op,
                         const std::vector<int32_t> &group, size_t use) {
  if (!contains(group, use))
    return false;
  for (size_t i = 0; i < op.uses.size(); ++i)
    if (op.uses[i].value == op.uses[use].value && !contains(group, i))
      return false;
  return true;
}

PlacementFlow findPartialFlow(const PlacementProblem &problem) {
  PlacementFlow flow;
  flow.mayBePartial.assign(problem.values.size(), false);
  for (const PlacementProblem::Op &op : problem.ops) {
    int32_t best = -1, last = -1;
    for (size_t g = 0; g < op.groups.size(); ++g)
      for (int32_t use : op.groups[g]) {
        int32_t value = op.uses[use].value;
        if (value > last && flow.mayBePartial[value] &&
            standsInside(op, op.groups[g], use)) {
          last = value;
          best = int32_t(g);
        }
      }
    flow.groups.push_back(best);
    if (best >= 0 || op.isSource)
      for (int32_t result : op.results)
        flow.mayBePartial[result] = true;
  }
  return flow;
}

bool isCarried(const PlacementProblem &problem, const PlacementFlow &flow,
               size_t op, size_t use) {
  int32_t group = flow.groups[op];
  const PlacementProblem::Op &of = problem.ops[op];
  return group >= 0 && !of.results.empty() &&
         standsInside(of, of.groups[group], use);
}

//===----------------------------------------------------------------------===//
// Maximum flow
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

/// Edges in pairs: an edge and its reverse differ in the last bit.
class FlowGraph {
public:
  explicit FlowGraph(size_t numNodes) : first(numNodes, -1) {}

  void connect(int32_t from, int32_t to, int64_t capacity) {
    add(from, to, capacity);
    add(to, from, 0);
  }
  /// Sends as much as fits; returns how much.
  int64_t run(int32_t source, int32_t sink);
  /// After `run`: reached from the source where capacity is left.
  bool isOnSourceSide(int32_t node) const { return level[node] >= 0; }

private:
  struct Edge {
    int32_t to, next;
    int64_t left;
  };

  void add(int32_t from, int32_t to, int64_t capacity) {
    edges.push_back({to, first[from], capacity});
    first[from] = int32_t(edges.size()) - 1;
  }
  bool findLevels(int32_t source, int32_t sink);
  int64_t sendPath(int32_t source, int32_t sink);

  std::vector<Edge> edges;
  /// Of each node: its edges, the next one to try, distance from the source.
  std::vector<int32_t> first, next, level;
};
} // namespace

bool FlowGraph::findLevels(int32_t source, int32_t sink) {
  level.assign(first.size(), -1);
  level[source] = 0;
  std::vector<int32_t> queue{source};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int32_t e = first[queue[head]]; e >= 0; e = edges[e].next)
      if (edges[e].left > 0 && level[edges[e].to] < 0) {
        level[edges[e].to] = level[queue[head]] + 1;
        queue.push_back(edges[e].to);
      }
  return level[sink] >= 0;
}

/// One path along ascending levels, walked without recursion; edges that lead
/// nowhere are not tried again in this phase.
int64_t FlowGraph::sendPath(int32_t source, int32_t sink) {
  std::vector<int32_t> path;
  int32_t at = source;
  while (at != sink) {
    int32_t e = next[at];
    while (e >= 0 &&
           (edges[e].left == 0 || level[edges[e].to] != level[at] + 1))
      e = edges[e].next;
    next[at] = e;
    if (e >= 0) {
      path.push_back(e);
      at = edges[e].to;
      continue;
    }
    if (path.empty())
      return 0;
    at = edges[path.back() ^ 1].to;
    next[at] = edges[path.back()].next;
    path.pop_back();
  }
  int64_t amount = infinite;
  for (int32_t e : path)
    amount = std::min(amount, edges[e].left);
  for (int32_t e : path) {
    edges[e].left -= amount;
    edges[e ^ 1].left += amount;
  }
  return amount;
}

int64_t FlowGraph::run(int32_t source, int32_t sink) {
  int64_t total = 0;
  while (findLevels(source, sink)) {
    next = first;
    while (int64_t amount = sendPath(source, sink))
      total += amount;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
class Placer {
public:
  Placer(const PlacementProblem &problem, const PlacementFlow &flow)
      : problem(problem), flow(flow) {}

  ReductionPlacement run();

private:
  struct Edge {
    int32_t from, to;
    int64_t capacity;
  };
  /// Numbers of nodes that stand for source and sink in every part.
  static constexpr int32_t source = -1, sink = -2;

  int32_t partialNode(int32_t value) { return value; }
  int32_t fullNode(PlacementProblem::Use use);
  int32_t moveNode(int32_t move);
  void connectOp(size_t index);
  void connectUse(size_t index, size_t use);
  int32_t partOf(int32_t node);
  void unite(int32_t a, int32_t b) { parts[partOf(a)] = partOf(b); }
  void cutPart(const std::vector<int32_t> &nodes,
               const std::vector<Edge> &edges);
  void cutParts();

  const PlacementProblem &problem;
  const PlacementFlow &flow;
  std::vector<Edge> edges;
  /// Node of each (value, layout).
  std::map<std::pair<int32_t, int32_t>, int32_t> fullNodes;
  /// Node of each move, or -1.
  std::vector<int32_t> moveNodes;
  /// Union-find over nodes.
  std::vector<int32_t> parts;
  /// For each node its number in the part that is cut.
  std::vector<int32_t> local;
  std::vector<bool> isOnSourceSide;
  ReductionPlacement result;
};
} // namespace

int32_t Placer::fullNode(PlacementProblem::Use use) {
  auto [found, isNew] =
      fullNodes.try_emplace({use.value, use.layout}, int32_t(parts.size()));
  if (isNew) {
    parts.push_back(found->second);
    edges.push_back({partialNode(use.value), found->second,
                     problem.values[use.value].prices[use.layout]});
  }
  return found->second;
}

int32_t Placer::moveNode(int32_t move) {
  int32_t &node = moveNodes[move];
  if (node < 0) {
    node = int32_t(parts.size());
    parts.push_back(node);
    edges.push_back({node, sink, problem.moves[move]});
  }
  return node;
}

void Placer::connectUse(size_t index, size_t use) {
  const PlacementProblem::Op &op = problem.ops[index];
  int32_t full = fullNode(op.uses[use]);
  if (isCarried(problem, flow, index, use))
    edges.push_back({full, partialNode(op.results.front()), infinite});
  else
    edges.push_back({full, sink, infinite});
}

void Placer::connectOp(size_t index) {
  const PlacementProblem::Op &op = problem.ops[index];
  for (size_t use = 0; use < op.uses.size(); ++use)
    if (op.uses[use].value >= 0 && flow.mayBePartial[op.uses[use].value])
      connectUse(index, use);
  if (op.results.empty() || !flow.mayBePartial[op.results.front()])
    return;
  int32_t head = partialNode(op.results.front());
  if (op.isSource)
    edges.push_back({source, head, op.whole < 0 ? infinite : op.whole});
  if (int32_t group = flow.groups[index];
      group >= 0 && size_t(group) < op.moves.size())
    for (int32_t move : op.moves[group])
      edges.push_back({head, moveNode(move), infinite});
  for (size_t i = 1; i < op.results.size(); ++i) {
    edges.push_back({head, partialNode(op.results[i]), infinite});
    edges.push_back({partialNode(op.results[i]), head, infinite});
  }
}

int32_t Placer::partOf(int32_t node) {
  while (parts[node] != node)
    node = parts[node] = parts[parts[node]];
  return node;
}

void Placer::cutPart(const std::vector<int32_t> &nodes,
                     const std::vector<Edge> &own) {
  auto s = int32_t(nodes.size()), t = s + 1;
  for (size_t i = 0; i < nodes.size(); ++i)
    local[nodes[i]] = int32_t(i);
  FlowGraph graph(nodes.size() + 2);
  auto numberOf = [&](int32_t node) {
    return node == source ? s : node == sink ? t : local[node];
  };
  for (const Edge &edge : own)
    graph.connect(numberOf(edge.from), numberOf(edge.to), edge.capacity);
  result.cost += graph.run(s, t);
  for (int32_t node : nodes)
    isOnSourceSide[node] = graph.isOnSourceSide(local[node]);
}

void Placer::cutParts() {
  for (const Edge &edge : edges)
    if (edge.from >= 0 && edge.to >= 0)
      unite(edge.from, edge.to);
  size_t count = parts.size();
  std::vector<std::vector<int32_t>> nodes(count);
  std::vector<std::vector<Edge>> own(count);
  for (size_t node = 0; node < count; ++node)
    nodes[partOf(int32_t(node))].push_back(int32_t(node));
  for (const Edge &edge : edges)
    own[partOf(edge.from >= 0 ? edge.from : edge.to)].push_back(edge);
  local.assign(count, 0);
  isOnSourceSide.assign(count, false);
  for (size_t part = 0; part < count; ++part)
    if (!own[part].empty())
      cutPart(nodes[part], own[part]);
}

ReductionPlacement Placer::run() {
  parts.resize(problem.values.size());
  std::iota(parts.begin(), parts.end(), 0);
  moveNodes.assign(problem.moves.size(), -1);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    connectOp(op);
  cutParts();
  result.isPartial.assign(isOnSourceSide.begin(),
                          isOnSourceSide.begin() + problem.values.size());
  for (auto [key, node] : fullNodes)
    if (isOnSourceSide[key.first] && !isOnSourceSide[node])
      result.cuts.push_back(key);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].isSource && !problem.ops[op].results.empty() &&
        !result.isPartial[problem.ops[op].results.front()])
      result.wholes.push_back(int32_t(op));
  for (bool may : flow.mayBePartial)
    result.numNodes += may;
  result.numNodes += int64_t(fullNodes.size());
  result.numEdges = int64_t(edges.size());
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Which of two factors is full
//===----------------------------------------------------------------------===//

/// A group other than the op's own, of which the placement reduces an operand;
/// -1 where there is none.
static int32_t findOther(const PlacementProblem &problem,
                         const PlacementFlow &flow,
                         const ReductionPlacement &placement, size_t index) {
  const PlacementProblem::Op &op = problem.ops[index];
  if (flow.groups[index] < 0 || op.results.empty())
    return -1;
  for (size_t g = 0; g < op.groups.size(); ++g)
    for (int32_t use : op.groups[g]) {
      auto [value, layout] = op.uses[use];
      if (int32_t(g) != flow.groups[index] && value >= 0 &&
          placement.isPartial[value] && standsInside(op, op.groups[g], use) &&
          std::binary_search(placement.cuts.begin(), placement.cuts.end(),
                             std::pair(value, layout)))
        return int32_t(g);
    }
  return -1;
}

/// Takes the groups in `others`, by op, if that costs less.
static bool tryGroups(const PlacementProblem &problem,
                      const std::vector<std::pair<size_t, int32_t>> &others,
                      PlacementFlow &flow, ReductionPlacement &best) {
  PlacementFlow next = flow;
  for (auto [op, group] : others)
    next.groups[op] = group;
  ReductionPlacement placement = Placer(problem, next).run();
  if (placement.cost >= best.cost)
    return false;
  flow = std::move(next);
  best = std::move(placement);
  return true;
}

ReductionPlacement placeReductions(const PlacementProblem &problem) {
  constexpr size_t mostAlone = 8;
  PlacementFlow flow = findPartialFlow(problem);
  ReductionPlacement best = Placer(problem, flow).run();
  std::vector<std::pair<size_t, int32_t>> others;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (int32_t group = findOther(problem, flow, best, op); group >= 0)
      others.push_back({op, group});
  if (!others.empty() && !tryGroups(problem, others, flow, best) &&
      others.size() > 1)
    for (size_t i = 0; i < std::min(others.size(), mostAlone); ++i)
      tryGroups(problem, {others[i]}, flow, best);
  best.groups = flow.groups;
  return best;
}

} // namespace llmc
