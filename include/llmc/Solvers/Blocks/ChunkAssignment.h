//===- ChunkAssignment.h - Which blocks form a chunk ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consecutive blocks form a chunk; the dearest chunk is made as cheap as it can
// be (linear partition by dynamic programming, O(blocks^2 * chunks)).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_BLOCKS_CHUNKASSIGNMENT_H
#define LLMC_SOLVERS_BLOCKS_CHUNKASSIGNMENT_H

#include <cstdint>
#include <vector>

namespace llmc {

/// The chunk of each block: ascending from 0, every chunk with one block at
/// least. Empty when there are fewer blocks than chunks.
std::vector<int64_t> assignChunks(const std::vector<int64_t> &costs,
                                  int64_t numChunks);

} // namespace llmc

#endif // LLMC_SOLVERS_BLOCKS_CHUNKASSIGNMENT_H
