//===- LossWatch.h - Which loss is none to go on from -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loss that is NaN or infinite, or a spike: one above a multiple of the
// median of the last good ones. The median is not moved by the spikes before
// it, and is only asked where it is positive.
//
// Test: test/Runtime/Executor/LossWatchTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_LOSSWATCH_H
#define LLMC_LIB_RUNTIME_EXECUTOR_LOSSWATCH_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <deque>

namespace llmc::rt::exec {

class LossWatch {
public:
  /// Good losses that count for the median, and how many there must be.
  static constexpr size_t most = 32, least = 8;

  /// A spike is more than `factor` times the median; 0: there are none.
  LossWatch(bool refusesNan, double factor)
      : refusesNan(refusesNan), factor(factor) {}

  /// Error (13). A loss that is good counts from now on.
  Status judge(double loss, int64_t step);

private:
  double median() const;

  bool refusesNan;
  double factor;
  std::deque<double> good; ///< The oldest first.
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_LOSSWATCH_H
