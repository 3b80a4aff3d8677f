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
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

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

// Transfers of many groups, in both directions, may all wait for a worker.
TEST(AllocationTest, ManyTransfersAtOnceAllocateNothing) {
  constexpr uint32_t numGroups = 32, numParts = 2 * numGroups;
  WorldOptions options;
  options.devices = 2;
  options.threads = 1;
  auto world = makeCpuWorld(options);
  const Origin origin{"exchange", ""};
  std::vector<TransferPart> parts[2];
  Stream *streams[2];
  std::byte *memory[2];
  for (int rank = 0; rank < 2; ++rank) {
    streams[rank] = *world->device(rank).stream({"s", 0, 8, 5 * numParts});
    memory[rank] =
        (*world->device(rank).reserve(8 * numParts, MemoryKind::device)).base;
  }
  for (uint32_t i = 0; i < numGroups; ++i) {
    std::vector<Communicator *> group = *world->split({{0, 1}});
    for (int rank = 0; rank < 2; ++rank) {
      parts[rank].push_back({true, group[rank], memory[rank] + 8 * i, 8});
      parts[rank].push_back(
          {false, group[rank], memory[rank] + 8 * (numGroups + i), 8});
    }
  }
  startCounting();
  for (int rank = 0; rank < 2; ++rank) {
    world->exchange(*streams[rank], parts[rank].data(), numParts, origin);
  }
  bool sound = world->drain(std::chrono::seconds(20)).ok();
  Calls calls = stopCounting();
  EXPECT_TRUE(sound);
  EXPECT_EQ(calls.ours, 0);
}

} // namespace
} // namespace llmc::rt::test
