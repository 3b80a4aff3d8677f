//===- RunLoop.h - Steps, lines and logs ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs steps of a session and prints a line for each, in the form that readers
// and scripts know; a log has the same at full precision as JSON lines. On a
// terminal it is one line, which each step draws again. What the words mean is
// in docs/seeing.md.
//
//   step: 12  loss: 4.1873  grad_norm: 0.87  lr: 3.0e-04  memory:
//   36.90GiB(26.5%)  tps: 512,004  mfu: 44.2%  comm: 3.1%  data: 0.4%
//   eta: 1:22:03 (one line)
//
// Used by llmc-run and by the driver.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_RUNLOOP_H
#define LLMC_RUNTIME_EXECUTOR_RUNLOOP_H

#include "llmc/Runtime/Executor/Evaluation.h"
#include "llmc/Runtime/Executor/Session.h"

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

namespace llmc::rt {

class Checkpointing;

struct RunOptions {
  std::string entry = "train";
  /// With a checkpoint that is resumed: those before it count.
  int64_t steps = 1;
  int64_t firstStep = 0;
  /// Where the run begins, and what it leaves; null: no checkpoints.
  Checkpointing *checkpoints = nullptr;
  /// Between steps.
  EvaluationOptions evaluation;
  /// JSON lines, one for each step; "" for none.
  std::string logFile;
  /// JSON lines, one for all that happens; "" for none.
  std::string eventFile;
  /// Gets a file for TensorBoard; "" for none.
  std::string boardFolder;
  /// Of the plan's file, for the events.
  std::string planHash;
  /// When each instruction of the steps ran, of a session with `trace`; "" for
  /// none. Process n > 0 writes `<traceFile>.<n>`.
  std::string traceFile;
  /// Printed after the last step, or written as `<dumpFolder>/<name>.npy`;
  /// after `<name>` a microbatch where each has its own value. A glob stands
  /// for the fetches, metrics, inputs and states that it matches.
  std::vector<std::string> fetch;
  /// After each step instead, as `step-<step>.<name>`.
  bool fetchEachStep = false;
  std::string dumpFolder;
  /// Prints what the communicators counted, and compares it with the plan (70).
  bool count = false;
  /// A loss that is not finite ends the run (13), and so does one above
  /// `spike` times the median of the last 32; 0: none does.
  bool stopOnNan = true;
  double spike = 0;
  /// So often the run goes back to a checkpoint instead, and leaves out the
  /// samples since: the newest one, or where the first step after it was such
  /// a step again, the one before it.
  int64_t rollBack = 0;
  std::FILE *out = stdout;
  /// Submits a step while the one before it runs.
  bool ahead = true;
  /// Set from outside (by a signal): the run ends after the steps that are
  /// submitted, with a checkpoint. Where several processes run it, one that is
  /// told so tells the others with its metrics: all end after one step, and
  /// find this set.
  std::atomic<bool> *stop = nullptr;
};

/// The value of `--data`: `source=file`, or a file for all sources; a glob, or
/// several with commas between, stand for files.
Status useDataFlag(Session &session, const std::string &text,
                   std::optional<DType> dtype, bool isEvaluation = false);

/// Prints the predicted memory, the steps, and predicted against reserved.
Status runSteps(Session &session, const RunOptions &options);

/// Tokens (elements of the first input of whole numbers that no array feeds)
/// of one step, or samples where there is none.
struct StepSize {
  int64_t count = 0;
  bool isTokens = false;
};
StepSize stepSize(const plan::Plan &plan, const plan::Entry &entry);

/// "36.90GiB", "12.5MiB", "812B".
std::string printBytes(uint64_t bytes);
/// "512,004"
std::string printCount(uint64_t count);

/// Prints `<tool>: error[<kind>]: <cause>` as the last line on stderr, writes
/// the same as JSON to `errorFile` ("" for none), and returns the exit code.
int reportError(std::string_view tool, const Status &status,
                const std::string &errorFile);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_RUNLOOP_H
