//===- KernelClusters.cpp - Grouping kernel nodes, on plain data ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are taken in program order; each joins the clusters of what it reads
// where that is possible. A node whose only readers are reductions over other
// than trailing dims waits for them instead, and is computed inside.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Fusion/KernelClusters.h"

#include <algorithm>
#include <map>
#include <set>

namespace llmc {

namespace {

using Shape = std::vector<int64_t>;

int64_t countOf(const Shape &shape, size_t from = 0) {
  int64_t count = 1;
  for (size_t i = from; i < shape.size(); ++i)
    count *= shape[i];
  return count;
}

bool isPrefix(const Shape &prefix, const Shape &shape) {
  return prefix.size() <= shape.size() &&
         std::equal(prefix.begin(), prefix.end(), shape.begin());
}

class ClusterSolver {
public:
  explicit ClusterSolver(const std::vector<KernelNode> &nodes);
  std::vector<KernelCluster> solve();

private:
  using Kind = KernelCluster::Kind;

  /// A merge may look at this many places of the order.
  static constexpr int maxWindow = 512;
  static constexpr size_t maxNodes = 64;
  /// Fewer rows than this do not share out a large reduction.
  static constexpr int64_t minRows = 16;
  static constexpr int64_t largeSpace = 32768;

  KernelCluster makeSingle(int node) const;
  bool waitsForReductions(int node) const;
  void joinProducers(int node);
  void joinSibling(int node);
  bool tryMerge(int a, int b);
  bool agreeRows(const KernelCluster &a, const KernelCluster &b,
                 KernelCluster &merged) const;
  bool isRowShapeOf(const KernelAccess &access, int reader, Shape &rows) const;
  bool accessFits(const KernelAccess &access, const KernelNode &reader,
                  const KernelCluster &merged) const;
  bool crossingsFit(int a, int b, const KernelCluster &merged) const;
  bool onlyReadBy(int a, int b) const;
  bool reorder(int a, int b);
  bool collectBefore(int target, int low, int avoid, std::set<int> &found);

  const std::vector<KernelNode> &nodes;
  std::vector<std::vector<int>> readers;
  std::vector<KernelCluster> clusters;
  std::vector<int> clusterOf;
  /// place[c] is the cluster's position in `order`; -1 marks a merged one.
  std::vector<int> place, order;
  std::map<std::pair<Shape, std::vector<bool>>, int> lastReduce;
};

ClusterSolver::ClusterSolver(const std::vector<KernelNode> &nodes)
    : nodes(nodes), readers(nodes.size()) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const KernelAccess &access : nodes[i].accesses)
      readers[access.producer].push_back(i);
    clusters.push_back(makeSingle(i));
    clusterOf.push_back(i);
    place.push_back(i);
    order.push_back(i);
  }
}

KernelCluster ClusterSolver::makeSingle(int node) const {
  KernelCluster cluster;
  cluster.nodes = {node};
  const KernelNode &n = nodes[node];
  if (n.kind == KernelNode::Kind::Element) {
    cluster.kind = Kind::Rows;
  } else if (n.kind == KernelNode::Kind::Update) {
    cluster.kind = Kind::Update;
  } else if (n.kind == KernelNode::Kind::Reduction) {
    size_t rows = 0;
    while (rows < n.space.size() && !n.reduced[rows])
      ++rows;
    bool trailing = std::all_of(n.reduced.begin() + rows, n.reduced.end(),
                                [](bool reduced) { return reduced; });
    cluster.rowShape.assign(n.space.begin(), n.space.begin() + rows);
    int64_t count = countOf(cluster.rowShape);
    cluster.hasRowShape = trailing && count > 1 &&
                          (count >= minRows || countOf(n.space) <= largeSpace);
    cluster.kind = cluster.hasRowShape ? Kind::Rows : Kind::Reduce;
  }
  return cluster;
}

bool ClusterSolver::waitsForReductions(int node) const {
  if (nodes[node].kind != KernelNode::Kind::Element || nodes[node].required ||
      readers[node].empty())
    return false;
  return std::all_of(readers[node].begin(), readers[node].end(),
                     [&](int r) { return makeSingle(r).kind == Kind::Reduce; });
}

/// A value of one element for each row: [8, 128, 1] read by [8, 128, 384].
bool ClusterSolver::isRowShapeOf(const KernelAccess &access, int reader,
                                 Shape &rows) const {
  size_t last = access.shape.size();
  while (last > 0 && access.shape[last - 1] == 1)
    --last;
  rows.assign(access.shape.begin(), access.shape.begin() + last);
  return isPrefix(rows, nodes[reader].space) &&
         rows.size() < nodes[reader].space.size();
}

