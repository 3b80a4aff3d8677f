//===- InFlight.h - How many are open at once -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A microbatch is in flight from the first to the last thing that a stage does
// for it. How many are in flight at once says how many slots activations need:
// the schedule's property, the size of frames, the loader's check and what the
// user reads are this one count.
//
//   F0 F1 . B0 F2 B1 . B2      0: [0, 3], 1: [1, 5], 2: [4, 7]; most: 2
//
// Test: test/Runtime/Base/InFlightTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_INFLIGHT_H
#define LLMC_RUNTIME_BASE_INFLIGHT_H

#include <algorithm>
#include <cstdint>
#include <map>

namespace llmc::rt {

/// Spans of time of keys that can be ordered: microbatches, or pairs of chunk
/// and microbatch.
template <class Key> class InFlight {
public:
  /// Something is done for `key` at this time.
  void touch(const Key &key, int64_t at) {
    auto [span, isNew] = spans_.insert({key, {at, at}});
    span->second.first = std::min(span->second.first, at);
    span->second.second = std::max(span->second.second, at);
  }

  /// The greatest number of keys that are open at one time; a key is open from
  /// its first to its last time, both included.
  int64_t most() const {
    std::map<int64_t, int64_t> change;
    for (const auto &[key, span] : spans_) {
      ++change[span.first];
      --change[span.second + 1];
    }
    int64_t open = 0, most = 0;
    for (const auto &[at, delta] : change) {
      most = std::max(most, open += delta);
    }
    return most;
  }

private:
  std::map<Key, std::pair<int64_t, int64_t>> spans_;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_INFLIGHT_H
