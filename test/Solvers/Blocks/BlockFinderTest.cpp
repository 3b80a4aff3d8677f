//===- BlockFinderTest.cpp - Repeated segments of a forward graph ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Blocks/BlockFinder.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace llmc;

namespace {

/// Builds graphs of residual layers:
///   x = embed(tokens, E); each layer: y = norm x; h = dot(y, W); g = act h;
///   u = dot(g, V); x = add(x, u);   then norm, head, loss.
class Model {
public:
  BlockGraph graph;

  int32_t add(uint64_t signature, std::vector<int32_t> operands,
              int64_t bytes = 100,
              BlockGraph::Source source = BlockGraph::Source::None) {
    graph.nodes.push_back({signature, std::move(operands), bytes, source});
    return static_cast<int32_t>(graph.nodes.size()) - 1;
  }
  int32_t parameter(uint64_t type) {
    return add(type, {}, 0, BlockGraph::Source::Parameter);
  }
  int32_t layer(int32_t x, int32_t w, int32_t v, uint64_t activation = 12) {
    int32_t y = add(10, {x});
    int32_t h = add(11, {y, w}, 400);
    int32_t g = add(activation, {h}, 400);
    int32_t u = add(13, {g, v});
    return add(14, {x, u});
  }
  void residual(int numLayers) {
    int32_t tokens = add(1, {}, 0, BlockGraph::Source::Input);
    int32_t table = parameter(2);
    std::vector<int32_t> weights;
    for (int i = 0; i < 2 * numLayers; ++i)
      weights.push_back(parameter(3 + i % 2));
    int32_t x = add(9, {table, tokens});
    for (int i = 0; i < numLayers; ++i)
      x = layer(x, weights[2 * i], weights[2 * i + 1]);
    int32_t y = add(10, {x});
    int32_t logits = add(15, {y, table}, 1000);
    add(16, {logits, tokens}, 4);
  }
};

/// Block of the i-th op (sources left out).
std::vector<int32_t> opBlocks(const BlockGraph &graph,
                              const BlockSolution &solution) {
  std::vector<int32_t> blocks;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].source == BlockGraph::Source::None)
      blocks.push_back(solution.block[i]);
  return blocks;
}

TEST(BlockFinder, CutsLayersAtTheResidual) {
  Model model;
  model.residual(3);
  ASSERT_EQ(model.graph.check(), "");
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 3);
  EXPECT_EQ(solution.period, 5);
  // The last norm equals the first op of a layer, yet belongs to the epilogue.
  EXPECT_EQ(opBlocks(model.graph, solution),
            (std::vector<int32_t>{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3,
                                  3, 4, 4, 4}));
}

/// Cells that take an input as it is: what the first computes of it alone, as a
/// norm, is a part of the first block.
TEST(BlockFinder, TheFirstCellMayTakeAnInput) {
  for (int numCells : {2, 3, 4})
    for (bool hasNorm : {false, true}) {
      Model model;
      int32_t x = model.add(1, {}, 0, BlockGraph::Source::Input);
      int32_t y = model.add(1, {}, 0, BlockGraph::Source::Input);
      std::vector<int32_t> weights;
      for (int i = 0; i < numCells; ++i)
        weights.push_back(model.parameter(3));
      for (int32_t w : weights) {
        int32_t n = hasNorm ? model.add(10, {x}) : x;
        int32_t h = model.add(11, {n, w});
        x = model.add(12, {h});
      }
      int32_t difference = model.add(15, {x, y});
      model.add(16, {difference}, 4);
      ASSERT_EQ(model.graph.check(), "");
      BlockSolution solution = findBlocks(model.graph);
      EXPECT_EQ(solution.verify(model.graph), "");
      EXPECT_EQ(solution.numRepeated, numCells);
      std::vector<int32_t> blocks;
      for (int i = 1; i <= numCells; ++i)
        blocks.insert(blocks.end(), hasNorm ? 3 : 2, i);
      blocks.insert(blocks.end(), 2, numCells + 1);
      EXPECT_EQ(opBlocks(model.graph, solution), blocks);
    }
}

/// Each layer adds to a sum that begins with a constant, or a value of a
/// parameter alone: an operand of the first one is not of the spine.
TEST(BlockFinder, TheFirstLayerMayBeginASum) {
  for (bool isConstant : {true, false})
    for (int numLayers : {2, 3, 6}) {
      Model model;
      int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
      int32_t w = model.parameter(3), v = model.parameter(4);
      int32_t x = model.add(9, {w, tokens});
      int32_t sum = isConstant ? model.add(31, {}, 4) : model.add(32, {w}, 4);
      for (int i = 0; i < numLayers; ++i) {
        x = model.layer(x, w, v);
        sum = model.add(33, {sum, model.add(34, {x}, 4)}, 4);
      }
      model.add(16, {x, sum}, 4);
      BlockSolution solution = findBlocks(model.graph);
      EXPECT_EQ(solution.verify(model.graph), "");
      EXPECT_EQ(solution.numRepeated, numLayers);
      EXPECT_EQ(solution.period, 7);
      ASSERT_EQ(solution.repeated.size(), 1u);
      EXPECT_EQ(solution.repeated.front().first, 1);
      EXPECT_EQ(solution.repeated.front().count, numLayers);
    }
}

