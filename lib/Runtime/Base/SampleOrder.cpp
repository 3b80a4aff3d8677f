//===- SampleOrder.cpp - Which sample comes when --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/SampleOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/SampleOrder.h"

#include "llmc/Runtime/Base/Random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmc::rt {

/// Of the permutation that says which rows are held out: no seed of a run.
constexpr uint64_t splitSeed = 0x6c6c6d63;

/// Rounded up: a share that is not 0 holds something out.
static int64_t heldOutOf(const DataRule &rule, int64_t count) {
  double held = std::ceil(rule.heldOut * static_cast<double>(count));
  return std::min(static_cast<int64_t>(held), count);
}

SampleOrder::SampleOrder(const DataRule &source, const RowsOfFiles &rows,
                         int64_t window, int64_t widest, Split split)
    : rule(source), window(window), widest(widest), split(split) {
  isScattered = rule.shuffle && widest == 1;
  bool isDrawn = isTokens(rule.kind) && !rule.once;
  pick = !rule.shuffle || split == Split::heldOut ? Pick::inOrder
         : isDrawn                                ? Pick::drawn
                                                  : Pick::permuted;
  for (const std::vector<int64_t> &files : rows) {
    Part &part = parts.emplace_back();
    isTokens(rule.kind) ? addTokens(part, files, split)
                        : addArray(part, files, split);
    if (part.starts == 0 && !empty) {
      empty = SamplePlace{parts.size() - 1, 0, 0};
    }
  }
  turns = std::accumulate(rule.weights.begin(), rule.weights.end(), turns);
}

void SampleOrder::addTokens(Part &part, const std::vector<int64_t> &rows,
                            Split split) {
  for (size_t f = 0; f < rows.size(); ++f) {
    int64_t held = heldOutOf(rule, rows[f]);
    bool isHeld = split == Split::heldOut;
    int64_t length = isHeld ? held : rows[f] - held;
    int64_t aside = length / window;
    int64_t starts =
        pick == Pick::drawn ? std::max<int64_t>(0, length - window + 1) : aside;
    part.firsts.push_back(isHeld ? rows[f] - held : 0);
    part.starts += starts;
    part.ends.push_back(part.starts);
    epochSamples += aside;
    if (starts == 0 && !isHeld && !empty) {
      empty = SamplePlace{parts.size() - 1, f, 0};
    }
  }
}

void SampleOrder::addArray(Part &part, const std::vector<int64_t> &rows,
                           Split split) {
  int64_t count = 0;
  for (int64_t each : rows) {
    part.rowEnds.push_back(count += each);
  }
  part.all = std::max<int64_t>(0, count - window + 1);
  int64_t held = heldOutOf(rule, part.all);
  // The windows of training end before the first start that is held out.
  int64_t gap = held > 0 ? widest - 1 : 0;
  part.starts = split == Split::heldOut
                    ? held
                    : std::max<int64_t>(0, part.all - held - gap);
  epochSamples += part.starts;
}

SamplePlace SampleOrder::placeOfTokens(const Part &part, int64_t start) const {
  auto end = std::upper_bound(part.ends.begin(), part.ends.end(), start);
  auto file = static_cast<size_t>(end - part.ends.begin());
  int64_t inFile = start - (file ? part.ends[file - 1] : 0);
  int64_t step = pick == Pick::drawn ? 1 : window;
  return {static_cast<size_t>(&part - parts.data()), file,
          part.firsts[file] + inFile * step};
}

SamplePlace SampleOrder::placeOfRow(const Part &part, int64_t start) const {
  int64_t row =
      split == Split::heldOut ? part.all - part.starts + start : start;
  if (isScattered && rule.heldOut > 0) {
    row = static_cast<int64_t>(permute(static_cast<uint64_t>(row),
                                       static_cast<uint64_t>(part.all),
                                       splitSeed, 0));
  }
  auto end = std::upper_bound(part.rowEnds.begin(), part.rowEnds.end(), row);
  auto file = static_cast<size_t>(end - part.rowEnds.begin());
  return {static_cast<size_t>(&part - parts.data()), file,
          row - (file ? part.rowEnds[file - 1] : 0)};
}

SamplePlace SampleOrder::find(uint64_t seed, uint64_t index) const {
  uint64_t number = index;
  size_t which = 0;
  if (turns > 0) {
    // Another key than that of the permutations within a part.
    uint64_t round = index / turns;
    uint64_t turn = permute(index % turns, turns, ~seed, round);
    while (turn >= static_cast<uint64_t>(rule.weights[which])) {
      turn -= static_cast<uint64_t>(rule.weights[which++]);
    }
    number = round * static_cast<uint64_t>(rule.weights[which]) + turn;
  }
  const Part &part = parts[which];
  auto starts = static_cast<uint64_t>(part.starts);
  uint64_t start = number % starts;
  if (pick == Pick::drawn) {
    start = RandomStream(seed, "data").bits(index) % starts;
  } else if (pick == Pick::permuted) {
    start = permute(number % starts, starts, seed, number / starts);
  }
  return isTokens(rule.kind) ? placeOfTokens(part, static_cast<int64_t>(start))
                             : placeOfRow(part, static_cast<int64_t>(start));
}

} // namespace llmc::rt
