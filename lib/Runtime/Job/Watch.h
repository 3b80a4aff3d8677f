//===- Watch.h - Says that this process lives, hears who does not ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_JOB_WATCH_H
#define LLMC_LIB_RUNTIME_JOB_WATCH_H

#include "Sockets.h"
#include "llmc/Runtime/Job/Job.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

namespace llmc::rt::job {

class Watch {
public:
  /// `socket` has said hello; `first` holds the meeting place.
  Watch(Socket socket, std::string first, const JobOptions &options);
  ~Watch();

  /// What is to be ended when somebody is lost.
  void guard(std::shared_ptr<Transport> transport);
  /// The process that was lost first, as an error; success so far.
  Status lost() const;
  /// Ends what is guarded, of a process that has failed itself.
  void abort(const Status &why);
  /// The last word: "" or the error.
  void sayBye(const std::string &error);

private:
  void run();
  Status listen();
  void fail(const Status &status);
  void waitForEnd(const Status &status) const;

  Socket socket;
  std::string first;
  JobOptions options;
  mutable std::mutex mutex;
  std::shared_ptr<Transport> guarded;
  Status reason;
  Clock::time_point heard;
  std::atomic<bool> leaving{false};
  std::thread thread;
};

} // namespace llmc::rt::job

#endif // LLMC_LIB_RUNTIME_JOB_WATCH_H
