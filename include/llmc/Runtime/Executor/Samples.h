//===- Samples.h - What the inputs of an entry read -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples of a microbatch, from the sources that feed an entry's inputs.
// Sample number i of a run is a pure function of (step, microbatch, row):
//
//   i = (step * microbatches + microbatch) * batch + row
//
// and where it lies in each source one of (seed, i) (SampleOrder.h). Inputs of
// one source read the same window; arrays have equally many samples, so that
// row i of each belongs to the same sample. What evaluates reads what training
// leaves out, where a source has such. Executor and interpreter use this alike.
//
// A complex array feeds the inputs that are called after its parts
// (ComplexNames.h), the same rows to each.
//
// Tested by test/Runtime/Executor/SamplesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_SAMPLES_H
#define LLMC_RUNTIME_EXECUTOR_SAMPLES_H

#include "llmc/Runtime/Executor/DataSet.h"

#include <optional>

namespace llmc::rt {

/// By source; those without files are absent.
struct DataSets {
  std::vector<std::optional<DataSet>> training;
  /// Files of their own for what evaluates.
  std::vector<std::optional<DataSet>> evaluation;
  /// Grows whenever a source gets other files.
  int64_t version = 0;

  explicit DataSets(size_t sources = 0)
      : training(sources), evaluation(sources) {}
  /// Opens the files of source `i`. Those for what evaluates come in order.
  Status open(size_t i, DataRule rule, const std::vector<std::string> &patterns,
              bool isEvaluation = false);
  /// That all sets have read.
  uint64_t bytesRead() const;
  /// Whether what evaluates has data that training has not.
  bool areApart(size_t i) const {
    return evaluation[i] || (training[i] && training[i]->rule().heldOut > 0);
  }
};

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
  /// Integers are below it; 0: any.
  int64_t limit = 0;
};

class Samples {
public:
  Samples() = default;
  /// `kinds` of the sources that inputs refer to, `microbatches` of a step.
  /// Assumes offsets and sizes whose sums do not overflow.
  Samples(std::vector<SampleInput> inputs, std::vector<DataKind> kinds,
          int64_t microbatches, bool evaluates = false);

  /// Takes the samples from these sets, which stay where they are; inputs of
  /// sources without files have none. Error 3: rows of another shape or type,
  /// other numbers of them, files without a sample, or fewer than a batch.
  Status bind(const DataSets &sets);
  /// Error 2: an input for which training leaves nothing out.
  Status checkApart(const DataSets &sets) const;
  /// For which files that was; -1: none.
  int64_t version() const { return boundVersion; }

  /// Writes input `i` of one microbatch to `out`. Errors: 2 (no file), 3
  /// (`DataFile::read`).
  Status read(size_t i, uint64_t seed, int64_t step, int64_t microbatch,
              void *out) const;
  /// The same of these rows of the batch alone; others stay as they are.
  Status readRows(size_t i, uint64_t seed, int64_t step, int64_t microbatch,
                  const std::vector<int64_t> &rows, void *out) const;

  /// How often `steps` steps have gone through the source of the first input
  /// that has one; absent where none has.
  std::optional<double> epochs(int64_t steps) const;
  /// Steps in which no sample of any source comes twice; at least 1.
  int64_t wholeSteps() const;

private:
  /// A source with its files.
  struct Bound {
    const DataSet *set = nullptr;
    SampleOrder order;
  };
  const DataSet *findSet(const DataSets &sets, size_t source) const;
  Status checkParts(const SampleInput &input, const DataFile &file) const;
  Status checkCounts(const DataSets &sets) const;
  Status checkOrder(const SampleOrder &order, const DataSet &set,
                    size_t source) const;
  /// Samples of a microbatch that come from the source.
  int64_t batchOf(size_t source) const;

  std::vector<SampleInput> inputs;
  std::vector<DataKind> kinds;
  /// Rows of a sample, by source; 0 where no input is fed.
  std::vector<int64_t> windows;
  int64_t microbatches = 1;
  bool evaluates = false;
  std::vector<std::optional<Bound>> bound; ///< By source.
  int64_t boundVersion = -1;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_SAMPLES_H
