//===- CpuBackendTest.cpp - What the target "cpu" answers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt {
namespace {

TEST(CpuBackendTest, FeaturesAreThoseOfTheProcessor) {
  std::vector<std::string> features = (*findBackend("cpu"))->features();
  // Every x86-64 processor has them: the first and the last of the baseline.
  EXPECT_THAT(features, testing::Contains("fpu"));
  EXPECT_THAT(features, testing::Contains("sse2"));
  EXPECT_THAT(features, testing::Each(testing::Not(testing::IsEmpty())));
}

TEST(CpuBackendTest, DevicesOfAWorld) {
  const Backend &backend = **findBackend("cpu");
  WorldOptions options;
  options.devices = 1024;
  EXPECT_EQ((*backend.makeWorld(options))->size(), 1024);
  options.devices = int64_t(1) << 33;
  Status status = backend.makeWorld(options).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(), "expected a plan for at most 1024 virtual "
                              "devices, got 8589934592");
}

// More than the machine has, by one device alone and by two together.
TEST(CpuBackendTest, MemoryOfTheMachine) {
  WorldOptions options;
  options.devices = 2;
  auto world = *(*findBackend("cpu"))->makeWorld(options);
  Device &first = world->device(0), &second = world->device(1);
  uint64_t there = first.memoryBytes();
  ASSERT_GT(there, 4096u);
  EXPECT_EQ(first.reserve(there + 1, MemoryKind::device).kind(),
            ErrorKind::outOfMemory);
  ASSERT_TRUE(first.reserve(there - 4096, MemoryKind::device).ok());
  EXPECT_TRUE(second.reserve(4096, MemoryKind::device).ok());
  Result<Arena> more = second.reserve(1, MemoryKind::device);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.message(), "expected at most " + std::to_string(there) +
                                " bytes for the devices of this machine, got " +
                                std::to_string(there + 1));
}

} // namespace
} // namespace llmc::rt
