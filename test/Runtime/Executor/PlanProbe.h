//===- PlanProbe.h - What a plan file must stand ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan with its folder and data, opened anew for each run of a probe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_PLANPROBE_H
#define LLMC_TEST_RUNTIME_EXECUTOR_PLANPROBE_H

#include "llmc/Runtime/Executor/Session.h"

namespace llmc::rt::test {

struct Probe {
  plan::Plan plan;
  std::string folder, corpus;

  /// A session with data.
  Result<std::unique_ptr<Session>> open(plan::Plan plan,
                                        SessionOptions options) const;
  /// Runs every entry `steps` times; the bits of all metrics and states.
  Result<std::string> runAll(Session &session, int steps) const;
};

/// Prints why; false.
bool fail(const std::string &message);

/// 100 orders, the same bits; without a wait other ones.
bool probeShuffle(const Probe &probe, int64_t count);

/// The target "opaque" of test/Runtime/Backends: the bits of the plan's own.
bool probeOpaque(const Probe &probe);

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_PLANPROBE_H