/// The row shape of a merge of `a` and `b` (b reads from a).
bool ClusterSolver::agreeRows(const KernelCluster &a, const KernelCluster &b,
                              KernelCluster &merged) const {
  if (a.hasRowShape && b.hasRowShape && a.rowShape != b.rowShape)
    return false;
  merged.hasRowShape = a.hasRowShape || b.hasRowShape;
  merged.rowShape = a.hasRowShape ? a.rowShape : b.rowShape;
  if (!merged.hasRowShape) {
    const Shape &space = nodes[a.nodes[0]].space;
    if (space == nodes[b.nodes[0]].space)
      return true;
    // Rows are set by the first value that has one element for each.
    for (int reader : b.nodes) {
      for (const KernelAccess &access : nodes[reader].accesses) {
        if (!std::count(a.nodes.begin(), a.nodes.end(), access.producer))
          continue;
        if (!isRowShapeOf(access, reader, merged.rowShape) ||
            countOf(merged.rowShape) < minRows)
          return false;
        merged.hasRowShape = true;
      }
    }
  }
  for (const KernelCluster *side : {&a, &b})
    for (int node : side->nodes)
      if (!isPrefix(merged.rowShape, nodes[node].space))
        return false;
  return true;
}

bool ClusterSolver::accessFits(const KernelAccess &access,
                               const KernelNode &reader,
                               const KernelCluster &merged) const {
  bool same = access.shape == reader.space;
  for (size_t dim = 0; dim < access.dims.size(); ++dim) {
    int at = access.dims[dim];
    same &= at == int(dim) || access.shape[dim] == 1;
  }
  if (same || merged.kind == Kind::Reduce)
    return same;
  if (!merged.hasRowShape)
    return false;
  int rows = merged.rowShape.size();
  if (!isPrefix(merged.rowShape, access.shape))
    return false;
  for (size_t dim = 0; dim < access.dims.size(); ++dim) {
    int at = access.dims[dim];
    if (access.shape[dim] == 1)
      continue;
    if (int(dim) < rows ? at != int(dim) : at < rows)
      return false;
  }
  return true;
}

bool ClusterSolver::crossingsFit(int a, int b,
                                 const KernelCluster &merged) const {
  for (int node : merged.nodes) {
    for (const KernelAccess &access : nodes[node].accesses) {
      int from = clusterOf[access.producer];
      if ((from != a && from != b) || from == clusterOf[node])
        continue;
      // Inside a Reduce cluster sums are there only at its end.
      if (merged.kind == Kind::Reduce &&
          nodes[access.producer].kind == KernelNode::Kind::Reduction)
        return false;
      if (!accessFits(access, nodes[node], merged))
        return false;
    }
  }
  return true;
}

/// Nothing but cluster `b` reads what cluster `a` makes.
bool ClusterSolver::onlyReadBy(int a, int b) const {
  for (int node : clusters[a].nodes) {
    if (nodes[node].required)
      return false;
    for (int reader : readers[node])
      if (clusterOf[reader] != a && clusterOf[reader] != b)
        return false;
  }
  return true;
}

/// Adds the clusters after place `low` that `target` depends on. False when
/// `avoid` is among those that they depend on.
bool ClusterSolver::collectBefore(int target, int low, int avoid,
                                  std::set<int> &found) {
  std::vector<int> stack = {target};
  while (!stack.empty()) {
    int cluster = stack.back();
    stack.pop_back();
    for (int node : clusters[cluster].nodes) {
      for (const KernelAccess &access : nodes[node].accesses) {
        int from = clusterOf[access.producer];
        if (from == avoid && cluster != target)
          return false;
        if (from != cluster && from != target && place[from] > low &&
            found.insert(from).second)
          stack.push_back(from);
      }
    }
  }
  return true;
}

/// Makes room to merge `a` (earlier in the order) with `b`: what `b` depends on
/// goes before both. False when a path leads from `a` through others to `b`.
bool ClusterSolver::reorder(int a, int b) {
  int low = place[a], high = place[b];
  if (high - low > maxWindow)
    return false;
  std::set<int> before;
  if (!collectBefore(b, low, a, before))
    return false;
  std::vector<int> first, rest;
  for (int at = low + 1; at < high; ++at) {
    int cluster = order[at];
    if (cluster >= 0)
      (before.count(cluster) ? first : rest).push_back(cluster);
  }
  int at = low;
  for (int cluster : first) {
    place[cluster] = at;
    order[at++] = cluster;
  }
  place[a] = at;
  order[at++] = a;
  for (int cluster : rest) {
    place[cluster] = at;
    order[at++] = cluster;
  }
  while (at <= high)
    order[at++] = -1;
  return true;
}

