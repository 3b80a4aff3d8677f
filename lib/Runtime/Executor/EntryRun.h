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

#include "Boxes.h"
#include "InFlight.h"
#include "Peers.h"
#include "Walker.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Executor/Samples.h"
#include "llmc/Runtime/Executor/Session.h"

#include <map>
#include <optional>

namespace llmc::rt::exec {

/// What a step depends on besides its number.
struct StepContext {
  uint64_t seed = 0;
  const DataFiles *files = nullptr;
  const std::map<std::string, double> *externals = nullptr;
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
  };

  EntryRun(const plan::Plan &plan, const plan::Entry &entry,
           std::vector<LocalDevice> &devices, const Peers &peers)
      : plan(plan), source(entry), devices(devices), peers(peers),
        inFlightCount(plan, entry) {}

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
  /// Gives each device its part of `whole` as input `i`.
  void stage(size_t i, const HostTensor &whole, int64_t microbatch);

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
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_ENTRYRUN_H
