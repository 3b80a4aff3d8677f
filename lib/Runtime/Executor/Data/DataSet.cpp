//===- DataSet.cpp - The files of a source --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/DataSetTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/DataSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <glob.h>
#include <unistd.h>

namespace llmc::rt {

/// The files of a pattern, sorted; a name without a match is a file's.
static Result<std::vector<std::string>> expandGlob(const std::string &pattern) {
  // A file may have a name that reads as a glob.
  if (pattern.find_first_of("*?[") == std::string::npos ||
      ::access(pattern.c_str(), F_OK) == 0) {
    return std::vector<std::string>{pattern};
  }
  glob_t found = {};
  int code = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
  std::vector<std::string> names(found.gl_pathv,
                                 found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0 || names.empty()) {
    return makeError(ErrorKind::malformed,
                     code == GLOB_NOMATCH
                         ? "expected files that the glob matches, got none"
                         : "cannot read the folder of the glob")
        .at(pattern);
  }
  // By bytes, whatever the locale.
  std::sort(names.begin(), names.end());
  return names;
}

Result<DataSet> DataSet::open(const DataRule &rule,
                              const std::vector<std::string> &patterns) {
  bool isMixture = !rule.weights.empty();
  if (patterns.empty() ||
      (isMixture && patterns.size() != rule.weights.size())) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected {}, got {}",
                                 isMixture
                                     ? fmt::format("a file or glob for each of "
                                                   "{} weights",
                                                   rule.weights.size())
                                     : "a file or glob",
                                 patterns.size()));
  }
  DataSet set(rule);
  for (const std::string &pattern : patterns) {
    if (isMixture || set.parts.empty()) {
      set.parts.emplace_back();
    }
    LLMC_TRY(set.add(pattern, set.parts.back()));
  }
  return set;
}

Status DataSet::add(const std::string &pattern, std::vector<DataFile> &part) {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, expandGlob(pattern));
  for (const std::string &name : names) {
    LLMC_TRY_ASSIGN(DataFile file, DataFile::open(dataRule, name));
    if (!parts[0].empty() && !isTokens(dataRule.kind)) {
      LLMC_TRY(compare(file));
    }
    part.push_back(std::move(file));
  }
  return Status::success();
}

/// "f32[2, 3]" or "complex f32[2, 3]".
static std::string showRow(const DataFile &file) {
  return fmt::format("{}{}[{}]", file.isComplex() ? "complex " : "",
                     nameOf(file.dtype()), fmt::join(file.rowShape(), ", "));
}

Status DataSet::compare(const DataFile &file) const {
  if (file.dtype() == first().dtype() &&
      file.isComplex() == first().isComplex() &&
      file.rowShape() == first().rowShape()) {
    return Status::success();
  }
  return makeError(ErrorKind::malformed,
                   fmt::format("expected rows of {} as in {}, got {}",
                               showRow(first()), first().path(), showRow(file)))
      .at(file.path());
}

RowsOfFiles DataSet::rows() const {
  RowsOfFiles rows;
  for (const std::vector<DataFile> &part : parts) {
    rows.emplace_back();
    for (const DataFile &file : part) {
      rows.back().push_back(file.rows());
    }
  }
  return rows;
}

Status DataSet::read(const SamplePlace &place, int64_t offset, int64_t count,
                     const RowUse &use, void *out) const {
  const std::vector<DataFile> &part = parts[place.part];
  size_t f = place.file;
  int64_t row = place.row + offset;
  auto *to = static_cast<std::byte *>(out);
  while (count > 0) {
    while (row >= part[f].rows()) {
      row -= part[f++].rows();
    }
    int64_t here = std::min(count, part[f].rows() - row);
    LLMC_TRY(part[f].read(row, here, use, to));
    bytes->fetch_add(static_cast<uint64_t>(here * part[f].rowBytes()),
                     std::memory_order_relaxed);
    to += here * part[f].numRowElements() * sizeOf(use.type);
    row += here;
    count -= here;
  }
  return Status::success();
}

} // namespace llmc::rt
