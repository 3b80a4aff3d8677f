//===- Launch.h - Starts the processes of a job on a machine --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers n processes by the variables of Environment.h, passes signals on,
// puts a number before each line of their errors, and leaves nobody behind. The
// output of process 0 is that of the job; lines of the others' have a number.
// Equivalent to `torchrun --standalone --nproc-per-node=n --max-restarts=r`; on
// several machines each has a launcher, as with torchrun's `--nnodes`,
// `--node-rank` and `--master-addr`.
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
  /// On this machine.
  int processes = 1;
  /// Machines of the job, each with as many processes, and which this one is.
  int nodes = 1, nodeRank = 0;
  /// Of node 0, as the others reach it.
  std::string address = "127.0.0.1";
  /// What all launchers of a job know; "" with one node: drawn at random.
  std::string token;
  /// The program and its arguments.
  std::vector<std::string> command;
  /// At which process 0 listens; 0, with one node: one that is free.
  int port = 0;
  /// For which the others may go on after one has failed, and after they were
  /// asked to end.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  /// For which a process may be stopped, as by a debugger, before it counts as
  /// failed. On other machines the job has ended by then.
  std::chrono::milliseconds stopped = std::chrono::minutes(1);
  /// Where lines of errors go, and those of the output of processes but 0,
  /// which writes where this process does.
  std::FILE *errors = stderr, *output = stdout;
  /// For which a line waits for other processes that say the same.
  std::chrono::milliseconds gather = std::chrono::milliseconds(100);
  /// A folder for a file of each process, with its errors and its output but
  /// that of process 0; "": none. Restarts go on in the same files.
  std::string logs = "";
  /// A signal from outside, which all processes get; taken from here when it
  /// was passed on, so that a second one is seen too.
  std::atomic<int> *signal = nullptr;
  /// How often all processes are started again after one was lost, killed or
  /// late. They see how often it was so far in LLMC_RESTART.
  int restarts = 0;
  /// Numbers of processes to go on with, each below the one before it, where
  /// those that were killed are not to come back: a restart takes the largest
  /// that does without them. Empty: always `processes`.
  std::vector<int> fewer = {};
  /// A command for the shell, before the first start and whenever the number
  /// has changed: it makes what so many processes run. With it or `fewer` each
  /// `{n}` in it and in `command` is the number of processes.
  std::string prepare = "";
};

/// How a job has ended.
struct LaunchResult {
  /// That of the process that failed first, 128 + n for signal n; 0 if none.
  int code = 0;
  /// "process 2 (pid 7) was killed by signal 9"; "" after a good end.
  std::string cause;
};

/// Returns when no process of this machine is left. Errors: 2 (no command, no
/// processes, several nodes without a port or a token), 12 (the machine starts
/// no more), 14 (the folder of logs cannot be written).
Result<LaunchResult> launch(const LaunchOptions &options);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_JOB_LAUNCH_H
