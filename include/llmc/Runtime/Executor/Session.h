//===- Session.h - Runs a plan --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session holds a loaded plan, the memory of its devices and the states in
// it, and runs its entries step by step. `llmc-run` and the driver use nothing
// else.
//
//   LLMC_TRY_ASSIGN(auto session, Session::open(std::move(plan), options));
//   LLMC_TRY(session->useData("", "corpus/*.bin"));
//   for (int64_t step = 0; step < 50; ++step) {
//     LLMC_TRY(session->run("train", step));
//     print(*session->metric("loss"));
//   }
//
// `open` checks and reserves everything; `run` enqueues a step and waits for
// it, and allocates nothing. To keep the devices busy, submit the next step
// before the former is waited for: inputs, hyper values, metrics and fetched
// values have two places.
//
//   submit(0); submit(1); wait() -> metrics of 0; submit(2); wait() -> of 1;
//   ...
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_SESSION_H
#define LLMC_RUNTIME_EXECUTOR_SESSION_H

#include "llmc/Runtime/Checkpoint/BoxFile.h"
#include "llmc/Runtime/Checkpoint/StoredTensors.h"
#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Executor/BoxReading.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

struct SessionOptions {
  /// The plan's folder: kernel objects and files of initial values lie in it.
  std::string folder = ".";
  /// Loads kernel objects that another user owns or may write, and initial
  /// values from outside the folder.
  bool trustKernels = false;
  /// Workers of virtual devices; 0: as many as the devices ask for, within the
  /// processor's.
  int threads = 0;
  std::optional<uint64_t> shuffleSeed;
  /// In place of the plan's: decides initial values, samples, random ops.
  std::optional<uint64_t> seed;
  /// For one step.
  std::chrono::milliseconds deadline = std::chrono::minutes(30);
  /// Fills the arenas with this byte before anything else (`auditMemory`).
  std::optional<uint8_t> poison;
  /// To the other processes that run this plan, each with as many of its
  /// devices; null: this one runs all of it. Every process makes the same calls
  /// in the same order.
  std::shared_ptr<Transport> transport;
  /// Keeps what ran when, for `printTrace`.
  bool trace = false;
  /// No state is drawn or read: `restore` follows.
  bool restored = false;
  /// For tests: runs plans that the loader would refuse.
  bool bypassLoader = false;
};

struct NamedValue {
  std::string_view name;
  double value = 0;
};

/// Bytes of one device, as predicted by the plan and as reserved, and of the
/// memory that it reserves from.
struct DeviceMemory {
  uint64_t predicted = 0;
  uint64_t reserved = 0;
  uint64_t there = 0;
};

/// With `poison`: what lies in buffers, and what the run changed beside them.
struct MemoryAudit {
  uint64_t insideBuffers = 0;
  uint64_t outsideBuffers = 0;
  uint64_t touchedOutside = 0;
};

/// The files of a source of data.
struct SourceFiles {
  /// "": of all of the plan's sources.
  std::string source;
  /// Files or globs; of a source with weights one for each.
  std::vector<std::string> patterns;
  /// Of raw tokens, in place of the plan's.
  std::optional<DType> dtype = {};
  /// For entries that evaluate alone, in place of what training leaves out.
  bool isEvaluation = false;
};

class Session {
public:
  virtual ~Session() = default;

  /// Checks the plan, loads its kernels, reserves the memory of all devices,
  /// fills the states. Nothing is reserved for a plan that is refused.
  static Result<std::unique_ptr<Session>> open(plan::Plan plan,
                                               const SessionOptions &options);

  virtual const plan::Plan &plan() const = 0;
  /// The number of this process, 0 where it is the only one. It speaks for all.
  virtual int process() const { return 0; }
  virtual uint64_t seed() const = 0;

  /// Errors: 2 (no such source), 2 and 3 (`DataSet::open`).
  virtual Status useFiles(const SourceFiles &files) = 0;
  /// The same, of files and globs that commas separate.
  Status useData(const std::string &source, const std::string &files,
                 std::optional<DType> dtype = {});
  /// The whole value of an input of `entry` for one microbatch, in place of
  /// its source; it stays for all later steps.
  virtual Status setInput(const std::string &entry, const std::string &input,
                          int64_t microbatch, const HostTensor &value) = 0;
  /// A hyper value whose rule is `external`.
  virtual Status setExternal(const std::string &name, double value) = 0;

  /// From now on step k of entries that train reads the samples of step k +
  /// `steps`: what lies between is left out.
  virtual void leaveOut(int64_t steps) = 0;
  virtual int64_t leftOut() const = 0;

  /// Fills the inputs of one step of an entry and hands it to the devices; it
  /// runs when the steps before have ended. Error (2) for a third step that is
  /// not waited for. Where an entry counts its data first, this waits for the
  /// counts.
  virtual Status submit(const std::string &entry, int64_t step) = 0;
  /// Waits for the oldest step that was not waited for.
  virtual Status wait() = 0;
  /// Runs one step to its end, after those that were submitted.
  virtual Status run(const std::string &entry, int64_t step) = 0;

