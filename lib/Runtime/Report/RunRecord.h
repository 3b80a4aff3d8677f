//===- RunRecord.h - What a run wrote down ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_REPORT_RUNRECORD_H
#define LLMC_LIB_RUNTIME_REPORT_RUNRECORD_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmc::rt::report {

/// The numbers of a line that says `step`; what is null or no number is absent.
struct StepRecord {
  int64_t step = 0;
  std::map<std::string, double> values;
};

/// A line of --log is a step; lines of --events say what they are.
struct RunRecord {
  std::string planHash; ///< "" where no line says it.
  std::vector<StepRecord> steps, evaluations;
  std::vector<int64_t> checkpoints; ///< Steps after which one was written.
  std::vector<std::string> warnings;
  /// Why and when it ended; "" where it does not say so.
  std::string reason;
};

/// Errors (3) with the line.
Result<RunRecord> readRun(const std::string &path);

/// An instruction that ran, in seconds from the first one on.
struct TraceEvent {
  int64_t device = 0;
  std::string stream, name, source;
  double begin = 0, end = 0;
};

/// Of all processes, in the order of their files. Errors: 3.
Result<std::vector<TraceEvent>> readTrace(const std::string &path);

} // namespace llmc::rt::report

#endif // LLMC_LIB_RUNTIME_REPORT_RUNRECORD_H
