//===- Timing.h - What each part of a compilation takes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc compile --timing` prints a line on stderr for each pass and each step
// between passes: its processor time, and the peak of the process's memory so
// far.
//
//     0.213 s    135 MB  training llmc-differentiate
//
// Test: test/Tools/llmc/timing.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_TIMING_H
#define LLMC_TOOLS_LLMC_TIMING_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace llmc::driver {

/// Reports laps; says nothing unless enabled.
class Stopwatch {
public:
  explicit Stopwatch(bool isEnabled);

  /// What was done since the last lap, or since construction.
  void lap(const llvm::Twine &what);

private:
  bool isEnabled;
  double last = 0;
};

/// Reports each pass of `phase`, with the verifier that runs after it.
std::unique_ptr<mlir::PassInstrumentation> makePassTimes(llvm::StringRef phase);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_TIMING_H
