//===- SamplePlan.h - A small sound plan for tests --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A two-stage, two-replica training step with everything that plans have: the
// tests break it in one place each.
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_PLAN_SAMPLEPLAN_H
#define LLMC_TEST_RUNTIME_PLAN_SAMPLEPLAN_H

#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <string>

namespace llmc::rt::plan {

/// pipe=2, data=2, 3 microbatches under 1F1B.
Plan makeSamplePlan();
/// Of the kernels of the sample plan.
Manifest makeSampleManifest();

/// Lookups by name.
int32_t findProgram(const Plan &plan, const std::string &name);
int32_t findFrame(const Plan &plan, const std::string &name);
int32_t findBuffer(const Plan &plan, const std::string &name);
/// The first instruction of a kind in a program.
template <typename T> T &firstOf(Plan &plan, const std::string &program) {
  for (Instruction &i :
       plan.programs[findProgram(plan, program)].instructions) {
    if (auto *action = std::get_if<T>(&i.action)) {
      return *action;
    }
  }
  std::abort();
}

} // namespace llmc::rt::plan

#endif // LLMC_TEST_RUNTIME_PLAN_SAMPLEPLAN_H
