//===- StopSignals.h - SIGINT and SIGTERM -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread of its own takes the signals that ask for the end, so what is done
// about them is ordinary code. The first one asks a run to end after its step;
// a second one, and one that comes while nothing runs, ends the process at
// once, by the signal.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_STOPSIGNALS_H
#define LLMC_RUNTIME_BASE_STOPSIGNALS_H

#include <atomic>
#include <functional>

namespace llmc::rt {

/// Of the whole process.
class StopSignals {
public:
  /// Takes the signals from now on. Called first in a program: threads that
  /// exist already do not know of it. A limit of file sizes is an error of
  /// write from now on, and no signal.
  static void take();

  /// While it lives, a first signal only asks.
  class Run {
  public:
    Run();
    ~Run();
    Run(const Run &) = delete;
  };
  /// Whether somebody asked, and by which signal; SIGTERM where it was another
  /// process of the job that heard of it.
  static std::atomic<bool> &asked();
  static int signal();

  /// What is done before a signal ends the process at once: a temporary folder
  /// goes. Empty: nothing.
  static void setCleanup(std::function<void()> cleanup);
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_STOPSIGNALS_H
