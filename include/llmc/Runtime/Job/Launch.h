//===- Launch.h - Starts the processes of a job on this machine -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers n processes by the variables of Environment.h, passes signals on,
// puts a number before each line of their errors, and leaves nobody behind.
// Equivalent to `torchrun --standalone --nproc-per-node=n`, without restarts.
//
// Tested by test/Runtime/Job/LaunchTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_JOB_LAUNCH_H
#define LLMC_RUNTIME_JOB_LAUNCH_H

#include "llmc/Runtime/Base/Status.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace llmc::rt {

struct LaunchOptions {
  int processes = 1;
  /// The program and its arguments.
  std::vector<std::string> command;
  /// At which process 0 listens; 0: one that is free.
  int port = 0;
  /// For which the others may go on after one has failed, and after they were
  /// asked to end.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  /// Where lines of errors go.
  std::FILE *errors = stderr;
  /// A signal from outside, which all processes get.
  const std::atomic<int> *signal = nullptr;
};

/// How a job has ended.
struct LaunchResult {
  /// That of the process that failed first, 128 + n for signal n; 0 if none.
  int code = 0;
  /// "process 2 (pid 7) was killed by signal 9"; "" after a good end.
  std::string cause;
};

/// Returns when no process is left. Errors: 2 (no command, no processes, a
/// program that cannot be started), 12 (the machine starts no more).
Result<LaunchResult> launch(const LaunchOptions &options);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_JOB_LAUNCH_H
