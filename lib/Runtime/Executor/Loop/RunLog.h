//===- RunLog.h - What a run writes down ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three files, each where the options name it (docs/seeing.md):
//
//   --log          a JSON line for each step
//   --events       a JSON line for all that happens: run, step, evaluate,
//                  checkpoint_begin, checkpoint_end, roll_back, warning, end
//   --tensorboard  the numbers of steps and evaluations, for TensorBoard
//
// A file that cannot be written any more is warned of once, and the run goes
// on without it.
//
// Test: test/Runtime/Executor/RunLogTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H
#define LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H

#include "StepLine.h"
#include "llmc/Runtime/Base/AppendFile.h"
#include "llmc/Runtime/Executor/Checkpointing.h"
#include "llmc/Runtime/TensorBoard/EventFile.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmc::rt::exec {

class RunLog {
public:
  /// `warn` tells the user one line.
  RunLog(const Session &session, const RunOptions &options,
         std::function<void(const std::string &)> warn)
      : session(session), options(options), warn(std::move(warn)) {}

  /// What a run has written before it was resumed stays. Error: 2.
  Status open(bool goesOn);

  void begin(const plan::Entry &entry, const StepWork &work, int64_t firstStep,
             int64_t steps);
  void step(const StepWork &work, const StepFacts &facts);
  void evaluate(const Evaluated &evaluated);
  void beginCheckpoint(int64_t step);
  void endCheckpoint(const WrittenCheckpoint &written);
  /// From a step to the one that is next, for a reason.
  void rollBack(int64_t from, int64_t to, int64_t leftOut, const Status &why);
  void end(int64_t ran, double seconds, bool isStopped, const Status &status);
  /// Tells the user, and writes it down.
  void warning(const std::string &text);

private:
  /// `fields` are JSON, without braces.
  void event(const std::string &kind, const std::string &fields);
  void logLine(const std::string &fields);
  template <typename File> void check(std::optional<File> &file, Status status);

  const Session &session;
  const RunOptions &options;
  std::function<void(const std::string &)> warn;
  std::optional<AppendFile> log, events;
  std::optional<tensorboard::EventFile> board;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H
