//===- PlanWaits.cpp - Plans with one wait less ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Verify/PlanVerifyTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Verify/PlanWaits.h"

namespace llmc::rt::plan {

std::vector<WaitPlace> waitsOf(const Plan &plan) {
  std::vector<WaitPlace> places;
  for (size_t p = 0; p < plan.programs.size(); ++p) {
    const auto &instructions = plan.programs[p].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (std::holds_alternative<Wait>(instructions[i].action)) {
        places.push_back({static_cast<int32_t>(p), static_cast<int32_t>(i)});
      }
    }
  }
  return places;
}

Plan withoutWait(const Plan &plan, WaitPlace place) {
  Plan copy = plan;
  auto &instructions = copy.programs[place.program].instructions;
  instructions.erase(instructions.begin() + place.instruction);
  return copy;
}

std::vector<WaitPlace> redundantWaits(const Plan &plan,
                                      const Environment &environment) {
  std::vector<WaitPlace> redundant;
  for (WaitPlace place : waitsOf(plan)) {
    if (verifyPlan(withoutWait(plan, place), environment).ok()) {
      redundant.push_back(place);
    }
  }
  return redundant;
}

} // namespace llmc::rt::plan
