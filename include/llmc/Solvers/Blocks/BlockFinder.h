//===- BlockFinder.h - Repeated segments of a forward graph -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the layers of a model: stretches of the forward graph that consist of
// equal segments, one after the other. First the longest, then those before and
// after it, as the encoder of a decoder.
//
//   embed | ln attn add ln mlp add | ln attn add ln mlp add | ln head loss
//   0       1                        2                        3
//
// What a layer takes from the one before it, the first one takes from anywhere:
// the sum of a loss that each layer adds to begins with a constant.
//
// Problem and solution are plain data. What depends on inputs *and* parameters
// is the spine, in program order; a block is a stretch of it. What depends on
// parameters, inputs or constants alone (a bias that is broadcast, a mask, a
// converted weight) may stand anywhere in the text, and belongs to the first
// block that uses it. Where a first layer takes an input as it is, ops that the
// others have on their spine depend on the input alone there: so inputs, and
// what depends on them alone, are of the spine where more layers are equal
// then.
//
// Test: test/Solvers/Blocks/BlockFinderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_BLOCKS_BLOCKFINDER_H
#define LLMC_SOLVERS_BLOCKS_BLOCKFINDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct BlockGraph {
  /// None: an op. Other: a source that is neither parameter nor input.
  enum class Source : uint8_t { None, Parameter, Input, Other };

  struct Node {
    /// Equal for ops that compute the same from equal operands: name,
    /// attributes, result types. A source's type; a constant's type alone, so
    /// that layers may differ in their constants.
    uint64_t signature = 0;
    /// Earlier nodes.
    std::vector<int32_t> operands;
    /// Size of all results.
    int64_t bytes = 0;
    Source source = Source::None;
    /// Work of the op, for balance.
    int64_t cost = 0;
  };

  /// Sources and ops in program order.
  std::vector<Node> nodes;

  /// The first fault of the problem, or an empty string.
  std::string check() const;
};

/// Equal segments one after the other.
struct RepeatedBlocks {
  /// Block of the first of them, and their number, at least 2.
  int32_t first = 0, count = 0;
};

struct BlockSolution {
  /// Block of each node: 0 prologue, 1 ... n the first repeated blocks, n + 1
  /// what stands after them, and so on to the epilogue; 0 ... numCut - 1 where
  /// the graph was cut; else all 0. -1 for sources.
  std::vector<int32_t> block;
  /// In program order.
  std::vector<RepeatedBlocks> repeated;
  /// Number of the equal segments that cover most: 0 or at least 2.
  int32_t numRepeated = 0;
  /// Ops of the spine in one segment.
  int32_t period = 0;
  /// Number of blocks of a graph that was cut.
  int32_t numCut = 0;
  /// Inputs, and what depends on inputs alone, are of the spine.
  bool hasInputs = false;

  int32_t getLastBlock() const {
    return !repeated.empty() ? repeated.back().first + repeated.back().count
           : numCut          ? numCut - 1
                             : 0;
  }

  /// The first fault of the solution, or an empty string: every node has a
  /// block, no value is used in an earlier block than its own, and repeated
  /// blocks have spines of equal signatures.
  std::string verify(const BlockGraph &graph) const;
};

/// The segments that cover most of the spine; among equals the shortest, cut
/// where the fewest bytes cross. A segment contains an op that takes a
/// parameter. Then the same of the spine before and after them, where a segment
/// has at least half as many ops. Time is n log n in the size of the graph, for
/// each of these.
BlockSolution findBlocks(const BlockGraph &graph);

/// Cuts the spine into `numBlocks` stretches where the fewest bytes cross,
/// among the cuts whose dearest stretch costs at most an eighth more than it
/// must, and whose cheapest costs half, a quarter or an eighth of the mean if
/// it can; one block where the spine has too few ops. Time is
/// n * (numBlocks + log n).
BlockSolution cutBlocks(const BlockGraph &graph, int32_t numBlocks);

} // namespace llmc

#endif // LLMC_SOLVERS_BLOCKS_BLOCKFINDER_H
