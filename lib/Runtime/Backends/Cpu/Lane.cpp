//===- Lane.cpp - Where this process waits for others ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Comm with several processes.
//
//===----------------------------------------------------------------------===//

#include "Lane.h"

#include "Pool.h"

namespace llmc::rt::cpu {

Lane::Lane(Pool &pool, std::function<Status()> run,
           std::function<void()> finish)
    : pool(pool), run(std::move(run)), finish(std::move(finish)),
      thread([this] { work(); }) {}

Lane::~Lane() {
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    leaving = true;
  }
  wake.notify_one();
  thread.join();
}

void Lane::start() {
  ++pool.waiting;
  wanted = true;
  wake.notify_one();
}

void Lane::work() {
  std::unique_lock<std::mutex> lock(pool.mutex);
  for (;;) {
    wake.wait(lock, [this] { return wanted || leaving; });
    if (leaving) {
      return;
    }
    wanted = false;
    lock.unlock();
    Status status = run();
    lock.lock();
    --pool.waiting;
    if (!status.ok()) {
      pool.stop(std::move(status));
    } else if (pool.sticky.ok()) {
      finish();
      pool.settleAll();
    }
    pool.goOn();
    if (!pool.ready.empty()) {
      pool.wake.notify_one();
    }
  }
}

} // namespace llmc::rt::cpu
