//===- ProcessLines.h - What the processes of a job say ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of several processes as one text: each whole, with the number of its
// process before it. What several say at the same time, as a warning about the
// plan that all of them have read, is one line with all their numbers:
//
//   process 0: warning: old plan       [0-2] warning: old plan
//   process 1: warning: old plan   ->  [2] lost process 1
//   process 2: warning: old plan
//   process 2: lost process 1
//
// In a folder each process has a file of its own with all that it has said.
//
// Tested by test/Runtime/Job/LaunchTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_JOB_PROCESSLINES_H
#define LLMC_LIB_RUNTIME_JOB_PROCESSLINES_H

#include "llmc/Runtime/Job/Launch.h"

#include <deque>
#include <map>
#include <memory>

namespace llmc::rt::job {

class ProcessLines {
public:
  explicit ProcessLines(const LaunchOptions &options) : options(options) {}
  ~ProcessLines() { flush(/*all=*/true); }

  /// Makes the files of `count` processes from number `first` on, or goes on
  /// with those that are there; `turn` is the number of the restart. Errors: 14
  /// where the folder or a file cannot be written. Without a folder nothing.
  Status open(int first, int count, int turn);
  /// A line of process `number` without its end, of its output or its errors.
  void add(int number, bool isOutput, const std::string &line);
  /// Prints what has waited for long enough, or all.
  void flush(bool all);

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::vector<int> numbers; ///< Ascending.
    bool isOutput = false;
    std::string text;
    Clock::time_point since;
  };
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  void write(int number, const std::string &line);

  const LaunchOptions &options;
  std::deque<Entry> waiting;
  std::map<int, std::unique_ptr<std::FILE, Close>> files;
};

/// "0-3" or "0,2-3" of ascending numbers.
std::string printNumbers(const std::vector<int> &numbers);

} // namespace llmc::rt::job

#endif // LLMC_LIB_RUNTIME_JOB_PROCESSLINES_H
