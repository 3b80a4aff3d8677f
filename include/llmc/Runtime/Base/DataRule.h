//===- DataRule.h - Where a sample lies in its source -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source of data is files of rows: a file of tokens has one token in a row,
// an array one sample. A sample is a window of rows, and where the window of
// sample number i begins is a pure function of (seed, i) (SampleOrder.h), so
// that a resumed run, any mesh and any number of microbatches see the same
// samples.
//
// Test: test/Runtime/Base/DataRuleTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_DATARULE_H
#define LLMC_RUNTIME_BASE_DATARULE_H

#include "llmc/Runtime/Base/DType.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

/// The numbers are stored in plan files: append only.
enum class DataKind : uint8_t { tokens = 0, array = 1, text = 2 };
inline constexpr int numDataKinds = 3;

/// "tokens", "array", "text".
std::string_view nameOf(DataKind kind);
/// Whether a row is a token: of tokens, and of text, whose bytes are tokens.
inline bool isTokens(DataKind kind) { return kind != DataKind::array; }

/// What a source is, whichever files it is read from.
struct DataRule {
  DataKind kind = DataKind::tokens;
  /// Of tokens in a raw file; other files say their own.
  DType dtype = DType::u16;
  /// Samples in an order that the seed decides, or as they lie in the files.
  bool shuffle = true;
  /// The array in a file of several.
  std::string tensor = {};
  /// Of tokens that are shuffled: an epoch has each of the windows that lie
  /// side by side once; else windows are drawn, and may overlap.
  bool once = false;
  /// The share that training leaves out, in [0, 1).
  double heldOut = 0;
  /// Samples of each part out of as many as all of these together, at least 1
  /// each; empty: there is one part.
  std::vector<int64_t> weights = {};
  /// Floats that are NaN or infinite are refused.
  bool finite = true;
};

bool operator==(const DataRule &a, const DataRule &b);

/// What is wrong with the numbers of a rule, from wherever it was read; "" for
/// nothing. Sums and products of sound ones do not overflow.
std::string_view faultOf(const DataRule &rule);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_DATARULE_H
