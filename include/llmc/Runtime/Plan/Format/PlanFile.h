//===- PlanFile.h - Plans as files ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan file is a header of 32 bytes and a FlatBuffer (plan.fbs):
//
//   "LLMCPLAN"  version:u32  zero:u32  size:u64  XXH3(payload; seed
//   version):u64
//
// Reading checks, in this order: header, size and checksum, the FlatBuffers
// verifier with our limits, then every index, enumerator and size, so that what
// walks a plan afterwards needs no checks of its own. What the plan *means* is
// checked by verifyPlan.
//
// Test: test/Runtime/Plan/Format/PlanFileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_PLANFILE_H
#define LLMC_RUNTIME_PLAN_FORMAT_PLANFILE_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>
#include <string_view>

namespace llmc::rt::plan {

/// The same plan gives the same bytes. `infeasible` above 2 GiB.
Result<std::string> serializePlan(const Plan &plan);
/// Error `malformed`, or `mismatch` for a newer version.
Result<Plan> parsePlan(std::string_view bytes);

Status writePlan(const Plan &plan, const std::string &path);
/// Reads the file, or `plan.llmc` in the folder, `path`.
Result<Plan> readPlan(const std::string &path);
/// `path`, or the plan's file in it where `path` is a folder.
std::string planFileOf(const std::string &path);

/// Without a look at the plan: for tests that write what is wrong.
std::string serializeUnchecked(const Plan &plan);
/// Writes size and checksum of the header anew, for the same tests.
void resealPlan(std::string &bytes);

/// Every index within its table, enumerators known, sizes not negative,
/// expressions acyclic: what `parsePlan` guarantees. Error `malformed`.
Status checkStructure(const Plan &plan);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_PLANFILE_H
