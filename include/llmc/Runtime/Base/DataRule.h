//===- DataRule.h - Where a sample lies in its source -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source of data is a file of rows: a token file has one token in a row, an
// array one sample. A sample is a window of rows, and where the window of
// sample number i begins is a pure function of (seed, i), so that a resumed
// run, any mesh and any number of microbatches see the same samples.
//
//   starts = rows - window + 1
//   tokens, shuffled   Philox(seed, "data")(i) mod starts
//   tokens, in order   (i mod (rows div window)) * window
//   array, shuffled    permutation(seed, i div starts)(i mod starts)
//   array, in order    i mod starts
//
// Test: test/Runtime/Base/DataRuleTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_DATARULE_H
#define LLMC_RUNTIME_BASE_DATARULE_H

#include "llmc/Runtime/Base/DType.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::rt {

/// The numbers are stored in plan files: append only.
enum class DataKind : uint8_t { tokens = 0, array = 1 };
inline constexpr int numDataKinds = 2;

/// "tokens", "array".
std::string_view nameOf(DataKind kind);

/// What a source is, whichever file it is read from.
struct DataRule {
  DataKind kind = DataKind::tokens;
  /// Of tokens in a raw file; other files say their own.
  DType dtype = DType::u16;
  /// Samples in an order that the seed decides, or as they lie in the file.
  bool shuffle = true;
  /// The array in a file of several.
  std::string tensor;
};

inline bool operator==(const DataRule &a, const DataRule &b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.shuffle == b.shuffle &&
         a.tensor == b.tensor;
}

/// The first row of sample `index`. Assumes 0 < window <= rows.
int64_t findSample(const DataRule &rule, uint64_t seed, uint64_t index,
                   int64_t rows, int64_t window);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_DATARULE_H
