//===- KernelClusters.h - Grouping kernel nodes, on plain data --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem: nodes in program order, each an element-wise op, a reduction, an
// update or anything else, with the values that it reads and how their dims
// follow its own. The solution: which nodes share a kernel, and an order.
//
// Two groups merge when every value that passes between them is read in the row
// that computes it, and when no path leaves the one and enters the other. The
// second is kept by a topological order of the groups, repaired locally at each
// merge (after Pearce and Kelly, "A dynamic topological sort algorithm", 2006),
// so that the cost of a merge depends on what lies between the two.
//
// Test: test/Solvers/Fusion/KernelClustersTest.cpp
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_FUSION_KERNELCLUSTERS_H
#define LLMC_SOLVERS_FUSION_KERNELCLUSTERS_H

#include <cstdint>
#include <vector>

namespace llmc {

/// How a node reads a value that another node makes.
struct KernelAccess {
  /// The node that makes the value.
  int producer = 0;
  std::vector<int64_t> shape;
  /// For each dim of the value: the dim of the reader's space that indexes it,
  /// or one of the two below.
  std::vector<int> dims;
  static constexpr int single = -1;  ///< The dim has size 1.
  static constexpr int unknown = -2; ///< Computed in another way.
};

struct KernelNode {
  enum class Kind { Element, Reduction, Update, Other };
  Kind kind = Kind::Other;
  /// The space that the node runs over: the result's shape, or the input's of
  /// a reduction.
  std::vector<int64_t> space;
  /// Reductions: for each dim of the space, whether it is reduced.
  std::vector<bool> reduced;
  std::vector<KernelAccess> accesses;
  /// Numbers of the values from outside, of the space's size, that it reads.
  std::vector<int> externals;
  /// Read by something that is no kernel: kept in any case.
  bool required = false;
};

struct KernelCluster {
  enum class Kind { Rows, Reduce, Update, Other };
  Kind kind = Kind::Other;
  std::vector<int> nodes; ///< Ascending.
  bool hasRowShape = false;
  std::vector<int64_t> rowShape;
};

/// The clusters, in an order in which they can run.
std::vector<KernelCluster>
formKernelClusters(const std::vector<KernelNode> &nodes);

/// True when each node is in one cluster, and every cluster runs after those
/// that it reads from.
bool verifyKernelClusters(const std::vector<KernelNode> &nodes,
                          const std::vector<KernelCluster> &clusters);

} // namespace llmc

#endif // LLMC_SOLVERS_FUSION_KERNELCLUSTERS_H