  /// Runs `steps` steps of an entry on data that training leaves out, or with 0
  /// as many as that data has whole batches, and returns the means of its
  /// metrics and how many steps they are of. States, metrics and values to be
  /// fetched stay those of the step that was waited for last. Errors: 2 (a step
  /// that is not waited for), those of `checkEvaluation` and `run`.
  virtual Result<std::pair<std::vector<NamedValue>, int64_t>>
  evaluate(const std::string &entry, int64_t steps) = 0;
  /// Whether the entry evaluates, and has such data. Errors: 2 (no such entry
  /// or data), 3 (too little of it).
  virtual Status checkEvaluation(const std::string &entry) = 0;
  /// How often the steps before `step` have gone through the data; absent where
  /// the entry reads none.
  virtual std::optional<double> epochs(const std::string &entry,
                                       int64_t step) const = 0;
  /// That this process has taken from the files of all sources.
  virtual uint64_t bytesRead() const = 0;

  /// Of the step that was waited for last.
  virtual const std::vector<NamedValue> &metrics() const = 0;
  std::optional<double> metric(std::string_view name) const;
  /// A fetch or an input of the step that was waited for last, until the next
  /// is submitted; a metric of it; or a state.
  virtual Result<HostTensor> fetch(const std::string &name,
                                   int64_t microbatch = 0) = 0;

  /// A whole state, from the boxes of its devices, and back; after all steps
  /// that are submitted.
  virtual Result<HostTensor> readState(const std::string &name) = 0;
  virtual Status writeState(const std::string &name,
                            const HostTensor &value) = 0;
  /// The boxes of states that this process writes to a checkpoint: each box is
  /// one of the device of the lowest number that has it. They stand in the
  /// order in which a step writes over them.
  virtual Result<std::vector<TensorBox>> ownedBoxes() = 0;
  /// The elements of all these boxes, in their order, row by row; after all
  /// steps that are submitted.
  virtual Status
  readBoxes(const std::function<Status(const std::byte *, size_t)> &sink) = 0;
  /// Before the first step: states will be read beside steps, so what writes
  /// one waits for who reads it. Errors: 2 (a step has run), 12.
  virtual Status guardStates() = 0;
  /// Gives all these boxes as they are after the steps that are submitted, on a
  /// thread of its own while later ones run; an instruction that would write
  /// over a box waits until that is given. Whoever writes states from outside
  /// waits until all are. One is read at a time. Error (2): `guardStates` was
  /// not called.
  virtual Result<std::shared_ptr<BoxReading>> readBoxesAside(BoxSink sink) = 0;
  /// All states, of whatever mesh wrote them. Error (15): states that it lacks,
  /// or has besides, or in another shape.
  virtual Status restore(const StoredTensors &stored) = 0;

  /// A word for the other processes, which goes with the metrics of the steps
  /// that are waited for from now on; and the words of all processes with the
  /// step that was waited for last.
  virtual void say(double word) = 0;
  virtual const std::vector<double> &heard() const = 0;
  /// Whether all devices that hold an element of the state hold the same bits.
  virtual Result<bool> copiesAgree(const std::string &name) = 0;

  /// Of all devices, by number.
  virtual std::vector<DeviceMemory> memory() const = 0;
  /// Of the devices of this process.
  virtual Result<MemoryAudit> auditMemory() = 0;
  /// What all groups moved since the session was opened.
  virtual Result<CommunicatorCounts> communication() const = 0;
  /// Of the collectives that the first device of a stage took part in since
  /// then, as its communicators counted; the order is `plan::trafficOf`'s.
  virtual Result<std::vector<plan::Traffic>> traffic(int64_t stage) const = 0;
  /// For each stage the most microbatches of a chunk that the last entry had
  /// begun there and not ended, in the order of issue.
  virtual const std::vector<int64_t> &inFlight() const = 0;
  virtual OrderDigest order() const = 0;
  /// What has run since the last call on the devices of this process, in the
  /// trace event format that Perfetto and Chrome open: a process for each
  /// device, a thread for each of its streams, an event for each instruction.
  virtual std::string printTrace() = 0;
  /// Seconds that the host has spent on the data of all steps so far, those
  /// that have been submitted among them.
  virtual double dataSeconds() const = 0;
  /// Seconds of the last step for which computing stood and waited for
  /// communication: the mean over all devices. None on one device.
  virtual std::optional<double> exposedSeconds() const { return std::nullopt; }
  /// `World::note`.
  virtual std::string note() const { return {}; }
};

/// Reads a plan file; its folder is where its kernels lie.
Result<std::unique_ptr<Session>> openPlanFile(const std::string &path,
                                              SessionOptions options);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_SESSION_H
