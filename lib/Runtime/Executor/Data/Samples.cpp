//===- Samples.cpp - What the inputs of an entry read ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/SamplesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Samples.h"

#include "llmc/Runtime/Base/ComplexNames.h"
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

Status DataSets::open(size_t i, DataRule rule,
                      const std::vector<std::string> &patterns,
                      bool isEvaluation) {
  if (isEvaluation) {
    rule.shuffle = rule.once = false;
    rule.heldOut = 0;
    rule.weights.clear();
  }
  LLMC_TRY_ASSIGN((isEvaluation ? evaluation : training)[i],
                  DataSet::open(rule, patterns));
  ++version;
  return Status::success();
}

uint64_t DataSets::bytesRead() const {
  uint64_t bytes = 0;
  for (const auto *sets : {&training, &evaluation}) {
    for (const std::optional<DataSet> &set : *sets) {
      bytes += set ? set->bytesRead() : 0;
    }
  }
  return bytes;
}

Samples::Samples(std::vector<SampleInput> list, std::vector<DataKind> kindList,
                 int64_t microbatches, bool evaluates)
    : inputs(std::move(list)), kinds(std::move(kindList)),
      windows(kinds.size()), microbatches(microbatches), evaluates(evaluates),
      bound(kinds.size()) {
  for (const SampleInput &input : inputs) {
    if (input.source >= 0) {
      int64_t rows =
          isTokens(kinds[input.source]) ? elementsOfSample(input) : 1;
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

/// A complex array feeds parts, and both parts of an input that one source
/// feeds are those of complex numbers.
Status Samples::checkParts(const SampleInput &input,
                           const DataFile &file) const {
  std::optional<PartName> name = parsePartName(input.name);
  if (file.isComplex()) {
    return name ? Status::success()
                : makeError(ErrorKind::malformed,
                            fmt::format("expected real numbers for input '{}', "
                                        "got complex ones",
                                        escape(input.name, 60)))
                      .at(file.path());
  }
  std::string whole(name ? name->whole : "");
  std::string other = name ? partNameOf(whole, 1 - name->part) : "";
  for (const SampleInput &each : inputs) {
    if (name && each.name == other && each.source == input.source &&
        each.offset == input.offset) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected complex numbers for input '{}', "
                                   "got {}",
                                   escape(whole, 60), nameOf(file.dtype())))
          .at(file.path())
          .withHint("real arrays feed its parts, each from a source of its "
                    "own: \"" +
                    partNameOf(whole, 0) + "\" and \"" + partNameOf(whole, 1) +
                    "\"");
    }
  }
  return Status::success();
}

/// Null where the source has no files, or feeds no input.
const DataSet *Samples::findSet(const DataSets &sets, size_t source) const {
  if (windows[source] == 0) {
    return nullptr;
  }
  const auto &own =
      evaluates && sets.evaluation[source] ? sets.evaluation : sets.training;
  return own[source] ? &*own[source] : nullptr;
}

/// All arrays have as many samples in each part.
Status Samples::checkCounts(const DataSets &sets) const {
  const DataSet *first = nullptr;
  int64_t window = 0;
  for (size_t source = 0; source < kinds.size(); ++source) {
    const DataSet *set = findSet(sets, source);
    if (!set || isTokens(kinds[source])) {
      continue;
    }
    if (!first) {
      first = set;
      window = windows[source];
      continue;
    }
    RowsOfFiles own = first->rows(), other = set->rows();
    for (size_t part = 0; part < std::min(own.size(), other.size()); ++part) {
      auto sum = [](const std::vector<int64_t> &rows) {
        return std::accumulate(rows.begin(), rows.end(), int64_t(0));
      };
      int64_t expected = sum(other[part]) - windows[source] + window;
      if (int64_t found = sum(own[part]); found != expected) {
        return makeError(ErrorKind::malformed,
                         fmt::format("expected {} rows, as many samples as {} "
                                     "has, got {}",
                                     expected, set->path(part, 0), found))
            .at(first->path(part, 0));
      }
    }
    if (own.size() != other.size()) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected {} parts, as many as of {}, got "
                                   "{}",
                                   other.size(), set->path(0, 0), own.size()))
          .at(first->path(0, 0));
    }
  }
  return Status::success();
}

int64_t Samples::batchOf(size_t source) const {
  for (const SampleInput &input : inputs) {
    if (input.source == static_cast<int>(source) && !input.shape.empty()) {
      return input.shape[0];
    }
  }
  return 1;
}

