//===- VertexCutTest.cpp - The cheapest values that separate a graph ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Cuts/VertexCut.h"

#include <gtest/gtest.h>
#include <random>

using namespace llmc;

namespace {
using Cut = std::vector<int32_t>;

/// x -> h -> g -> s -> p, and g -> n -> s.
VertexCutProblem makeStep() {
  VertexCutProblem problem;
  problem.costs = {std::nullopt, std::nullopt, 16, 4, 16, 16};
  problem.edges = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4}, {4, 5}};
  problem.sources = {0};
  problem.sinks = {5};
  return problem;
}

TEST(VertexCut, TakesTheCutNextToTheSources) {
  EXPECT_EQ(findVertexCut(makeStep()), Cut({2}));
}

TEST(VertexCut, TakesTheSumOfTwo) {
  // Two terms of one size each, whose sum costs half of them.
  VertexCutProblem problem = makeStep();
  problem.costs = {std::nullopt, 8, 8, 8, 8, std::nullopt};
  problem.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}};
  EXPECT_EQ(findVertexCut(problem), Cut({3}));
}

TEST(VertexCut, CutsAtFreeNodes) {
  VertexCutProblem problem = makeStep();
  problem.costs[4] = 0;
  EXPECT_EQ(findVertexCut(problem), Cut({4}));
}

TEST(VertexCut, HasNoneWhereAPathCannotBeCut) {
  VertexCutProblem problem = makeStep();
  problem.costs = {std::nullopt, std::nullopt, std::nullopt, 4,
                   std::nullopt, std::nullopt};
  EXPECT_EQ(findVertexCut(problem), std::nullopt);
  problem.sinks.clear();
  EXPECT_EQ(findVertexCut(problem), Cut());
}

TEST(VertexCut, FindsFaults) {
  auto check = [](auto change) {
    VertexCutProblem problem = makeStep();
    change(problem);
    return problem.check();
  };
  using P = VertexCutProblem;
  EXPECT_EQ(check([](P &) {}), "");
  EXPECT_EQ(check([](P &p) { p.edges[0].second = 6; }),
            "an edge has an end that is not there");
  EXPECT_EQ(check([](P &p) { p.sinks[0] = -1; }),
            "a source or sink is not there");
  EXPECT_EQ(check([](P &p) { p.costs[2] = -1; }),
            "costs are negative, or too large to add up");
  VertexCutProblem problem = makeStep();
  EXPECT_EQ(problem.verify({2}), "");
  EXPECT_EQ(problem.verify({3}), "a sink is reached past the cut");
  EXPECT_EQ(problem.verify({1}), "the cut has a node that cannot be cut");
  EXPECT_EQ(problem.verify({6}), "the cut has a node that is not there");
}

/// The least cost of a cut, by all sets of nodes.
std::optional<int64_t> findLeast(const VertexCutProblem &problem) {
  std::optional<int64_t> least;
  for (uint32_t set = 0; set < 1u << problem.costs.size(); ++set) {
    Cut cut;
    int64_t cost = 0;
    for (size_t i = 0; i < problem.costs.size(); ++i)
      if (set >> i & 1) {
        cut.push_back(static_cast<int32_t>(i));
        cost += problem.costs[i].value_or(0);
      }
    if (problem.verify(cut).empty() && (!least || cost < *least))
      least = cost;
  }
  return least;
}

TEST(VertexCut, IsTheCheapestOfAllSets) {
  std::mt19937 draw(5);
  auto below = [&](uint32_t bound) {
    return static_cast<int32_t>(draw() % bound);
  };
  int numCuts = 0;
  for (int round = 0; round < 500; ++round) {
    VertexCutProblem problem;
    int32_t size = 4 + below(6);
    for (int32_t i = 0; i < size; ++i)
      problem.costs.push_back(below(4) ? std::optional<int64_t>(below(9))
                                       : std::nullopt);
    for (int32_t i = 0; i < 2 * size; ++i) {
      int32_t from = below(size - 1);
      problem.edges.push_back({from, from + 1 + below(size - 1 - from)});
    }
    problem.sources = {0, below(size)};
    problem.sinks = {size - 1, below(size)};
    ASSERT_EQ(problem.check(), "");
    std::optional<Cut> cut = findVertexCut(problem);
    std::optional<int64_t> least = findLeast(problem);
    ASSERT_EQ(cut.has_value(), least.has_value());
    if (!cut)
      continue;
    ++numCuts;
    EXPECT_EQ(problem.verify(*cut), "");
    int64_t cost = 0;
    for (int32_t node : *cut)
      cost += *problem.costs[node];
    EXPECT_EQ(cost, *least);
  }
  EXPECT_GT(numCuts, 100);
}
} // namespace
