//===- Trace.h - What ran, as a file ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace event format that Perfetto and Chrome open: a process for each
// device, a thread for each of its streams, a complete event for each
// instruction.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_TRACE_H
#define LLMC_LIB_RUNTIME_EXECUTOR_TRACE_H

#include "llmc/Runtime/Comm/Trace.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>
#include <vector>

namespace llmc::rt::exec {

/// The spans as JSON; times are in microseconds from the first one on.
std::string printTrace(const plan::Plan &plan, const std::vector<int> &devices,
                       const std::vector<TraceSpan> &spans);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_TRACE_H