/// There are samples, and as many different ones as a microbatch has.
Status Samples::checkOrder(const SampleOrder &order, const DataSet &set,
                           size_t source) const {
  const bool isHeldOut = evaluates && set.rule().heldOut > 0;
  const std::string rows = isTokens(kinds[source]) ? "tokens" : "rows";
  const std::string where = set.rule().heldOut == 0 ? ""
                            : isHeldOut ? " of what is held out"
                                        : " beside what is held out";
  if (std::optional<SamplePlace> empty = order.findEmpty()) {
    std::vector<int64_t> files = set.rows()[empty->part];
    int64_t found =
        isTokens(kinds[source])
            ? files[empty->file]
            : std::accumulate(files.begin(), files.end(), int64_t(0));
    return makeError(ErrorKind::malformed,
                     fmt::format("expected at least {} {} for one sample{}, "
                                 "got {}{}",
                                 windows[source], rows, where,
                                 where.empty() ? "" : "too few of ", found))
        .at(set.path(empty->part, empty->file));
  }
  for (size_t part = 0; part < set.rows().size(); ++part) {
    int64_t batch = batchOf(source);
    if (set.rule().weights.empty() && order.distinct(part) < batch) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected at least {} samples of {} {}{} "
                                   "for a batch, got {}",
                                   batch, windows[source], rows, where,
                                   order.distinct(part)))
          .at(set.path(part, 0));
    }
  }
  return Status::success();
}

Status Samples::bind(const DataSets &sets) {
  boundVersion = -1;
  int64_t widest = 1;
  for (size_t source = 0; source < kinds.size(); ++source) {
    widest =
        isTokens(kinds[source]) ? widest : std::max(widest, windows[source]);
  }
  for (const SampleInput &input : inputs) {
    const DataSet *set =
        input.source < 0 ? nullptr : findSet(sets, input.source);
    if (set) {
      LLMC_TRY(checkParts(input, set->first()));
    }
    if (set && !isTokens(kinds[input.source])) {
      LLMC_TRY(checkRow(input, set->first()));
    }
  }
  LLMC_TRY(checkCounts(sets));
  for (size_t source = 0; source < kinds.size(); ++source) {
    bound[source].reset();
    const DataSet *set = findSet(sets, source);
    if (!set) {
      continue;
    }
    bool isHeldOut = evaluates && set->rule().heldOut > 0;
    SampleOrder order(set->rule(), set->rows(), windows[source],
                      std::max(widest, windows[source]),
                      isHeldOut ? Split::heldOut : Split::training);
    LLMC_TRY(checkOrder(order, *set, source));
    bound[source] = Bound{set, std::move(order)};
  }
  boundVersion = sets.version;
  return Status::success();
}

Status Samples::checkApart(const DataSets &sets) const {
  for (const SampleInput &input : inputs) {
    if (input.source >= 0 && !sets.areApart(input.source)) {
      return makeError(ErrorKind::usage,
                       fmt::format("expected data that training leaves out for "
                                   "input '{}', got none",
                                   escape(input.name, 60)))
          .withHint("data.held_out leaves out a share; data.evaluate_file or "
                    "--evaluate-data names files");
    }
  }
  return Status::success();
}

std::optional<double> Samples::epochs(int64_t steps) const {
  for (const SampleInput &input : inputs) {
    if (input.source >= 0 && bound[input.source]) {
      double batch = input.shape.empty() ? 1 : double(input.shape[0]);
      return double(steps) * double(microbatches) * batch /
             double(std::max<int64_t>(1, bound[input.source]->order.epoch()));
    }
  }
  return std::nullopt;
}

int64_t Samples::wholeSteps() const {
  int64_t least = INT64_MAX;
  for (size_t source = 0; source < bound.size(); ++source) {
    if (bound[source]) {
      least = std::min(least, bound[source]->order.epoch() /
                                  (batchOf(source) * microbatches));
    }
  }
  return least == INT64_MAX ? 1 : std::max<int64_t>(1, least);
}

Status Samples::read(size_t i, uint64_t seed, int64_t step, int64_t microbatch,
                     void *out) const {
  const std::vector<int64_t> &shape = inputs[i].shape;
  std::vector<int64_t> rows(shape.empty() ? 1 : shape[0]);
  std::iota(rows.begin(), rows.end(), 0);
  return readRows(i, seed, step, microbatch, rows, out);
}

Status Samples::readRows(size_t i, uint64_t seed, int64_t step,
                         int64_t microbatch,
                         const std::vector<int64_t> &batchRows,
                         void *out) const {
  const SampleInput &input = inputs[i];
  if (input.source < 0 || !bound[input.source]) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected data for input '{}'",
                                 escape(input.name, 60)))
        .withHint("give the file of its source by --data");
  }
  const auto &[set, order] = *bound[input.source];
  int64_t batch = input.shape.empty() ? 1 : input.shape[0];
  int64_t elements = elementsOfSample(input);
  int64_t rows = isTokens(kinds[input.source]) ? elements : 1;
  const std::optional<PartName> name = parsePartName(input.name);
  const RowUse use{input.dtype, input.limit, set->rule().finite,
                   name ? name->part : 0};
  // Steps are the user's: their products wrap.
  uint64_t first = (static_cast<uint64_t>(step) * microbatches + microbatch) *
                   static_cast<uint64_t>(batch);
  for (int64_t row : batchRows) {
    Status status = set->read(
        order.find(seed, first + static_cast<uint64_t>(row)), input.offset,
        rows, use,
        static_cast<std::byte *>(out) + row * elements * sizeOf(input.dtype));
    if (!status.ok()) {
      return status.inContext("input '" + escape(input.name, 60) + "'");
    }
  }
  return Status::success();
}

} // namespace llmc::rt