/// What the first layer takes otherwise must be what the second one takes of
/// the first: a sum that begins again in the second layer is no sum of both.
TEST(BlockFinder, ASumThatBeginsAgainIsNone) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3), v = model.parameter(4);
  int32_t x = model.add(9, {w, tokens}), first = x;
  int32_t sum = model.add(31, {}, 4);
  for (int i = 0; i < 3; ++i) {
    x = model.layer(x, w, v);
    sum = model.add(33, {i == 1 ? first : sum, model.add(34, {x}, 4)}, 4);
  }
  model.add(16, {x, sum}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 2);
  EXPECT_EQ(solution.block[first], 0);
}

/// An encoder and a decoder whose layers are larger and read what it made;
/// what is far smaller than a layer is none.
TEST(BlockFinder, LayersOfSeveralKindsFollowEachOther) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3), v = model.parameter(4);
  int32_t x = model.add(9, {w, tokens});
  for (int i = 0; i < 3; ++i)
    x = model.add(21, {x, w});
  for (int i = 0; i < 3; ++i)
    x = model.layer(x, w, v);
  int32_t memory = x, y = model.add(9, {w, tokens});
  for (int i = 0; i < 4; ++i) {
    y = model.layer(y, w, v, 22);
    y = model.add(24, {y, model.add(23, {y, memory})});
  }
  model.add(16, {y, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  ASSERT_EQ(solution.repeated.size(), 2u);
  EXPECT_EQ(solution.repeated[0].first, 1);
  EXPECT_EQ(solution.repeated[0].count, 3);
  EXPECT_EQ(solution.repeated[1].first, 5);
  EXPECT_EQ(solution.repeated[1].count, 4);
  EXPECT_EQ(solution.numRepeated, 4);
  EXPECT_EQ(solution.block[memory], 3);
  EXPECT_EQ(solution.getLastBlock(), 9);
}

/// A mask that one layer computes, and all use, does not tell it from others.
TEST(BlockFinder, WhatDependsOnInputsAloneMayStandAnywhere) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3);
  int32_t x = model.add(9, {w, tokens});
  int32_t mask = -1;
  for (int i = 0; i < 3; ++i) {
    int32_t h = model.add(11, {x, w});
    mask = i == 0 ? model.add(30, {tokens}) : mask;
    x = model.add(14, {h, mask});
  }
  model.add(16, {x, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 3);
  EXPECT_FALSE(solution.hasInputs);
}

TEST(BlockFinder, FindsTwoLayers) {
  Model model;
  model.residual(2);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 2);
}

TEST(BlockFinder, OneLayerIsOneBlock) {
  Model model;
  model.residual(1);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 0);
  for (int32_t block : opBlocks(model.graph, solution))
    EXPECT_EQ(block, 0);
}

/// Of runs that cover as many ops, the one of shorter segments.
TEST(BlockFinder, PrefersShortSegments) {
  for (bool shortFirst : {true, false}) {
    Model model;
    int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
    int32_t w = model.parameter(3);
    int32_t x = model.add(9, {w, tokens});
    for (uint64_t signature :
         shortFirst ? std::vector<uint64_t>{20, 20, 20, 20, 21, 22, 21, 22}
                    : std::vector<uint64_t>{21, 22, 21, 22, 20, 20, 20, 20})
      x = model.add(signature, {x, w});
    model.add(16, {x, tokens}, 4);
    BlockSolution solution = findBlocks(model.graph);
    EXPECT_EQ(solution.verify(model.graph), "");
    EXPECT_EQ(solution.numRepeated, 4);
    EXPECT_EQ(solution.period, 1);
  }
}

/// A layer that reads its values in another order ends the run; those before it
/// are a run of their own.
TEST(BlockFinder, SegmentsReadTheSamePlaces) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3);
  int32_t x = model.add(9, {w, tokens});
  for (int i = 0; i < 6; ++i) {
    int32_t y = model.add(10, {x});
    int32_t h = model.add(11, {y, w}, 400);
    x = i == 2 ? model.add(14, {h, x}) : model.add(14, {x, h});
  }
  model.add(16, {x, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.period, 3);
  EXPECT_EQ(solution.numRepeated, 3);
  EXPECT_EQ(opBlocks(model.graph, solution),
            (std::vector<int32_t>{0, 1, 1, 1, 2, 2, 2, 3, 3, 3,
                                  4, 4, 4, 5, 5, 5, 6, 6, 6, 7}));
}

