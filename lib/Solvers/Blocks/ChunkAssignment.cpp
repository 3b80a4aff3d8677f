//===- ChunkAssignment.cpp - Which blocks form a chunk --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Solvers/Blocks/ChunkAssignmentTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Blocks/ChunkAssignment.h"
#include <limits>
#include <vector>

using namespace llmc;

std::vector<int64_t> llmc::assignChunks(const std::vector<int64_t> &costs,
                                        int64_t numChunks) {
  auto n = static_cast<int64_t>(costs.size());
  if (numChunks < 1 || n < numChunks)
    return {};
  std::vector<int64_t> sum(n + 1, 0);
  for (int64_t i = 0; i < n; ++i)
    sum[i + 1] = sum[i] + costs[i];
  // best[k][i]: least possible maximum of k chunks over the first i blocks.
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  std::vector<std::vector<int64_t>> best(numChunks + 1,
                                         std::vector<int64_t>(n + 1, none));
  std::vector<std::vector<int64_t>> cut = best;
  best[0][0] = 0;
  for (int64_t k = 1; k <= numChunks; ++k)
    for (int64_t i = k; i <= n; ++i)
      for (int64_t j = k - 1; j < i; ++j) {
        if (best[k - 1][j] == none)
          continue;
        int64_t most = std::max(best[k - 1][j], sum[i] - sum[j]);
        if (most < best[k][i]) {
          best[k][i] = most;
          cut[k][i] = j;
        }
      }
  std::vector<int64_t> chunks(n, 0);
  for (int64_t k = numChunks, end = n; k > 0; --k) {
    for (int64_t i = cut[k][end]; i < end; ++i)
      chunks[i] = k - 1;
    end = cut[k][end];
  }
  return chunks;
}
