//===- VertexCut.h - The cheapest values that separate a graph --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are values, edges go from a value to those computed from it. A cut is
// a set of nodes such that every path from a source to a sink meets one:
//
//   x -> h -> g -> s -> p'        cut {g}
//             g -> n -> s
//
// Of all cuts the cheapest, and of those the one next to the sources (Ford and
// Fulkerson 1956; Dinic 1970, with nodes split in two).
//
// Test: test/Solvers/Cuts/VertexCutTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_CUTS_VERTEXCUT_H
#define LLMC_SOLVERS_CUTS_VERTEXCUT_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmc {

struct VertexCutProblem {
  /// What it costs to cut at each node, at least 0; nothing where that cannot
  /// be.
  std::vector<std::optional<int64_t>> costs;
  std::vector<std::pair<int32_t, int32_t>> edges;
  std::vector<int32_t> sources, sinks;

  /// The first fault of the problem, or an empty string.
  std::string check() const;
  /// The first fault of `cut` as one of this problem, or an empty string.
  std::string verify(const std::vector<int32_t> &cut) const;
};

/// The nodes of the cut, ascending; nothing where a path from a source to a
/// sink has no node that can be cut. At most as many searches of the graph as
/// it has nodes; in practice a few for each node of the cut.
std::optional<std::vector<int32_t>>
findVertexCut(const VertexCutProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_CUTS_VERTEXCUT_H
