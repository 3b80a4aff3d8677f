//===- RefusedPlan.h - A plan that is broken must be refused ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   EXPECT_MISMATCH("to end within the arena", verifyBroken([](Plan &plan) {
//                     plan.arenas[1] -= 64;
//                   }));
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_PLAN_REFUSEDPLAN_H
#define LLMC_TEST_RUNTIME_PLAN_REFUSEDPLAN_H

#include "SamplePlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::plan {

/// A machine that may run the sample plan, with its kernels.
inline Environment makeEnvironment() {
  static const Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2"};
  environment.maxThreads = 2;
  return environment;
}

/// Runs `program` once on one stage.
inline Entry makeEntryOf(int32_t program) {
  Entry entry;
  entry.name = "e";
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {program};
  entry.epilogue = {-1};
  return entry;
}

/// The launch of 'k_embed' in the sample plan.
inline KernelLaunch &embed(Plan &plan) {
  return firstOf<KernelLaunch>(plan, "c0.F");
}

/// What the verifier says of the sample plan after `breakIt`.
template <typename Break>
Status verifyBroken(Break breakIt, const Environment &environment = {}) {
  Plan plan = makeSamplePlan();
  breakIt(plan);
  return verifyPlan(plan, environment);
}

} // namespace llmc::rt::plan

/// The status, of a broken plan, is a mismatch that says `text`.
#define EXPECT_MISMATCH(text, ...)                                             \
  do {                                                                         \
    ::llmc::rt::Status status = __VA_ARGS__;                                   \
    EXPECT_EQ(status.kind(), ::llmc::rt::ErrorKind::mismatch);                 \
    EXPECT_THAT(status.message(), ::testing::HasSubstr(text));                 \
  } while (false)

/// The sample plan is refused after these statements.
#define EXPECT_REFUSED_PLAN(text, ...)                                         \
  EXPECT_MISMATCH(text, verifyBroken([](Plan & plan) __VA_ARGS__))

/// It is refused by a machine that has its kernels.
#define EXPECT_REFUSED_LAUNCH(text, ...)                                       \
  EXPECT_MISMATCH(                                                             \
      text, verifyBroken([](Plan & plan) __VA_ARGS__, makeEnvironment()))

#endif // LLMC_TEST_RUNTIME_PLAN_REFUSEDPLAN_H
