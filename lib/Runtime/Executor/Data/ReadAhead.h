//===- ReadAhead.h - Data of the next step, in the background ---*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While the devices run a step, a thread reads what the next one takes, so that
// the host finds it in memory, however slow the files are:
//
//   host     take(3) stage begin(4) ...... take(4) stage begin(5)
//   thread                   read(4) .....              read(5)
//
// Tested by test/Runtime/Executor/ReadAheadTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_READAHEAD_H
#define LLMC_LIB_RUNTIME_EXECUTOR_READAHEAD_H

#include "llmc/Runtime/Base/Status.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace llmc::rt::exec {

/// All calls come from one thread. Nothing is allocated after the first.
class ReadAhead {
public:
  /// `read` is called for one step at a time, in the thread.
  explicit ReadAhead(std::function<Status(int64_t)> read)
      : read(std::move(read)) {}
  ~ReadAhead();

  /// Starts to read `step`. What was begun before is dropped.
  void begin(int64_t step);
  /// What reading the step gave, once it has ended; absent where another or
  /// none was begun, which is then dropped.
  std::optional<Status> take(int64_t step);
  /// Waits until nothing is being read, and forgets it.
  void drop();

private:
  enum class State : uint8_t { idle, asked, done, ending };

  void work();

  std::function<Status(int64_t)> read;
  std::mutex mutex;
  std::condition_variable changed;
  State state = State::idle;
  int64_t wanted = 0;
  Status result;
  std::thread thread;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_READAHEAD_H
