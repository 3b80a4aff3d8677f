//===- ChunkAssignmentTest.cpp - Which blocks form a chunk ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assignments against all ways to cut a row of blocks.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Blocks/ChunkAssignment.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

using namespace llmc;

namespace {

/// The cost of the dearest chunk.
int64_t getMost(const std::vector<int64_t> &costs,
                const std::vector<int64_t> &chunks) {
  std::vector<int64_t> sums(costs.size(), 0);
  for (size_t i = 0; i < costs.size(); ++i)
    sums[chunks[i]] += costs[i];
  return *std::max_element(sums.begin(), sums.end());
}

/// The least such cost over all sets of cuts; bit i cuts after block i.
int64_t getLeast(const std::vector<int64_t> &costs, int64_t numChunks) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (uint32_t cuts = 0; cuts < 1u << (costs.size() - 1); ++cuts) {
    std::vector<int64_t> chunks(costs.size(), 0);
    for (size_t i = 1; i < costs.size(); ++i)
      chunks[i] = chunks[i - 1] + ((cuts >> (i - 1)) & 1);
    if (chunks.back() + 1 == numChunks)
      least = std::min(least, getMost(costs, chunks));
  }
  return least;
}

TEST(ChunkAssignment, IsAsGoodAsTheBestCut) {
  std::mt19937 engine(11);
  for (int i = 0; i < 300; ++i) {
    size_t numBlocks = 1 + i % 10;
    std::vector<int64_t> costs;
    for (size_t b = 0; b < numBlocks; ++b)
      costs.push_back(engine() % (i % 3 ? 20 : 2));
    for (int64_t numChunks = 1; numChunks <= int64_t(numBlocks); ++numChunks) {
      std::vector<int64_t> chunks = assignChunks(costs, numChunks);
      ASSERT_EQ(chunks.size(), numBlocks);
      EXPECT_EQ(chunks.front(), 0);
      EXPECT_EQ(chunks.back(), numChunks - 1);
      for (size_t b = 1; b < numBlocks; ++b)
        EXPECT_TRUE(chunks[b] == chunks[b - 1] ||
                    chunks[b] == chunks[b - 1] + 1);
      EXPECT_EQ(getMost(costs, chunks), getLeast(costs, numChunks));
    }
  }
}

TEST(ChunkAssignment, NothingForTooFewBlocks) {
  EXPECT_TRUE(assignChunks({3, 4}, 3).empty());
  EXPECT_TRUE(assignChunks({}, 1).empty());
  EXPECT_TRUE(assignChunks({3, 4}, 0).empty());
}

TEST(ChunkAssignment, ADearBlockStandsAlone) {
  EXPECT_EQ(assignChunks({1, 1, 9, 1, 1}, 3),
            (std::vector<int64_t>{0, 0, 1, 2, 2}));
}

} // namespace
