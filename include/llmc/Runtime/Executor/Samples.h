//===- Samples.h - What the inputs of an entry read -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples of a microbatch, from the sources that feed an entry's inputs.
// Sample number i of a run is a pure function of (step, microbatch, row):
//
//   i = (step * microbatches + microbatch) * batch + row
//
// and where it lies in each source one of (seed, i) (DataRule.h). Inputs of one
// source read the same window; arrays have equally many samples, so that row i
// of each belongs to the same sample. Executor and interpreter use this alike.
//
// Tested by test/Runtime/Executor/SamplesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_SAMPLES_H
#define LLMC_RUNTIME_EXECUTOR_SAMPLES_H

#include "llmc/Runtime/Executor/DataFile.h"

#include <optional>

namespace llmc::rt {

/// By source; those without a file are absent.
using DataFiles = std::vector<std::optional<DataFile>>;

/// An input of an entry.
struct SampleInput {
  std::string name;
  /// Index of the source that feeds it, or -1.
  int source = -1;
  /// Tokens or rows after the first of its sample.
  int64_t offset = 0;
  DType dtype = DType::f32;
  /// Of one microbatch; the first dim counts samples.
  std::vector<int64_t> shape;
};

class Samples {
public:
  Samples() = default;
  /// `kinds` of the sources that inputs refer to, `microbatches` of a step.
  /// Assumes offsets and sizes whose sums do not overflow.
  Samples(std::vector<SampleInput> inputs, std::vector<DataKind> kinds,
          int64_t microbatches);

  /// Writes input `i` of one microbatch to `out`. Errors: 2 (no file), 3 (rows
  /// of another shape or type, too few of them, values out of range).
  Status read(size_t i, const DataFiles &files, uint64_t seed, int64_t step,
              int64_t microbatch, void *out) const;
  /// The same of these rows of the batch alone; others stay as they are.
  Status readRows(size_t i, const DataFiles &files, uint64_t seed, int64_t step,
                  int64_t microbatch, const std::vector<int64_t> &rows,
                  void *out) const;

private:
  Status check(const SampleInput &input, const DataFiles &files) const;

  std::vector<SampleInput> inputs;
  std::vector<DataKind> kinds;
  /// Rows of a sample, by source; 0 where no input is fed.
  std::vector<int64_t> windows;
  int64_t microbatches = 1;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_SAMPLES_H
