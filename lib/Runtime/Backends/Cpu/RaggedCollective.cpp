//===- RaggedCollective.cpp - Collectives of counted rows -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counts of all members lie in this process, and are there once all stand
// at the collective. So they are compared before anything moves: what one sends
// is what the other expects, and no slice leaves its buffer.
//
//   counts of a member, for each outer index   first  [n s]   row that is sent
//                                              count  [n s]   rows
//                                              target [n s]   row where they
//                                              lie expect [n s]   rows that
//                                              come in
//
// Slices i s to i s + s - 1 go to member i, or come from it. Tested by
// test/Runtime/Comm/RaggedConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "RaggedCollective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

namespace {

/// What one member sends to one place.
struct Slice {
  int from = 0, to = 0;
  int64_t number = 0; ///< In the sender's lists.
  int64_t first = 0, count = 0, target = 0, expected = 0;
};

/// Calls `visit` with each slice of outer index `outer`, by sender.
template <typename Visit>
void forSlices(const Members &members, int64_t outer, Visit visit) {
  int n = members.group.size();
  auto slices = static_cast<int64_t>(members.collective.rows.slices);
  int64_t each = slices / n;
  constexpr int64_t numLists = 4;
  for (int from = 0; from < n; ++from) {
    const int64_t *lists = members.counts(from) + outer * numLists * slices;
    for (int64_t i = 0; i < slices; ++i) {
      int to = static_cast<int>(i / each);
      const int64_t *other = members.counts(to) + outer * numLists * slices;
      int64_t expected = other[3 * slices + from * each + i % each];
      visit(Slice{from, to, i, lists[i], lists[slices + i],
                  lists[2 * slices + i], expected});
    }
  }
}

Status wrongCounts(const Group &group, const Slice &slice, std::string what) {
  return makeError(
      ErrorKind::mismatch,
      fmt::format("{} in '{}', slice {} from device {} to device {}", what,
                  group.standing[group.local.front()]->front().origin->name,
                  slice.number, group.members[slice.from],
                  group.members[slice.to]));
}

/// Whether `count` rows from `first` on lie in `rows`.
bool liesIn(int64_t first, int64_t count, uint64_t rows) {
  auto all = static_cast<int64_t>(rows);
  return count >= 0 && count <= all && first >= 0 && first <= all - count;
}

Status checkSlice(const Members &members, const Slice &slice) {
  const CollectiveRows &rows = members.collective.rows;
  if (slice.count != slice.expected) {
    return wrongCounts(members.group, slice,
                       fmt::format("expected {} rows as the receiver does, "
                                   "got {} that are sent",
                                   slice.expected, slice.count));
  }
  if (slice.count == 0) {
    return Status::success();
  }
  if (!liesIn(slice.first, slice.count, rows.in)) {
    return wrongCounts(members.group, slice,
                       fmt::format("expected rows of the {} of the sender, got "
                                   "{} from row {} on",
                                   rows.in, slice.count, slice.first));
  }
  if (!liesIn(slice.target, slice.count, rows.out)) {
    return wrongCounts(members.group, slice,
                       fmt::format("expected room in the {} rows of the "
                                   "receiver, got {} rows for row {} on",
                                   rows.out, slice.count, slice.target));
  }
  return Status::success();
}

/// No two slices that one member gets have a row in common.
Status checkApart(const Group &group, std::vector<Slice> slices) {
  std::sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) {
    return std::tie(a.to, a.target) < std::tie(b.to, b.target);
  });
  for (size_t i = 1; i < slices.size(); ++i) {
    const Slice &before = slices[i - 1], &slice = slices[i];
    if (before.to == slice.to && before.target + before.count > slice.target) {
      return wrongCounts(group, slice,
                         fmt::format("expected rows that no other slice fills, "
                                     "got row {} twice",
                                     slice.target));
    }
  }
  return Status::success();
}

} // namespace

Status checkCounts(const Group &group) {
  Members members = membersOf(group);
  if (!traitsOf(members.collective.kind).takesCounts) {
    return Status::success();
  }
  auto outer = static_cast<int64_t>(members.collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    Status status;
    std::vector<Slice> filled;
    forSlices(members, o, [&](const Slice &slice) {
      if (status.ok()) {
        status = checkSlice(members, slice);
      }
      if (slice.count > 0) {
        filled.push_back(slice);
      }
    });
    LLMC_TRY(status);
    LLMC_TRY(checkApart(group, std::move(filled)));
  }
  return Status::success();
}

uint64_t raggedBytes(const Members &members) {
  uint64_t rows = 0;
  auto outer = static_cast<int64_t>(members.collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    forSlices(members, o, [&](const Slice &slice) {
      rows += slice.from != slice.to ? slice.count : 0;
    });
  }
  return rows * members.collective.rows.elements * members.elementBytes;
}

std::vector<RowRun> rowRuns(const Members &members) {
  const CollectiveRows &rows = members.collective.rows;
  int64_t bytes = static_cast<int64_t>(rows.elements) * members.elementBytes;
  std::vector<RowRun> runs;
  auto outer = static_cast<int64_t>(members.collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    forSlices(members, o, [&](const Slice &slice) {
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
    forSlices(members, o, [&](const Slice &slice) {
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
