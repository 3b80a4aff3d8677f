//===- Places.h - Offsets for buffers of known lifetimes --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each buffer has a size and an interval of time; buffers whose intervals meet
// must not share bytes. (Dynamic storage allocation, NP-hard; no solution is
// smaller than the greatest number of bytes that live at once.)
//
//   bytes                A |####|      |
//     ^                    |  B |######|        A and C share bytes
//     +---> time           |    |  C   |
//
// Test: test/Solvers/Memory/PlacesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_MEMORY_PLACES_H
#define LLMC_SOLVERS_MEMORY_PLACES_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct PlaceProblem {
  struct Buffer {
    int64_t bytes = 0;
    /// [begin, end): empty when nothing touches it.
    int64_t begin = 0;
    int64_t end = 0;
  };
  std::vector<Buffer> buffers;
  /// Of offsets; counted as live with each buffer.
  int64_t alignment = 64;

  std::string check() const;
  /// Empty when offsets are aligned and buffers that live at once are apart.
  std::string verify(const std::vector<int64_t> &offsets) const;
  /// The greatest number of (rounded up) bytes that live at once.
  int64_t getMaxLive() const;
  /// The end of the last buffer, rounded up.
  int64_t getSize(const std::vector<int64_t> &offsets) const;
};

/// Best fit in several orders (largest first, by start, by bytes x time), then
/// local search by moving the buffers that reach the top to the front, with a
/// bounded number of tries. Stops at the lower bound. Deterministic. Where more
/// pairs live at once than that can look at, best fit by start alone, in
/// n log n.
std::vector<int64_t> assignPlaces(const PlaceProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_MEMORY_PLACES_H
