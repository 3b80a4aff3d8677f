//===- PlanVerify.h - Refuse a plan before it runs --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader's checks, in this order: structure; frames within the arena and
// apart, buffers within frames, operands within buffers on every device; slots
// for the microbatches in flight; the table; boxes of states; kernels against
// the manifest; then one representative device for each stage is walked through
// every entry: collectives and transfers meet their partners, each pair of
// stages has its collectives, and each route its messages, in one order;
// nothing deadlocks with rendezvous sends, every wait has a signal, every read
// sees its own value, ordered; accesses to overlapping bytes of which one
// writes are ordered; slots are written once for each microbatch.
//
// The cost does not depend on the sizes of axes other than the pipeline:
// offsets that depend on them are taken as intervals.
//
// Test: test/Runtime/Plan/Verify/PlanVerify*Test.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_VERIFY_PLANVERIFY_H
#define LLMC_RUNTIME_PLAN_VERIFY_PLANVERIFY_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>
#include <vector>

namespace llmc::rt::plan {

/// What the plan meets on this machine.
struct Environment {
  /// Of all kernel objects together. Null: kernels are not checked (inspection
  /// of a plan without its objects).
  const Manifest *manifest = nullptr;
  /// Of the processor. Checked when a manifest is given.
  std::vector<std::string> features;
  /// Of kernels that the backend launches; empty: the plan's own target.
  std::string kernelTarget;
  /// 0: any number.
  int32_t maxThreads = 0;
  /// Instructions that a walk may take over all stages and entries.
  int64_t maxSteps = int64_t(1) << 24;
};

/// `malformed` for structure, `unsupported` for what is reserved, `infeasible`
/// for a walk above maxSteps, else `mismatch`.
Status verifyPlan(const Plan &plan, const Environment &environment = {});

/// The entry that counts for `entry`, or null. Who runs `entry` runs that one
/// first, on the inputs of each microbatch, and gives the sums of its metrics
/// to the external hyper values of their names.
const Entry *findCounting(const Plan &plan, const Entry &entry);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_VERIFY_PLANVERIFY_H
