//===- PlanFacts.h - What is known before a plan is written -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program after phase `plan` as the plan that would be written, without
// machine code: its memory, its communication, and what a step takes.
//
// Test: test/Tools/llmc/explain.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_PLANFACTS_H
#define LLMC_TOOLS_LLMC_PLANFACTS_H

#include "../Options/Options.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include "llmc/Runtime/Plan/Verify/PlanTimes.h"
#include <optional>

namespace llmc::driver {

struct PlanFacts {
  rt::plan::Plan plan;
  /// By the machine's numbers, where it has them.
  std::optional<rt::plan::PlannedStep> time;
  /// Operations of a step on the device that has the most.
  double operations = 0;

  /// The stage whose devices need the most bytes, and how many.
  int64_t getFullestStage() const;
  int64_t getMostBytes() const;
  /// The entry that is run, or the first.
  const rt::plan::Entry *findEntry(const std::string &name) const;
};

/// Assumes a module after phase `plan`.
rt::Result<PlanFacts> readFacts(ModuleOp module, const Options &options);

/// "2,048 B (2.00KiB)".
std::string showBytes(int64_t bytes);

/// "1.234 ms a step", or "1.2e+09 operations a step".
std::string showTime(const PlanFacts &facts);

/// Memory by kind of a stage, a line for each kind that has any.
std::string describeKinds(const rt::plan::Plan &plan, int64_t stage);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_PLANFACTS_H
