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

#endif // LLMC_TEST_RUNTIME_PLAN_REFUSEDPLAN_H
