//===- EntryRun.h - The host's side of an entry ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory of an entry, reserved at load: the data of all microbatches of a
// step, hyper values, metrics and fetched values. There are two sets of it: one
// is filled while the step of the other runs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_ENTRYRUN_H
#define LLMC_LIB_RUNTIME_EXECUTOR_ENTRYRUN_H

#include "Data/ReadAhead.h"
#include "InFlight.h"
#include "Peers.h"
#include "States/Boxes.h"
#include "Walker.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Executor/Samples.h"
#include "llmc/Runtime/Executor/Session.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace llmc::rt::exec {

/// What a step depends on besides its number.
struct StepContext {
  uint64_t seed = 0;
  const DataSets *files = nullptr;
  const std::map<std::string, double> *externals = nullptr;
  /// Steps whose samples were left out: step k reads those of k + this.
  int64_t leftOut = 0;
};

/// What goes between processes beside metrics.
struct Words {
  double said = 0;
  /// Seconds that computing waited for communication: this process's before,
  /// the mean of all after the exchange.
  double exposed = 0;
  std::vector<double> heard = {0}; ///< By process.
};

class EntryRun {
public:
  static Result<std::unique_ptr<EntryRun>>
  make(const plan::Plan &plan, const plan::Entry &entry,
       std::vector<LocalDevice> &devices, const Peers &peers);

  const plan::Entry &entry() const { return source; }
  InFlight &inFlight() { return inFlightCount; }

  /// Fills hyper values and data of `step` in the set that was not used last.
  Status prepare(int64_t step, const StepContext &context);
  /// The same with the data that `other` has for one microbatch, for an entry
  /// whose inputs are among the other's (`checkCounting`).
  Status prepareAs(EntryRun &other, int64_t microbatch, int64_t step,
                   const StepContext &context);
  /// Which set was prepared last: 0 or 1.
  int prepared() const { return current; }
  const HostEnds &ends(size_t device) const { return sets[current][device]; }

  Status setInput(const std::string &name, int64_t microbatch,
                  const HostTensor &value);
  /// Nothing is read until the next step is prepared: files may change.
  void stopReading() { ahead.drop(); }
  /// Finds the samples in these files, where they are others than before.
  Status bind(const DataSets &files);
  const Samples &data() const { return samples; }
  /// After the step of the set has ended. With `words` each process's word.
  Status readMetrics(int set, std::vector<NamedValue> &values,
                     Words *words = nullptr) const;
  /// The same; absent when the entry has none of that name.
  std::optional<Result<HostTensor>> fetch(int set, const std::string &name,
                                          int64_t microbatch);

private:
  Status readBox(int set, size_t i, int64_t microbatch, HostTensor &whole,
                 Pieces &own);

  /// An input of the entry, staged for the devices.
  struct Staging {
    const plan::Input *input;
    HostTensor whole;                             ///< One microbatch.
    std::vector<std::optional<HostTensor>> given; ///< By microbatch.
    /// By device: empty where no box of it lies.
    std::vector<std::vector<ElementRun>> runs;
    /// Of the batch, those that devices of this process read; ascending.
    std::vector<int64_t> rows;
    /// Of the step that is read ahead, all microbatches; pages of rows that no
    /// device of this process reads are never touched.
    std::unique_ptr<std::byte, decltype(&std::free)> step{nullptr, std::free};
  };

  EntryRun(const plan::Plan &plan, const plan::Entry &entry,
           std::vector<LocalDevice> &devices, const Peers &peers)
      : plan(plan), source(entry), devices(devices), peers(peers),
        inFlightCount(plan, entry),
        ahead([this](int64_t step) { return readStep(step); }) {}

  Status reserve();
  Status reserveDevice(size_t device);
  Status makeStagings();
  Status findMetricOwners();
  void fillHypers(int64_t step, const StepContext &context);
  static std::vector<int64_t> rowsOf(const Staging &staging);
  /// Fills these rows of `whole`; null: all.
  Status fillWhole(size_t i, int64_t step, int64_t microbatch,
                   const StepContext &context,
                   const std::vector<int64_t> *rows);
  /// Reads what the devices of this process take of a step.
  Status readStep(int64_t step);
  /// Gives each device its part of the tensor at `whole` as input `i`.
  void stage(size_t i, const std::byte *whole, int64_t microbatch);

  const plan::Plan &plan;
  const plan::Entry &source;
  std::vector<LocalDevice> &devices;
  const Peers &peers;
  std::vector<Staging> stagings;
  Samples samples;
  std::vector<HostEnds> sets[2]; ///< [set][device]
  int current = 0;
  int64_t steps[2] = {0, 0}; ///< Which each set was prepared for.
  StepContext contexts[2];
  std::vector<int> metricOwners;    ///< Device of this process, or -1.
  std::vector<int> metricProcesses; ///< Whose value counts, or -1.
  InFlight inFlightCount;
  uint64_t seed = 0; ///< Of what is read ahead.
  ReadAhead ahead;   ///< Ends before what it reads from and to.
};

/// The most microbatches of any entry.
int64_t mostMicrobatches(const plan::Plan &plan);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_ENTRYRUN_H
