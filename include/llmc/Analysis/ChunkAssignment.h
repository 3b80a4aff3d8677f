//===- ChunkAssignment.h - Which blocks form a chunk ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consecutive blocks form a chunk; the dearest chunk is made as cheap as it can
// be (linear partition by dynamic programming, O(blocks^2 * chunks)).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_CHUNKASSIGNMENT_H
#define LLMC_ANALYSIS_CHUNKASSIGNMENT_H

#include "llmc/Support/LLVM.h"

namespace llmc {

/// The chunk of each block: ascending from 0, every chunk with one block at
/// least. Empty when there are fewer blocks than chunks.
SmallVector<int64_t> assignChunks(ArrayRef<int64_t> costs, int64_t numChunks);

} // namespace llmc

#endif // LLMC_ANALYSIS_CHUNKASSIGNMENT_H
