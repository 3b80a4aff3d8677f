//===- ReductionCut.cpp - In which order reductions add up ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReductionCut.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reduction/ReductionCut.h"

#include <cmath>

namespace llmc {

/// Threads that read a row side by side, and bytes that one reads at a time.
constexpr int64_t rowThreads = 32, accessBytes = 16;
/// A row is long when each thread reads so often.
constexpr int64_t leastAccesses = 4;

int64_t getRowAccumulators(int64_t length, int64_t elementBytes) {
  int64_t wide = rowThreads * accessBytes / elementBytes;
  return length >= leastAccesses * wide ? wide : rowThreads;
}

/// Parts as long as they are many, times this or by this.
constexpr int64_t mostApart = 16;

RowCut cutRows(int64_t rows, const std::vector<int64_t> &sizes) {
  int64_t length = 1;
  for (int64_t size : sizes)
    length *= size;
  if (length <= longestRow || rows > mostCutRows)
    return {};
  int64_t part = 1;
  for (size_t dims = 1; dims < sizes.size(); ++dims) {
    part *= sizes[sizes.size() - dims];
    int64_t parts = length / part;
    if (part <= parts * mostApart && parts <= part * mostApart)
      return {part, dims};
  }
  auto parts = static_cast<int64_t>(std::sqrt(static_cast<double>(length)));
  while (length % parts)
    --parts;
  return parts < mostApart ? RowCut() : RowCut{length / parts, 0};
}

int64_t getColumnLevels(int64_t length) {
  int64_t levels = 0;
  for (int64_t blocks = length; blocks > columnCut; ++levels)
    blocks = (blocks + columnCut - 1) / columnCut;
  return levels;
}

} // namespace llmc
