//===- PlanPrint.h - Plans as text and JSON ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For `llmc inspect plan` and `llmc-run --inspect`. The text is for people: a
// summary, memory by kind, entries with their tables, programs by stream. The
// JSON has every field under its own name.
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_PRINT_PLANPRINT_H
#define LLMC_RUNTIME_PLAN_PRINT_PLANPRINT_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>

namespace llmc::rt::plan {

/// Both assume a plan that passed `checkStructure`.
std::string printPlan(const Plan &plan);
std::string printPlanAsJson(const Plan &plan);

/// What reports and traces call an instruction: "k_0123456789abcdef",
/// "contraction", "all_reduce c3 over \"data\"", "send t0", "copy".
std::string nameOfAction(const Plan &plan, const Action &action);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_PRINT_PLANPRINT_H
