//===- SampleOrder.h - Which sample comes when ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples of a source, and the one that has number i, as a pure function of
// (rule, rows of the files, seed, i). Nothing grows with the number of samples.
//
//   of files of tokens, no window crosses the end of a file:
//     drawn      start Philox(seed, "data")(i) mod starts of all files
//     once       window permutation(seed, i div n)(i mod n) of n side by side
//     in order   window i mod n
//   of an array, whose files are one after the other, S = rows - window + 1:
//     shuffled   start permutation(seed, i div S)(i mod S)
//     in order   start i mod S
//
// With weights w of parts, W their sum, each W samples have w[p] of part p, in
// an order that the seed decides; within a part the above holds, where i counts
// the samples of the part.
//
// What is held out: of each file of tokens the last ceil(share * rows) rows; of
// an array that is shuffled, rows that a fixed permutation picks, whatever the
// seed; of one in order, or where a sample has several rows, the last starts.
// No window of training has a row of what is held out, which is read in order.
//
// Test: test/Runtime/Base/SampleOrderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_SAMPLEORDER_H
#define LLMC_RUNTIME_BASE_SAMPLEORDER_H

#include "llmc/Runtime/Base/DataRule.h"

#include <cstddef>
#include <optional>

namespace llmc::rt {

enum class Split : uint8_t { training, heldOut };

/// The first row of a sample in its file.
struct SamplePlace {
  size_t part = 0, file = 0;
  int64_t row = 0;
};

/// The rows of each file of each part.
using RowsOfFiles = std::vector<std::vector<int64_t>>;

class SampleOrder {
public:
  /// Samples of `window` rows; `widest` is the longest window of the arrays
  /// that are read together. Assumes 0 < window <= widest.
  SampleOrder(const DataRule &rule, const RowsOfFiles &rows, int64_t window,
              int64_t widest, Split split);

  /// A part, or of tokens for training a file, that has no sample at all.
  std::optional<SamplePlace> findEmpty() const { return empty; }
  /// Different samples of the part.
  int64_t distinct(size_t part) const { return parts[part].starts; }
  /// In an epoch, of all parts: all that are different, or of tokens as many as
  /// lie side by side.
  int64_t epoch() const { return epochSamples; }
  /// Sample number `index`. Assumes that there is no empty part.
  SamplePlace find(uint64_t seed, uint64_t index) const;

private:
  struct Part {
    /// Of each file: its first row that counts, and the starts of all files up
    /// to it; those of an array begin in the part.
    std::vector<int64_t> firsts, ends;
    int64_t starts = 0;
    /// Of an array: its starts with those of the other split, and its files'
    /// rows up to each.
    int64_t all = 0;
    std::vector<int64_t> rowEnds;
  };
  enum class Pick : uint8_t { drawn, permuted, inOrder };

  void addTokens(Part &part, const std::vector<int64_t> &rows, Split split);
  void addArray(Part &part, const std::vector<int64_t> &rows, Split split);
  SamplePlace placeOfTokens(const Part &part, int64_t start) const;
  SamplePlace placeOfRow(const Part &part, int64_t start) const;

  DataRule rule;
  int64_t window, widest;
  Pick pick;
  /// Rows of an array that are held out lie anywhere.
  bool isScattered;
  Split split;
  std::vector<Part> parts;
  int64_t epochSamples = 0;
  uint64_t turns = 0; ///< The sum of the weights, or 0.
  std::optional<SamplePlace> empty;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_SAMPLEORDER_H
