//===- RaggedCollective.cpp - Collectives of counted rows -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counts of all members lie in this process, and are there once all stand
// at the collective. So they are compared before anything moves. What they say
// stands in RowCounts.h. Tested by test/Runtime/Comm/RaggedConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "RaggedCollective.h"

#include "llmc/Runtime/Comm/RowCounts.h"

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

/// Calls `visit` with each slice of outer index `outer` that has rows, by
/// sender. Where one without rows begins may be any number.
template <typename Visit>
static void forSlices(const Members &members, int64_t outer,
                      const Visit &visit) {
  forRowSlices(
      members.collective, members.group.size(), outer,
      [&](int rank) { return members.counts(rank); },
      [&](const RowSlice &slice) {
        if (slice.count > 0) {
          visit(slice);
        }
      });
}

Status checkCounts(const Group &group) {
  Members members = membersOf(group);
  if (!traitsOf(members.collective.kind).takesCounts) {
    return Status::success();
  }
  return checkRowCounts(
      members.collective,
      group.standing[group.local.front()]->front().origin->name, group.members,
      [&](int rank) { return members.counts(rank); });
}

uint64_t raggedBytes(const Members &members) {
  uint64_t rows = rowsBetween(members.collective, members.group.size(),
                              [&](int rank) { return members.counts(rank); });
  return rows * members.collective.rows.elements * members.elementBytes;
}

std::vector<RowRun> rowRuns(const Members &members) {
  const CollectiveRows &rows = members.collective.rows;
  int64_t bytes = static_cast<int64_t>(rows.elements) * members.elementBytes;
  std::vector<RowRun> runs;
  auto outer = static_cast<int64_t>(members.collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    forSlices(members, o, [&](const RowSlice &slice) {
      int64_t row = o * static_cast<int64_t>(rows.in) + slice.first;
      runs.push_back({slice.from, slice.to, row * bytes, slice.count * bytes});
    });
  }
  return runs;
}

void moveRows(const Members &members, Range range) {
  const CollectiveRows &rows = members.collective.rows;
  auto elements = static_cast<int64_t>(rows.elements);
  int64_t bytes = members.elementBytes;
  for (int to = 0; to < members.group.size(); ++to) {
    if (char *out = members.out(to, 0)) {
      std::memset(out + range.begin * bytes, 0,
                  (range.end - range.begin) * bytes);
    }
  }
  auto outer = static_cast<int64_t>(members.collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    forSlices(members, o, [&](const RowSlice &slice) {
      int64_t row = o * static_cast<int64_t>(rows.out) + slice.target;
      int64_t source = o * static_cast<int64_t>(rows.in) + slice.first;
      int64_t begin = std::max(row * elements, range.begin);
      int64_t end = std::min((row + slice.count) * elements, range.end);
      if (begin < end && members.out(slice.to, 0)) {
        std::memcpy(members.out(slice.to, 0) + begin * bytes,
                    members.in(slice.from, 0) +
                        (source * elements + begin - row * elements) * bytes,
                    (end - begin) * bytes);
      }
    });
  }
}

} // namespace llmc::rt::cpu
