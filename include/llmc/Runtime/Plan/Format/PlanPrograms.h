//===- PlanPrograms.h - Which programs a stage runs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_PLANPROGRAMS_H
#define LLMC_RUNTIME_PLAN_PLANPROGRAMS_H

#include "llmc/Runtime/Plan/Format/Plan.h"

namespace llmc::rt::plan {

/// Programs that a stage runs in any entry, callees first. Sorted, without
/// duplicates.
std::vector<int32_t> reachablePrograms(const Plan &plan, int64_t stage);
/// The same for one entry.
std::vector<int32_t> entryPrograms(const Plan &plan, const Entry &entry,
                                   int64_t stage);
/// The program and all that it calls, callees first.
std::vector<int32_t> programsUnder(const Plan &plan, int32_t program);
/// Buffers of state frames that the action writes, those of its callees not
/// among them.
std::vector<int32_t> statesWrittenBy(const Plan &plan, const Action &action);
/// The streams that take part in a while which stands on `stream`: that one,
/// and those of its body. Sorted.
std::vector<int32_t> streamsOf(const Plan &plan, const While &loop,
                               int32_t stream);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_PLANPROGRAMS_H
