//===- Samples.cpp - What the inputs of an entry read ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/SamplesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Samples.h"

#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace llmc::rt {

static int64_t elementsOfSample(const SampleInput &input) {
  int64_t count = 1;
  for (size_t d = 1; d < input.shape.size(); ++d) {
    count *= input.shape[d];
  }
  return count;
}

Samples::Samples(std::vector<SampleInput> list, std::vector<DataKind> kindList,
                 int64_t microbatches)
    : inputs(std::move(list)), kinds(std::move(kindList)),
      windows(kinds.size()), microbatches(microbatches) {
  for (const SampleInput &input : inputs) {
    if (input.source >= 0) {
      bool isArray = kinds[input.source] == DataKind::array;
      int64_t rows = isArray ? 1 : elementsOfSample(input);
      windows[input.source] =
          std::max(windows[input.source], input.offset + rows);
    }
  }
}

/// A row of the array is a sample of the input.
static Status checkRow(const SampleInput &input, const DataFile &file) {
  if (!canConvert(file.dtype(), input.dtype)) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected values of {} for input '{}', got {}",
                                 nameOf(input.dtype), escape(input.name, 60),
                                 nameOf(file.dtype())))
        .at(file.path());
  }
  auto sample = input.shape.begin() + (input.shape.empty() ? 0 : 1);
  const std::vector<int64_t> &row = file.rowShape();
  if (!std::equal(sample, input.shape.end(), row.begin(), row.end())) {
    return makeError(ErrorKind::malformed,
                     fmt::format(
                         "expected rows of shape [{}] for input '{}', got [{}]",
                         fmt::join(sample, input.shape.end(), ", "),
                         escape(input.name, 60), fmt::join(row, ", ")))
        .at(file.path());
  }
  return Status::success();
}

Status Samples::check(const SampleInput &input, const DataFiles &files) const {
  if (input.source < 0 || !files[input.source]) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected data for input '{}'",
                                 escape(input.name, 60)))
        .withHint("give the file of its source by --data");
  }
  const DataFile &file = *files[input.source];
  if (kinds[input.source] == DataKind::tokens) {
    return Status::success();
  }
  LLMC_TRY(checkRow(input, file));
  int64_t samples = file.rows() - windows[input.source];
  for (size_t other = 0; other < kinds.size(); ++other) {
    if (windows[other] == 0 || kinds[other] == DataKind::tokens ||
        !files[other] || files[other]->rows() - windows[other] == samples) {
      continue;
    }
    return makeError(ErrorKind::malformed,
                     fmt::format("expected {} rows, as many samples as {} has, "
                                 "got {}",
                                 files[other]->rows() - windows[other] +
                                     windows[input.source],
                                 files[other]->path(), file.rows()))
        .at(file.path());
  }
  return Status::success();
}

Status Samples::read(size_t i, const DataFiles &files, uint64_t seed,
                     int64_t step, int64_t microbatch, void *out) const {
  const std::vector<int64_t> &shape = inputs[i].shape;
  std::vector<int64_t> rows(shape.empty() ? 1 : shape[0]);
  std::iota(rows.begin(), rows.end(), 0);
  return readRows(i, files, seed, step, microbatch, rows, out);
}

Status Samples::readRows(size_t i, const DataFiles &files, uint64_t seed,
                         int64_t step, int64_t microbatch,
                         const std::vector<int64_t> &batchRows,
                         void *out) const {
  const SampleInput &input = inputs[i];
  LLMC_TRY(check(input, files));
  const DataFile &file = *files[input.source];
  int64_t batch = input.shape.empty() ? 1 : input.shape[0];
  int64_t elements = elementsOfSample(input);
  int64_t rows = kinds[input.source] == DataKind::array ? 1 : elements;
  // Steps are the user's: their products wrap.
  uint64_t first = (static_cast<uint64_t>(step) * microbatches + microbatch) *
                   static_cast<uint64_t>(batch);
  for (int64_t row : batchRows) {
    LLMC_TRY_ASSIGN(int64_t at,
                    file.find(seed, first + static_cast<uint64_t>(row),
                              windows[input.source]));
    LLMC_TRY(file.read(at + input.offset, rows, input.dtype,
                       static_cast<std::byte *>(out) +
                           row * elements * sizeOf(input.dtype)));
  }
  return Status::success();
}

} // namespace llmc::rt
