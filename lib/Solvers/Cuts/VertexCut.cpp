//===- VertexCut.cpp - The cheapest values that separate a graph ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A node is an arc from its entry to its exit that lets as much flow pass as
// it costs; edges let all pass. Dinic's algorithm, without recursion.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Cuts/VertexCut.h"

#include <algorithm>
#include <cstddef>

using namespace llmc;

//===----------------------------------------------------------------------===//
// Problem and solution
//===----------------------------------------------------------------------===//

std::string VertexCutProblem::check() const {
  auto numNodes = static_cast<int32_t>(costs.size());
  auto isNode = [&](int32_t node) { return node >= 0 && node < numNodes; };
  for (auto [from, to] : edges)
    if (!isNode(from) || !isNode(to))
      return "an edge has an end that is not there";
  for (const std::vector<int32_t> *ends : {&sources, &sinks})
    for (int32_t node : *ends)
      if (!isNode(node))
        return "a source or sink is not there";
  int64_t sum = 0;
  for (std::optional<int64_t> cost : costs)
    if (cost && (*cost < 0 || __builtin_add_overflow(sum, *cost, &sum)))
      return "costs are negative, or too large to add up";
  return "";
}

/// Nodes that are reached from the sources past no node of `cut`.
static std::vector<bool> reach(const VertexCutProblem &problem,
                               const std::vector<bool> &isCut) {
  std::vector<std::vector<int32_t>> users(problem.costs.size());
  for (auto [from, to] : problem.edges)
    users[from].push_back(to);
  std::vector<bool> isReached(problem.costs.size());
  std::vector<int32_t> work;
  auto visit = [&](int32_t node) {
    if (isReached[node] || isCut[node])
      return;
    isReached[node] = true;
    work.push_back(node);
  };
  for (int32_t node : problem.sources)
    visit(node);
  while (!work.empty()) {
    int32_t node = work.back();
    work.pop_back();
    for (int32_t user : users[node])
      visit(user);
  }
  return isReached;
}

std::string VertexCutProblem::verify(const std::vector<int32_t> &cut) const {
  std::vector<bool> isCut(costs.size());
  for (int32_t node : cut) {
    if (node < 0 || node >= static_cast<int32_t>(costs.size()))
      return "the cut has a node that is not there";
    if (!costs[node])
      return "the cut has a node that cannot be cut";
    isCut[node] = true;
  }
  std::vector<bool> isReached = reach(*this, isCut);
  for (int32_t node : sinks)
    if (isReached[node])
      return "a sink is reached past the cut";
  return "";
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

namespace {
/// A flow from one node to another.
class Flow {
public:
  explicit Flow(int32_t numNodes) : arcsOf(numNodes) {}

  void add(int32_t from, int32_t to, int64_t capacity) {
    arcsOf[from].push_back(static_cast<int32_t>(arcs.size()));
    arcs.push_back({to, capacity});
    arcsOf[to].push_back(static_cast<int32_t>(arcs.size()));
    arcs.push_back({from, 0});
  }

  /// Lets the most flow from `source` to `sink`, but no more than `bound`.
  int64_t run(int32_t source, int32_t sink, int64_t bound);
  /// After `run`: the node is on the source's side.
  bool isReached(int32_t node) const { return level[node] >= 0; }

private:
  struct Arc {
    int32_t to;
    int64_t left;
  };
  bool findLevels(int32_t source, int32_t sink);
  int64_t push(int32_t source, int32_t sink);

  std::vector<std::vector<int32_t>> arcsOf;
  /// Arc i and i ^ 1 are each other's reverse.
  std::vector<Arc> arcs;
  /// Distance from the source; -1 where there is no path.
  std::vector<int32_t> level;
  /// The next arc to try of each node.
  std::vector<size_t> next;
};
} // namespace

bool Flow::findLevels(int32_t source, int32_t sink) {
  level.assign(arcsOf.size(), -1);
  next.assign(arcsOf.size(), 0);
  level[source] = 0;
  std::vector<int32_t> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int32_t number : arcsOf[queue[i]]) {
      const Arc &arc = arcs[number];
      if (arc.left == 0 || level[arc.to] >= 0)
        continue;
      level[arc.to] = level[queue[i]] + 1;
      queue.push_back(arc.to);
    }
  return level[sink] >= 0;
}

/// Along one shortest path; 0 where none is left.
int64_t Flow::push(int32_t source, int32_t sink) {
  std::vector<int32_t> path;
  for (int32_t node = source; node != sink;) {
    size_t &at = next[node];
    while (at < arcsOf[node].size()) {
      const Arc &arc = arcs[arcsOf[node][at]];
      if (arc.left > 0 && level[arc.to] == level[node] + 1)
        break;
      ++at;
    }
    if (at < arcsOf[node].size()) {
      path.push_back(arcsOf[node][at]);
      node = arcs[path.back()].to;
      continue;
    }
    if (path.empty())
      return 0;
    // A dead end: back, and on with the next arc.
    node = arcs[path.back() ^ 1].to;
    path.pop_back();
    ++next[node];
  }
  int64_t amount = arcs[path.front()].left;
  for (int32_t number : path)
    amount = std::min(amount, arcs[number].left);
  for (int32_t number : path) {
    arcs[number].left -= amount;
    arcs[number ^ 1].left += amount;
  }
  return amount;
}

int64_t Flow::run(int32_t source, int32_t sink, int64_t bound) {
  int64_t total = 0;
  while (findLevels(source, sink))
    while (int64_t amount = push(source, sink)) {
      total += amount;
      if (total >= bound)
        return total;
    }
  return total;
}

std::optional<std::vector<int32_t>>
llmc::findVertexCut(const VertexCutProblem &problem) {
  auto numNodes = static_cast<int32_t>(problem.costs.size());
  int64_t endless = 1;
  for (std::optional<int64_t> cost : problem.costs)
    endless += cost ? *cost : 0;
  auto entryOf = [](int32_t node) { return 2 * node; };
  auto exitOf = [](int32_t node) { return 2 * node + 1; };
  int32_t source = 2 * numNodes, sink = source + 1;
  Flow flow(sink + 1);
  for (int32_t node = 0; node < numNodes; ++node)
    flow.add(entryOf(node), exitOf(node),
             problem.costs[node].value_or(endless));
  for (auto [from, to] : problem.edges)
    flow.add(exitOf(from), entryOf(to), endless);
  for (int32_t node : problem.sources)
    flow.add(source, entryOf(node), endless);
  for (int32_t node : problem.sinks)
    flow.add(exitOf(node), sink, endless);
  if (flow.run(source, sink, endless) >= endless)
    return std::nullopt;
  std::vector<int32_t> cut;
  for (int32_t node = 0; node < numNodes; ++node)
    if (flow.isReached(entryOf(node)) && !flow.isReached(exitOf(node)))
      cut.push_back(node);
  return cut;
}
