//===- Checkpointing.h - When a run writes checkpoints ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checkpoints of one run: what it resumes from, when one is due, and the
// way from the devices' states to a folder with a name. All processes of a job
// make the same calls in the same order.
//
//   LLMC_TRY_ASSIGN(auto checkpoints, Checkpointing::open(options, transport));
//   sessionOptions.seed = checkpoints->seed();      // of what is resumed
//   LLMC_TRY_ASSIGN(auto session, openPlanFile(path, sessionOptions));
//   runOptions.checkpoints = checkpoints.get();
//   LLMC_TRY(runSteps(*session, runOptions));
//
// Tested by test/Runtime/Executor/CheckpointRunTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_CHECKPOINTING_H
#define LLMC_RUNTIME_EXECUTOR_CHECKPOINTING_H

#include "llmc/Runtime/Checkpoint/CheckpointFolder.h"
#include "llmc/Runtime/Checkpoint/Meeting.h"
#include "llmc/Runtime/Executor/Session.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace llmc::rt {

struct CheckpointOptions {
  /// "": no checkpoints.
  std::string folder;
  /// "50": steps, "10m": minutes; "": at the end of the run alone.
  std::string every;
  /// How many of the newest stay; 0: all.
  int64_t keep = 2;
  /// The checkpoint with the least value of this metric stays too; "": none.
  std::string best;
  /// From the newest whole checkpoint; with `mayBegin` from the start where
  /// there is none.
  bool resume = false, mayBegin = false;
  /// Reads and writes while the next steps run, with at most `memory` bytes
  /// that wait for the disk.
  bool background = false;
  uint64_t memory = uint64_t(1) << 30;
  /// In place of the checkpoint's: must be equal.
  std::optional<uint64_t> seed;
  /// For the manifest.
  std::string planHash;
  /// In place of the system's, by tests.
  FileCalls *calls = nullptr;
};

/// What goes wrong before a run; `folder` aside. Errors (2).
Status checkOptions(const CheckpointOptions &options);

/// One that is there.
struct WrittenCheckpoint {
  int64_t step = 0;
  std::string path;
  uint64_t bytes = 0;
  /// From its begin to its name; of these the run stood still between steps;
  /// and of these some update of this process waited until its states were
  /// read.
  double seconds = 0, stall = 0, waited = 0;
};

class Checkpointing {
public:
  virtual ~Checkpointing() = default;

  /// Takes the folder and finds what is to be resumed. Says on stderr which
  /// checkpoints were passed over, and why. Errors: 2 (the folder has
  /// checkpoints, and nobody asked to resume), 14.
  static Result<std::unique_ptr<Checkpointing>>
  open(const CheckpointOptions &options, std::shared_ptr<Transport> transport);

  /// The number of the first step, and what draws its data; 0 and the option's
  /// where nothing is resumed.
  virtual int64_t firstStep() const = 0;
  virtual std::optional<uint64_t> seed() const = 0;
  virtual bool isResumed() const = 0;
  /// A line that says what is resumed, or "".
  virtual std::string describeResumed() const = 0;
  /// Fills the states of what is resumed, and plans what is written of an
  /// entry. Errors: 2 (it does not train), 15 (other states).
  virtual Status begin(Session &session, const std::string &entry) = 0;

  /// Fills the states of the newest whole checkpoint of at most `most` steps,
  /// and returns how many it has. After `finish`, with no step that runs.
  /// Error (14): there is none.
  virtual Result<int64_t> rollBack(Session &session, int64_t most) = 0;

  /// Whether a checkpoint belongs between `step` steps and the next one.
  virtual bool isDueAt(int64_t step) const = 0;
  /// Whether its time has come, by this process's clock; process 0 decides.
  virtual bool isTimeUp() const = 0;
  /// Whether a checkpoint of this many steps is there, or under way.
  virtual bool has(int64_t step) const = 0;
  /// Writes one; what it says is for process 0 to print. In the background it
  /// is complete after `finish`.
  virtual Result<std::string> write(Session &session, int64_t step) = 0;
  /// Of one in the background: whether this process has written its part; and,
  /// when all have, its end. "" where there is none.
  virtual bool isWritten() const = 0;
  virtual Result<std::string> finish() = 0;
  /// The last one that `write` or `finish` spoke of.
  virtual WrittenCheckpoint lastWritten() const { return {}; }
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_CHECKPOINTING_H