TEST(BlockFinder, AlternatingLayersRepeatInPairs) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3), v = model.parameter(4);
  int32_t x = model.add(9, {w, tokens});
  for (int i = 0; i < 6; ++i)
    x = model.layer(x, w, v, i % 2 ? 12 : 22);
  model.add(16, {x, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 3);
  EXPECT_EQ(solution.period, 10);
}

TEST(BlockFinder, HoistedConesBelongToTheirFirstUse) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  std::vector<int32_t> weights, converted;
  for (int i = 0; i < 3; ++i)
    weights.push_back(model.parameter(3));
  int32_t mask = model.add(30, {});
  for (int32_t w : weights)
    converted.push_back(model.add(31, {w}));
  int32_t x = model.add(9, {weights[0], tokens});
  for (int32_t w : converted) {
    int32_t h = model.add(11, {x, w, mask});
    x = model.add(14, {x, h});
  }
  model.add(16, {x, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  ASSERT_EQ(solution.numRepeated, 3);
  EXPECT_EQ(solution.block[mask], 1);
  EXPECT_EQ(solution.block[converted[0]], 1);
  EXPECT_EQ(solution.block[converted[2]], 3);
}

TEST(BlockFinder, LayersThatAreWiredOtherwiseDoNotRepeat) {
  // The third layer takes its residual from the first: x1 instead of x2.
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3), v = model.parameter(4);
  int32_t x0 = model.add(9, {w, tokens});
  int32_t x1 = model.layer(x0, w, v);
  int32_t x2 = model.layer(x1, w, v);
  int32_t y = model.add(10, {x2});
  int32_t h = model.add(11, {y, w}, 400);
  int32_t g = model.add(12, {h}, 400);
  int32_t u = model.add(13, {g, v});
  int32_t x3 = model.add(14, {x1, u});
  model.add(16, {x3, tokens}, 4);
  BlockSolution solution = findBlocks(model.graph);
  EXPECT_EQ(solution.verify(model.graph), "");
  EXPECT_EQ(solution.numRepeated, 2);
  EXPECT_EQ(solution.block[x3], 3);
}

TEST(BlockFinder, RepetitionWithoutParametersIsNoLayer) {
  Model model;
  int32_t tokens = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(3);
  int32_t x = model.add(9, {w, tokens});
  for (int i = 0; i < 8; ++i)
    x = model.add(10, {x});
  EXPECT_EQ(findBlocks(model.graph).numRepeated, 0);
}

/// A chain of ops with these costs and bytes.
BlockGraph makeChain(const std::vector<int64_t> &costs,
                     const std::vector<int64_t> &bytes) {
  Model model;
  int32_t x = model.add(1, {}, 0, BlockGraph::Source::Input);
  int32_t w = model.parameter(2);
  for (size_t i = 0; i < costs.size(); ++i) {
    x = model.add(100 + i, {x, w}, bytes[i]);
    model.graph.nodes.back().cost = costs[i];
  }
  return model.graph;
}

