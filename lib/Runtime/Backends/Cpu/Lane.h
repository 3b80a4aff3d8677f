//===- Lane.h - Where this process waits for others -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What waits for other processes must not hold a worker. A group with members
// in other processes has a thread for its collectives and one for each
// direction of its transfers; that each is used by one thing at a time, in the
// members' order of issue, the group's sequence numbers see to.
//
//   pool    last local member stands -> start()      ...      moves cursors
//   lane                                run: messages, arithmetic  -> finish
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_LANE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_LANE_H

#include "llmc/Runtime/Base/Status.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace llmc::rt::cpu {

class Pool;

class Lane {
public:
  /// `run` is called without the pool's mutex, `finish` with it.
  Lane(Pool &pool, std::function<Status()> run, std::function<void()> finish);
  ~Lane();
  Lane(const Lane &) = delete;

  /// The pool's mutex is held, and the lane is idle.
  void start();

private:
  void work();

  Pool &pool;
  std::function<Status()> run;
  std::function<void()> finish;
  std::condition_variable wake;
  bool wanted = false, leaving = false;
  std::thread thread;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_LANE_H
