//===- Fault.h - What ended a world ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong in a step is kept, as a sticky error is by CUDA: the first
// one counts, and all later calls return it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_FAULT_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_FAULT_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Comm/Transport.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace llmc::rt::cuda {

class Fault {
public:
  /// `messages`: between the processes of the job, or null.
  explicit Fault(std::shared_ptr<Transport> messages)
      : messages(std::move(messages)) {}

  /// Of any thread. Success changes nothing.
  void fail(const Status &status) {
    if (status.ok()) {
      return;
    }
    std::lock_guard<std::mutex> lock(mutex);
    if (first.ok()) {
      first = status;
    }
    isDead = true;
  }
  bool dead() const { return isDead; }
  /// Held while communicators are called by a device's thread, so that none is
  /// aborted under it. Not held where the world is dead: then none is called.
  std::shared_lock<std::shared_timed_mutex> useComms() {
    std::shared_lock<std::shared_timed_mutex> use(comms);
    return dead() ? std::shared_lock<std::shared_timed_mutex>()
                  : std::move(use);
  }
  /// Held by who aborts them. A call that does not come back is what aborts are
  /// for: after a second it is not waited for.
  std::unique_lock<std::shared_timed_mutex> endComms() {
    return {comms, std::chrono::seconds(1)};
  }
  /// What the job says of the other processes: an error where one is gone.
  Status askJob() {
    return messages ? messages->exchange(hostLane, {}, {}) : Status::success();
  }
  Status get() const {
    std::lock_guard<std::mutex> lock(mutex);
    return first;
  }

private:
  std::shared_ptr<Transport> messages;
  mutable std::mutex mutex;
  Status first;
  std::atomic<bool> isDead = false;
  std::shared_timed_mutex comms;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_FAULT_H
