//===- Job.h - A process among those that run one plan --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes of a job meet at process 0, make sure that they run the same, and
// keep an eye on each other: one that is killed, stopped or cut off is named by
// all others, which end with 10.
//
//   LLMC_TRY_ASSIGN(auto place, findJob(processEnvironment()));
//   LLMC_TRY_ASSIGN(auto job, Job::join(*place, {}));
//   LLMC_TRY(job->compare("plan", planHash));
//   LLMC_TRY_ASSIGN(options.transport, job->connect("gloo"));
//   ...
//   status = job->leave(status);
//
// Tested by test/Runtime/Job.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_JOB_JOB_H
#define LLMC_RUNTIME_JOB_JOB_H

#include "llmc/Runtime/Comm/Store.h"
#include "llmc/Runtime/Comm/Transport.h"
#include "llmc/Runtime/Job/Environment.h"

#include <chrono>
#include <functional>
#include <memory>

namespace llmc::rt {

struct JobOptions {
  /// For all processes to come.
  std::chrono::milliseconds joining = std::chrono::minutes(5);
  /// For which a process may say nothing; a thread of its own says every 200 ms
  /// that it is alive.
  std::chrono::milliseconds silence = std::chrono::seconds(20);
  /// After a process was lost: for this one to end by itself.
  std::chrono::milliseconds ending = std::chrono::milliseconds(500);
  /// Called, from a thread of the job's, where it has not: to report the error
  /// and end the process.
  std::function<void(const Status &lost)> stuck;
};

class Job {
public:
  virtual ~Job() = default;

  /// Errors: 11 (process 0 does not listen, or not all came), 2 (its port is
  /// taken), 15 (another token).
  static Result<std::unique_ptr<Job>> join(const JobPlace &place,
                                           const JobOptions &options);

  virtual Store &store() = 0;
  /// Error (15) on every process where one has another `value`, with both.
  virtual Status compare(const std::string &what, const std::string &value) = 0;
  /// Messages by a library of that name: "gloo", "mpi". Error (15) where this
  /// machine or build has none of that name.
  virtual Result<std::shared_ptr<Transport>>
  connect(const std::string &library) = 0;
  /// Ends `transport` when another process is lost; `connect` does so itself.
  virtual void guard(std::shared_ptr<Transport> transport) = 0;
  /// Says how this process ended. The first cause wins: an error of ours that
  /// came of another process becomes the error that names it (10).
  virtual Status leave(const Status &status) = 0;
};

/// Loads `libllmc-<library>.so`, which lies in `lib/llmc` beside the folder of
/// the program, or in its own folder. Error (15) where it cannot be loaded.
Result<std::shared_ptr<Transport>>
loadTransport(const std::string &library, Store &store, const Place &place);

/// Whether it could be loaded; nothing is connected.
Status checkTransport(const std::string &library);

/// What such a library exports: null after an error, which it stores.
using MakeTransport = Transport *(*)(Store & store, const Place &place,
                                     Status &error);
inline constexpr const char *makeTransportSymbol = "llmcMakeTransport";

} // namespace llmc::rt

#endif // LLMC_RUNTIME_JOB_JOB_H
