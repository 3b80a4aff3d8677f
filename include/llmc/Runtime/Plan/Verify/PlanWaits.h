//===- PlanWaits.h - Plans with one wait less -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler emits reduced waits: without any one of them the plan is refused.
// These find the ones that are too many.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_VERIFY_PLANWAITS_H
#define LLMC_RUNTIME_PLAN_VERIFY_PLANWAITS_H

#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <string>
#include <vector>

namespace llmc::rt::plan {

/// A wait by its program and its place in it.
struct WaitPlace {
  int32_t program = 0;
  int32_t instruction = 0;
};

std::vector<WaitPlace> waitsOf(const Plan &plan);

/// The plan without that wait.
Plan withoutWait(const Plan &plan, WaitPlace place);

/// The waits without which the plan is still accepted; one verification each.
std::vector<WaitPlace> redundantWaits(const Plan &plan,
                                      const Environment &environment = {});

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_VERIFY_PLANWAITS_H
