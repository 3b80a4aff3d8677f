//===- RowCounts.h - What members say of rows that the run counts ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of a collective that takes counts send each other slices of rows. For
// each outer index a member has four lists of `slices` numbers of 64 bits:
//
//   first   row that is sent              count   rows
//   target  row where they lie            expect  rows that come in
//
// With n members and s slices to each, entries i s to i s + s - 1 are of slices
// that go to member i, or come from it. So what one sends can be compared with
// what the other expects, where all lists are known, before anything moves.
// Tested by test/Runtime/Comm/RaggedConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_ROWCOUNTS_H
#define LLMC_RUNTIME_COMM_ROWCOUNTS_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Comm/Communicator.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmc::rt {

constexpr int64_t numRowLists = 4;

/// What one member sends to one place of another.
struct RowSlice {
  int from = 0, to = 0;
  int64_t number = 0; ///< In the sender's lists.
  int64_t first = 0, count = 0, target = 0, expected = 0;
};

/// Numbers in the lists of one member.
inline uint64_t numRowCounts(const Collective &collective) {
  return collective.buffers[0].outer * numRowLists * collective.rows.slices;
}

/// Calls `visit` with each slice of outer index `outer`, by sender, then by
/// number. `lists(rank)` has the lists of a member of `size`.
template <typename Lists, typename Visit>
void forRowSlices(const Collective &collective, int size, int64_t outer,
                  const Lists &lists, const Visit &visit) {
  auto slices = static_cast<int64_t>(collective.rows.slices);
  int64_t each = slices / size, at = outer * numRowLists * slices;
  for (int from = 0; from < size; ++from) {
    const int64_t *own = lists(from) + at;
    for (int64_t i = 0; i < slices; ++i) {
      int to = static_cast<int>(i / each);
      const int64_t *other = lists(to) + at;
      visit(RowSlice{from, to, i, own[i], own[slices + i], own[2 * slices + i],
                     other[3 * slices + from * each + i % each]});
    }
  }
}

using RowLists = std::function<const int64_t *(int rank)>;

/// Error (15) where a slice does not lie in the rows of both sides, is not what
/// the receiver expects, or has a row in common with another that its receiver
/// gets. It has the name of the entry and two of `members`, by rank.
Status checkRowCounts(const Collective &collective, const std::string &name,
                      const std::vector<int> &members, const RowLists &lists);

/// Rows that go from members to others, all together.
uint64_t rowsBetween(const Collective &collective, int size,
                     const RowLists &lists);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_ROWCOUNTS_H
