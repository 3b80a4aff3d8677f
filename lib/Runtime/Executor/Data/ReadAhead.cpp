//===- ReadAhead.cpp - Data of the next step, in the background -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/ReadAheadTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "ReadAhead.h"

namespace llmc::rt::exec {

ReadAhead::~ReadAhead() {
  drop();
  if (!thread.joinable()) {
    return;
  }
  {
    std::lock_guard lock(mutex);
    state = State::ending;
  }
  changed.notify_all();
  thread.join();
}

void ReadAhead::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] {
      return state == State::asked || state == State::ending;
    });
    if (state == State::ending) {
      return;
    }
    lock.unlock();
    Status status = read(wanted);
    lock.lock();
    result = std::move(status);
    state = State::done;
    changed.notify_all();
  }
}

void ReadAhead::begin(int64_t step) {
  drop();
  {
    std::lock_guard lock(mutex);
    wanted = step;
    state = State::asked;
  }
  if (!thread.joinable()) {
    thread = std::thread([this] { work(); });
  }
  changed.notify_all();
}

std::optional<Status> ReadAhead::take(int64_t step) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return state != State::asked; });
  bool isWanted = state == State::done && wanted == step;
  state = State::idle;
  Status given = std::exchange(result, Status::success());
  return isWanted ? std::optional<Status>(std::move(given)) : std::nullopt;
}

void ReadAhead::drop() { (void)take(-1); }

} // namespace llmc::rt::exec
