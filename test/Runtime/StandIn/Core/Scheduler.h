//===- Scheduler.h - Work of all streams, in some legal order -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is work that was submitted, with the ops that it comes after. Nothing
// runs when it is submitted. A thread takes ready ops one by one, at random:
// as fast as it can while somebody waits, a few when somebody asks, and one in
// some milliseconds otherwise, so that all work is done in the end. Functions
// of the host have a thread of their own.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_SCHEDULER_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_SCHEDULER_H

#include "Core/Memory.h"
#include "Core/Report.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace llmc::standin {

struct Context;
struct Op;
using OpRef = std::shared_ptr<Op>;
using Lock = std::unique_lock<std::mutex>;

/// What may be submitted any number of times.
struct Work {
  std::string name;
  int type = 0; // CUgraphNodeType
  Context *context = nullptr;
  /// Called by the thread of the stand-in, without the lock; may be null.
  std::function<void()> run;
  bool onHost = false;         // by the thread of host functions
  const void *keeps = nullptr; // what may not go while a graph has this
  /// Allocations that it touches: must live until it is done.
  std::vector<AllocationRef> uses;
  std::vector<uint64_t> usesHost; // addresses of pinned memory
  /// In place of `run`, for what waits for others: called with the lock when
  /// the op is submitted; may add dependencies by Scheduler::order. Returns
  /// what is called, with the lock, once the op is ready; Scheduler::finish
  /// ends it.
  std::function<std::function<void()>(const OpRef &)> meet;
  /// Each time it is submitted, with the lock.
  std::function<void(const OpRef &)> submitted;
};
using WorkRef = std::shared_ptr<const Work>;

struct Op {
  WorkRef work;
  uint64_t lane = 0; // ops of one stream have the same
  unsigned missing = 0;
  bool done = false;
  std::vector<OpRef> followers;
  std::function<void()> post;       // of `meet`
  std::function<void()> afterwards; // with the lock, once it is done
  std::chrono::steady_clock::time_point finished;
};

class Scheduler {
public:
  static Scheduler &get();

  std::mutex mutex; // of all that the stand-ins know

  // All of these want the lock.
  OpRef create(WorkRef work, uint64_t lane);
  /// `op`, which is not submitted, comes after `earlier` (null: after nothing).
  void order(const OpRef &op, const OpRef &earlier);
  void submit(const OpRef &op);
  void finish(const OpRef &op);
  /// Returns once the op is done; the lock is free meanwhile.
  void wait(Lock &lock, const OpRef &op);
  void waitUntil(Lock &lock, const std::function<bool()> &reached);
  /// Somebody asks whether work is done: a few ops may run.
  void nudge();
  /// What was waited for may have come.
  void notify() { changed.notify_all(); }

  /// Something to look at again and again while nothing else is ready, with the
  /// lock; it is dropped once it returns true.
  void poll(std::function<bool()> look);

private:
  Scheduler();
  void work();
  void serveHost();
  void becomeReady(const OpRef &op);
  OpRef take();
  void execute(Lock &lock, const OpRef &op);
  bool lookAround();

  Random random;
  std::vector<OpRef> ready, hostQueue;
  std::vector<std::function<bool()>> looks;
  std::condition_variable runnable, hostRunnable, changed;
  unsigned waiters = 0, budget = 0;
  unsigned left = 0;       // picks until another way to pick is chosen
  uint64_t preference = 0; // 0: none, else lanes are ranked by it
};

/// True on the thread of host functions, where no call of the driver is
/// allowed.
bool isHostFunctionThread();

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_SCHEDULER_H
