//===- RowCounts.cpp - What members say of rows that the run counts -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/RowCounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace llmc::rt {

namespace {

/// One collective whose lists are known.
class CountCheck {
public:
  CountCheck(const Collective &collective, const std::string &name,
             const std::vector<int> &members)
      : rows(collective.rows), name(name), members(members) {}

  Status checkSlice(const RowSlice &slice) const;
  Status checkApart(std::vector<RowSlice> slices) const;

private:
  Status refuse(const RowSlice &slice, const std::string &what) const {
    return makeError(ErrorKind::mismatch,
                     fmt::format("{} in '{}', slice {} from device {} to "
                                 "device {}",
                                 what, name, slice.number, members[slice.from],
                                 members[slice.to]));
  }

  const CollectiveRows &rows;
  const std::string &name;
  const std::vector<int> &members;
};

/// Whether `count` rows from `first` on lie in `rows`.
bool liesIn(int64_t first, int64_t count, uint64_t rows) {
  auto all = static_cast<int64_t>(rows);
  return count >= 0 && count <= all && first >= 0 && first <= all - count;
}

Status CountCheck::checkSlice(const RowSlice &slice) const {
  if (slice.count != slice.expected) {
    return refuse(slice, fmt::format("expected {} rows as the receiver does, "
                                     "got {} that are sent",
                                     slice.expected, slice.count));
  }
  if (slice.count == 0) {
    return Status::success();
  }
  if (!liesIn(slice.first, slice.count, rows.in)) {
    return refuse(slice, fmt::format("expected rows of the {} of the sender, "
                                     "got {} from row {} on",
                                     rows.in, slice.count, slice.first));
  }
  if (!liesIn(slice.target, slice.count, rows.out)) {
    return refuse(slice, fmt::format("expected room in the {} rows of the "
                                     "receiver, got {} rows for row {} on",
                                     rows.out, slice.count, slice.target));
  }
  return Status::success();
}

/// No two slices that one member gets have a row in common.
Status CountCheck::checkApart(std::vector<RowSlice> slices) const {
  std::sort(slices.begin(), slices.end(),
            [](const RowSlice &a, const RowSlice &b) {
              return std::tie(a.to, a.target) < std::tie(b.to, b.target);
            });
  for (size_t i = 1; i < slices.size(); ++i) {
    const RowSlice &before = slices[i - 1], &slice = slices[i];
    if (before.to == slice.to && before.target + before.count > slice.target) {
      return refuse(slice, fmt::format("expected rows that no other slice "
                                       "fills, got row {} twice",
                                       slice.target));
    }
  }
  return Status::success();
}

} // namespace

Status checkRowCounts(const Collective &collective, const std::string &name,
                      const std::vector<int> &members, const RowLists &lists) {
  CountCheck check(collective, name, members);
  auto outer = static_cast<int64_t>(collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    Status status;
    std::vector<RowSlice> filled;
    forRowSlices(collective, static_cast<int>(members.size()), o, lists,
                 [&](const RowSlice &slice) {
                   if (status.ok()) {
                     status = check.checkSlice(slice);
                   }
                   if (slice.count > 0) {
                     filled.push_back(slice);
                   }
                 });
    LLMC_TRY(status);
    LLMC_TRY(check.checkApart(std::move(filled)));
  }
  return Status::success();
}

uint64_t rowsBetween(const Collective &collective, int size,
                     const RowLists &lists) {
  uint64_t rows = 0;
  auto outer = static_cast<int64_t>(collective.buffers[0].outer);
  for (int64_t o = 0; o < outer; ++o) {
    forRowSlices(collective, size, o, lists, [&](const RowSlice &slice) {
      rows += slice.from != slice.to ? static_cast<uint64_t>(slice.count) : 0;
    });
  }
  return rows;
}

} // namespace llmc::rt