TEST(BlockFinder, CutsWhereFewBytesCross) {
  // In balance after the eighth op; after the seventh half as many bytes
  // cross, for an eighth more work.
  BlockGraph graph = makeChain(
      {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
      {9, 9, 9, 9, 9, 9, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  BlockSolution solution = cutBlocks(graph, 2);
  EXPECT_EQ(solution.verify(graph), "");
  EXPECT_EQ(
      opBlocks(graph, solution),
      (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  // Two places off balance is too far, however few bytes cross.
  graph.nodes[2 + 6].bytes = 9;
  graph.nodes[2 + 5].bytes = 1;
  EXPECT_EQ(opBlocks(graph, cutBlocks(graph, 2))[6], 0);
}

TEST(BlockFinder, CutsAreTheBestOfAll) {
  std::mt19937 engine(5);
  auto pick = [&](int64_t n) { return int64_t(engine() % n); };
  for (int trial = 0; trial < 300; ++trial) {
    size_t size = 3 + pick(10);
    std::vector<int64_t> costs(size), bytes(size);
    for (size_t i = 0; i < size; ++i) {
      costs[i] = 8 * pick(20);
      bytes[i] = 1 + pick(50);
    }
    BlockGraph graph = makeChain(costs, bytes);
    // Every pair of cuts: three blocks.
    auto sum = [&](size_t from, size_t to) {
      int64_t total = 0;
      for (size_t i = from; i < to; ++i)
        total += costs[i];
      return total;
    };
    int64_t least = INT64_MAX, fewest = INT64_MAX;
    auto forEachCut = [&](auto visit) {
      for (size_t a = 1; a < size; ++a)
        for (size_t b = a + 1; b < size; ++b) {
          auto [low, high] = std::minmax({sum(0, a), sum(a, b), sum(b, size)});
          visit(low, high, bytes[a - 1] + bytes[b - 1]);
        }
    };
    forEachCut(
        [&](int64_t, int64_t high, int64_t) { least = std::min(least, high); });
    int64_t mean = sum(0, size) / 3;
    for (int64_t floor : {mean / 2, mean / 4, mean / 8, int64_t(0)})
      if (fewest == INT64_MAX)
        forEachCut([&](int64_t low, int64_t high, int64_t crossing) {
          if (high <= least + least / 8 && low >= floor)
            fewest = std::min(fewest, crossing);
        });
    BlockSolution solution = cutBlocks(graph, 3);
    ASSERT_EQ(solution.verify(graph), "");
    std::vector<int32_t> blocks = opBlocks(graph, solution);
    ASSERT_EQ(blocks.back(), 2);
    int64_t crossing = 0, work[3] = {};
    for (size_t i = 0; i < size; ++i) {
      work[blocks[i]] += costs[i];
      if (i + 1 < size && blocks[i] != blocks[i + 1])
        crossing += bytes[i];
    }
    EXPECT_EQ(crossing, fewest);
    EXPECT_LE(std::max({work[0], work[1], work[2]}), least + least / 8);
  }
}

TEST(BlockFinder, TooFewOpsAreNotCut) {
  BlockGraph graph = makeChain({1, 1}, {1, 1});
  EXPECT_EQ(cutBlocks(graph, 3).numCut, 0);
  EXPECT_EQ(cutBlocks(graph, 3).verify(graph), "");
  EXPECT_EQ(opBlocks(graph, cutBlocks(graph, 2)), (std::vector<int32_t>{0, 1}));
}

TEST(BlockFinder, EmptyGraph) {
  BlockGraph graph;
  BlockSolution solution = findBlocks(graph);
  EXPECT_EQ(solution.verify(graph), "");
  EXPECT_EQ(solution.numRepeated, 0);
}

TEST(BlockFinder, ChecksReportFaults) {
  Model model;
  model.residual(2);
  BlockSolution solution = findBlocks(model.graph);
  BlockGraph forward = model.graph;
  forward.nodes[3].operands = {5};
  EXPECT_EQ(forward.check(),
            "expected operands of node 3 to be earlier nodes, got 5");
  forward.nodes[3].operands = {3};
  EXPECT_EQ(forward.check(),
            "expected operands of node 3 to be earlier nodes, got 3");
  forward.nodes[3].operands = {-1};
  EXPECT_EQ(forward.check(),
            "expected operands of node 3 to be earlier nodes, got -1");
  forward.nodes[2].bytes = -1;
  EXPECT_EQ(forward.check(),
            "expected bytes of node 2 to be at least 0, got -1");
  solution.block.back() = 0;
  EXPECT_NE(solution.verify(model.graph).find("no earlier block"),
            std::string::npos);
}

TEST(BlockFinder, SolutionsWithFaultsAreNone) {
  Model model;
  model.residual(2);
  const BlockSolution solution = findBlocks(model.graph);
  ASSERT_EQ(solution.numRepeated, 2);
  auto verify = [&](auto change) {
    BlockSolution changed = solution;
    change(changed);
    return changed.verify(model.graph);
  };
  using S = BlockSolution;
  size_t size = model.graph.nodes.size();
  EXPECT_EQ(verify([](S &s) { s.block.pop_back(); }),
            "expected a block for each of " + std::to_string(size) +
                " nodes, got " + std::to_string(size - 1));
  // The prologue may hold what the first layer holds: then that is none.
  auto first = [](S &s) {
    for (int32_t &block : s.block)
      block = block == 1 ? 0 : block;
  };
  EXPECT_EQ(verify(first), "expected block 2 to have the ops of block 1");
  for (size_t i = 0; i < size; ++i) {
    bool isSource = model.graph.nodes[i].source != BlockGraph::Source::None;
    std::string error =
        "expected a block of node " + std::to_string(i) + " in 0 ... 3, got ";
    if (isSource)
      EXPECT_EQ(verify([&](S &s) { s.block[i] = 0; }), error + "0");
    else
      EXPECT_EQ(verify([&](S &s) { s.block[i] = -1; }), error + "-1");
    if (!isSource && i + 1 == size)
      EXPECT_EQ(verify([&](S &s) { s.block[i] = 4; }), error + "4");
  }
}

// Quadratic work would not end within the time limit of a test.
TEST(BlockFinder, FindsThousandsOfLayers) {
  Model model;
  model.residual(8000);
  EXPECT_EQ(findBlocks(model.graph).numRepeated, 8000);
}

} // namespace
