//===- MutationTest.cpp - Broken plans against the loader and executor ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1,000 mutations of the walkthrough's plan with good checksums: each is
// refused when it is read or opened, or runs a step inside its buffers. Run it
// under AddressSanitizer (preset asan) too.
//
//===----------------------------------------------------------------------===//

#include "PlanMutator.h"
#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace llmc::rt::test {
namespace {

TEST(MutationTest, RefusedOrInsideItsArena) {
  plan::Plan original = makeWalkthroughPlan(2, walkthroughObject);
  plan::Environment environment;
  environment.maxSteps = 100000;
  // By exit code of opening it, then of running it.
  std::map<int, int> opened, ran;
  int tooLarge = 0;
  auto run = [&](const plan::Plan &plan) {
    if (plan::isTooLargeToRun(plan)) {
      ++tooLarge;
      return;
    }
    SessionOptions options;
    options.folder = walkthroughFolder;
    options.threads = 1;
    options.poison = 0xa5;
    options.deadline = std::chrono::seconds(10);
    auto session = Session::open(plan, options);
    ++opened[exitCode(session.ok() ? ErrorKind::ok : session.kind())];
    // A plan may have no entry.
    if (!session.ok() || plan.entries.empty()) {
      return;
    }
    Status status = (*session)->useData("", walkthroughCorpus());
    if (status.ok()) {
      status = (*session)->run(plan.entries[0].name, 0);
    }
    ++ran[exitCode(status.kind())];
    // A world that is dead after an error gives no memory.
    if (auto audit = (*session)->auditMemory(); status.ok() || audit.ok()) {
      ASSERT_TRUE(audit.ok()) << audit.message();
      EXPECT_EQ(audit->touchedOutside, 0u);
    }
  };
  auto counts = plan::mutatePlan(original, 1000, 20240611, environment, run);
  fmt::print("{}\n", counts.describe());
  for (auto [code, number] : counts.byCode) {
    EXPECT_TRUE(code == 0 || code == 3 || code == 4 || code == 5 || code == 15)
        << number << " with code " << code;
  }
  fmt::print("not opened: {} with large arenas\n", tooLarge);
  for (auto [code, number] : opened) {
    fmt::print("opened: {} with code {}\n", number, code);
    EXPECT_TRUE(code == 0 || code == 3 || code == 5 || code == 15) << code;
  }
  for (auto [code, number] : ran) {
    fmt::print("ran a step: {} with code {}\n", number, code);
    EXPECT_NE(code, exitCode(ErrorKind::internal));
    EXPECT_NE(code, exitCode(ErrorKind::timeout));
  }
  EXPECT_GT(ran[0], 50);
}

} // namespace
} // namespace llmc::rt::test