/// Merges `b` into `a` or `a` into `b`, whichever comes first in the order.
bool ClusterSolver::tryMerge(int a, int b) {
  if (a == b || clusters[a].nodes.size() + clusters[b].nodes.size() > maxNodes)
    return false;
  const KernelCluster &ca = clusters[a], &cb = clusters[b];
  KernelCluster merged;
  merged.nodes = ca.nodes;
  merged.nodes.insert(merged.nodes.end(), cb.nodes.begin(), cb.nodes.end());
  std::sort(merged.nodes.begin(), merged.nodes.end());
  if (ca.kind == Kind::Rows && cb.kind == Kind::Rows) {
    merged.kind = Kind::Rows;
    if (!agreeRows(ca, cb, merged))
      return false;
  } else if (cb.kind == Kind::Reduce && ca.kind == Kind::Rows) {
    merged.kind = Kind::Reduce;
    if (!onlyReadBy(a, b))
      return false;
  } else if (cb.kind == Kind::Reduce && ca.kind == Kind::Reduce) {
    merged.kind = Kind::Reduce;
  } else {
    return false;
  }
  if (!crossingsFit(a, b, merged))
    return false;
  int first = place[a] < place[b] ? a : b, second = first == a ? b : a;
  if (!reorder(first, second))
    return false;
  for (int node : clusters[second].nodes)
    clusterOf[node] = first;
  clusters[second].nodes.clear();
  place[second] = -1;
  clusters[first] = std::move(merged);
  return true;
}

void ClusterSolver::joinProducers(int node) {
  for (const KernelAccess &access : nodes[node].accesses)
    tryMerge(clusterOf[access.producer], clusterOf[node]);
}

/// Reductions of equal space and dims that read a value in common are one.
void ClusterSolver::joinSibling(int node) {
  const KernelNode &n = nodes[node];
  if (n.kind != KernelNode::Kind::Reduction ||
      clusters[clusterOf[node]].kind != Kind::Reduce)
    return;
  auto [entry, isNew] = lastReduce.try_emplace({n.space, n.reduced}, node);
  if (isNew)
    return;
  auto collect = [&](int cluster) {
    // Values from outside are told from nodes by their sign.
    std::set<int> sources;
    for (int member : clusters[cluster].nodes) {
      for (const KernelAccess &access : nodes[member].accesses)
        if (countOf(access.shape) == countOf(n.space))
          sources.insert(access.producer);
      for (int external : nodes[member].externals)
        sources.insert(-1 - external);
    }
    return sources;
  };
  int other = clusterOf[entry->second];
  std::set<int> mine = collect(clusterOf[node]), theirs = collect(other);
  bool shared = std::any_of(mine.begin(), mine.end(),
                            [&](int p) { return theirs.count(p); });
  if (shared)
    tryMerge(other, clusterOf[node]);
  entry->second = node;
}

std::vector<KernelCluster> ClusterSolver::solve() {
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].kind == KernelNode::Kind::Other ||
        nodes[node].kind == KernelNode::Kind::Update ||
        waitsForReductions(node))
      continue;
    joinProducers(node);
    joinSibling(node);
  }
  std::vector<KernelCluster> result;
  for (int cluster : order)
    if (cluster >= 0 && place[cluster] >= 0)
      result.push_back(std::move(clusters[cluster]));
  return result;
}

} // namespace

std::vector<KernelCluster>
formKernelClusters(const std::vector<KernelNode> &nodes) {
  return ClusterSolver(nodes).solve();
}

bool verifyKernelClusters(const std::vector<KernelNode> &nodes,
                          const std::vector<KernelCluster> &clusters) {
  std::vector<int> position(nodes.size(), -1);
  for (size_t c = 0; c < clusters.size(); ++c) {
    for (int node : clusters[c].nodes) {
      if (position[node] >= 0)
        return false;
      position[node] = c;
    }
  }
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (position[node] < 0)
      return false;
    for (const KernelAccess &access : nodes[node].accesses)
      if (position[access.producer] > position[node])
        return false;
  }
  return true;
}

} // namespace llmc
