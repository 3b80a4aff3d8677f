//===- PlanMutator.h - Makes a plan wrong in one field ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broken plans with good checksums. Half of the mutations change bytes of the
// file, half change a field by its name. Each is parsed and verified; what is
// accepted goes to `run`, which may execute it under a sanitizer.
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_PLAN_PLANMUTATOR_H
#define LLMC_TEST_RUNTIME_PLAN_PLANMUTATOR_H

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <functional>
#include <map>
#include <string>

namespace llmc::rt::plan {

struct MutationCounts {
  /// By exit code; 0: accepted.
  std::map<int, int64_t> byCode;
  /// Accepted mutations of fields, by the field's name.
  std::map<std::string, int64_t> acceptedFields;
  int64_t accepted() const {
    auto found = byCode.find(0);
    return found == byCode.end() ? 0 : found->second;
  }
  /// "1000 mutations: 3 malformed, ..."
  std::string describe() const;
};

/// Whether a mutation made the arenas so large that filling them with a pattern
/// would take the machine's memory. Such a plan is legal, hence not refused.
bool isTooLargeToRun(const Plan &plan);

using RunPlan = std::function<void(const Plan &)>;

/// Deterministic in `seed`.
MutationCounts mutatePlan(const Plan &plan, int64_t count, uint64_t seed,
                          const Environment &environment,
                          const RunPlan &run = {});

/// The bytes of one broken copy, a pure function of `seed` and `index`.
std::string makeMutant(const Plan &plan, uint64_t seed, uint64_t index);

} // namespace llmc::rt::plan

#endif // LLMC_TEST_RUNTIME_PLAN_PLANMUTATOR_H
