//===- StepLine.h - A line for each step ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Executor/RunLoopTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H
#define LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H

#include "llmc/Runtime/Executor/RunLoop.h"

#include <string>

namespace llmc::rt::exec {

/// What is said of one step besides its metrics.
struct StepFacts {
  int64_t step = 0;
  double seconds = 0;
  double dataSeconds = 0;
  double rate = 0; ///< Tokens or samples in a second.
  double eta = 0;  ///< Seconds until the last step has ended.
};

/// "1:22:03"
std::string printDuration(double seconds);
/// With its end of line.
std::string printStepLine(const Session &session, const StepSize &size,
                          const StepFacts &facts);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_STEPLINE_H
