//===- Trace.h - When what ran ----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_TRACE_H
#define LLMC_RUNTIME_COMM_TRACE_H

#include "llmc/Runtime/Device/Device.h"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace llmc::rt {

/// One entry of a stream that ran: from its first part that a worker took to
/// the end of its last. Those of one stream do not overlap. A collective is one
/// of the stream of each member. Equivalent to a pair of CUevents with timing.
struct TraceSpan {
  int device = 0;
  std::string_view stream; ///< Lives as long as the world.
  const Origin *origin = nullptr;
  std::chrono::steady_clock::time_point begin, end;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_TRACE_H
