//===- StepLine.h - A line for each step ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step takes longer than the others for reasons of its own, so a line says
// what steps of late have typically taken: the median of the last ten, without
// the first two of the run (one fills caches, the other ran meanwhile); before
// there are two others, the mean of all. Logs have each step by itself.
//
// Test: test/Runtime/Executor/StepLineTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H
#define LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H

#include "llmc/Runtime/Executor/RunLoop.h"

#include <optional>
#include <string>
#include <vector>

namespace llmc::rt::exec {

/// What a step took: seconds, of which computing waited for communication.
struct StepTime {
  double seconds = 0;
  std::optional<double> exposed;
};

/// The times of the last steps of a run.
class StepTimes {
public:
  static constexpr size_t shown = 10, kept = 1000, left = 2;

  void add(const StepTime &time);
  /// Of the last ten steps, and of the last thousand. `exposed` is the median
  /// of its own. Assumes that there is one.
  StepTime ofLate() const { return typical(shown); }
  StepTime ofRun() const { return typical(kept); }
  /// Steps of which `ofRun` is the median, or the mean.
  size_t size() const { return times.size(); }
  bool isMedian() const { return isWarm; }

private:
  StepTime typical(size_t most) const;

  std::vector<StepTime> times; ///< A ring, once it is full.
  size_t next = 0;
  bool isWarm = false; ///< The first two are left out.
};

/// What is said of one step besides its metrics.
struct StepFacts {
  int64_t step = 0;
  int64_t ran = 0, steps = 0; ///< Of this run, with this one; in all.
  StepTime time, late;        ///< Of this step; typical of the last ones.
  double dataSeconds = 0;
  /// Of the data, with this step; none where samples are drawn.
  std::optional<double> epochs;
  double eta = 0; ///< Seconds until the last step has ended.
};

/// What turns seconds of a step into rates.
struct StepWork {
  StepSize size;
  /// Flops of the model in a step, and what all devices could do in a second;
  /// 0 where either is unknown.
  double flops = 0, peak = 0;

  static StepWork of(const plan::Plan &plan, const plan::Entry &entry);
  /// Tokens or samples in a second.
  double rate(const StepTime &time) const {
    return static_cast<double>(size.count) / time.seconds;
  }
  /// Of the machine's flops the share that the model uses; none if unknown.
  std::optional<double> utilisation(const StepTime &time) const;
};

/// Of the step the share that computing waited for communication.
std::optional<double> exposedShare(const StepTime &time);

/// "1:22:03"
std::string printDuration(double seconds);
/// Digits that the eye wants of a metric: rates by exponent, others plain.
std::string printMetric(const NamedValue &metric);
/// With its end of line.
std::string printStepLine(const Session &session, const StepWork &work,
                          const StepFacts &facts);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H
