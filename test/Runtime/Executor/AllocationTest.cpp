//===- AllocationTest.cpp - A step allocates nothing ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts every call of malloc in this process while steps run: those of oneDNN
// and OpenMP are the library's and are printed, all others are ours, and there
// are none.
//
//===----------------------------------------------------------------------===//

#include "AllocationCount.h"
#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace llmc::rt::test {
namespace {

TEST(AllocationTest, TheHookCounts) {
  if (!canCountAllocations()) {
    GTEST_SKIP() << "a sanitizer owns malloc";
  }
  startCounting();
  // Volatile, lest the pairs be optimised away.
  int *volatile value = new int(3);
  void *volatile raw = std::malloc(16);
  EXPECT_EQ(stopCounting().ours, 2);
  delete value;
  std::free(raw);
}

TEST(AllocationTest, AStepAllocatesNothing) {
  for (int threads : {1, 3}) {
    SessionOptions options;
    options.threads = threads;
    auto session =
        openWalkthrough(makeWalkthroughPlan(4, walkthroughObject), options);
    ASSERT_TRUE(session);
    // The library makes each worker's stream when it is first used.
    for (int step = 0; step < 8; ++step) {
      ASSERT_TRUE(session->run("train", step).ok());
    }
    const std::string entry = "train";
    startCounting();
    bool sound = true;
    for (int step = 8; step < 18; ++step) {
      sound = session->run(entry, step).ok() && sound;
    }
    sound = session->submit(entry, 18).ok() && sound;
    for (int step = 19; step < 28; ++step) {
      sound =
          session->submit(entry, step).ok() && session->wait().ok() && sound;
    }
    sound = session->wait().ok() && sound;
    Calls calls = stopCounting();
    ASSERT_TRUE(sound);
    fmt::print("heap allocations in 20 steps with {} workers: {} from our code "
               "and kernels, {} from libraries\n",
               threads, calls.ours, calls.library);
    EXPECT_EQ(calls.ours, 0);
  }
}

} // namespace
} // namespace llmc::rt::test
