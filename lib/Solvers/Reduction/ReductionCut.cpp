//===- ReductionCut.cpp - In which order reductions add up ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReductionCut.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reduction/ReductionCut.h"

namespace llmc {

/// Threads that read a row side by side, and bytes that one reads at a time.
constexpr int64_t rowThreads = 32, accessBytes = 16;
/// A row is long when each thread reads so often.
constexpr int64_t leastAccesses = 4;

int64_t getRowAccumulators(int64_t length, int64_t elementBytes) {
  int64_t wide = rowThreads * accessBytes / elementBytes;
  return length >= leastAccesses * wide ? wide : rowThreads;
}

int64_t getColumnLevels(int64_t length) {
  int64_t levels = 0;
  for (int64_t blocks = length; blocks > columnCut; ++levels)
    blocks = (blocks + columnCut - 1) / columnCut;
  return levels;
}

} // namespace llmc
