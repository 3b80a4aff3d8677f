//===- CpuBackendTest.cpp - What the target "cpu" answers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Backend.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

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
  rlimit addresses;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &addresses), 0);
  if (addresses.rlim_cur <= there)
    GTEST_SKIP() << "this process may not have the machine's memory";
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

WorldOptions withThreads(int threads) {
  WorldOptions options;
  options.threadsPerDevice = threads;
  return options;
}

/// The first row of the call that computes each row, with three threads.
std::vector<int64_t> callsOf(int64_t rows, int64_t rowsPerBlock,
                             const WorldOptions &options = withThreads(3)) {
  auto world = *(*findBackend("cpu"))->makeWorld(options);
  Device &device = world->device(0);
  EXPECT_TRUE(device.load(LLMC_TEST_KERNELS).ok());
  KernelShape shape{"marks", rows};
  shape.rowsPerBlock = rowsPerBlock;
  shape.images = {{KernelFormat::object, "", "mark_rows", {}}};
  Result<const Kernel *> kernel = device.kernel(shape);
  EXPECT_TRUE(kernel.ok()) << kernel.message();
  // What lies behind the rows stays as it is.
  std::vector<int64_t> firsts(static_cast<size_t>(rows) + 8, -1);
  void *buffers[] = {firsts.data()};
  Origin origin{"marks", ""};
  Stream *stream = *device.stream({"s", 0, 4, 4});
  device.launch(*stream, {*kernel, buffers, 1, nullptr, 0, nullptr}, origin);
  EXPECT_TRUE(world->drain(std::chrono::seconds(10)).ok());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(firsts.back(), -1);
    firsts.pop_back();
  }
  return firsts;
}

// Threads share blocks of rows, of which the last may be short.
TEST(CpuBackendTest, SlicesBeginAtBlocks) {
  using Firsts = std::vector<int64_t>;
  EXPECT_EQ(callsOf(10, 1), Firsts({0, 0, 0, 0, 4, 4, 4, 7, 7, 7}));
  EXPECT_EQ(callsOf(10, 4), Firsts({0, 0, 0, 0, 4, 4, 4, 4, 8, 8}));
  EXPECT_EQ(callsOf(8, 4), Firsts({0, 0, 0, 0, 4, 4, 4, 4}));
  EXPECT_EQ(callsOf(3, 4), Firsts({0, 0, 0}));
  EXPECT_EQ(callsOf(0, 4), Firsts());
  // Of one thread, unless more are asked for.
  EXPECT_EQ(callsOf(4, 1, WorldOptions()), Firsts({0, 0, 0, 0}));
}

TEST(CpuBackendTest, KernelsOfOtherDevicesAreRefused) {
  auto world = *(*findBackend("cpu"))->makeWorld({});
  auto messageOf = [&](const KernelShape &shape) {
    Result<const Kernel *> kernel = world->device(0).kernel(shape);
    EXPECT_EQ(kernel.kind(), ErrorKind::mismatch);
    return kernel.message();
  };
  KernelShape shape{"k", 4};
  EXPECT_EQ(messageOf(shape),
            "expected an image of format object for kernel 'k', got none");
  shape.images = {{KernelFormat::ptx, "", "k", "text"}};
  EXPECT_EQ(messageOf(shape),
            "expected an image of format object for kernel 'k', got ptx");
  shape.threadsPerBlock = 2;
  EXPECT_EQ(messageOf(shape),
            "expected kernel 'k' to have blocks of one thread without shared "
            "memory on a processor, got 2 threads and 0 bytes");
  shape.threadsPerBlock = 1;
  shape.sharedBytes = 8;
  EXPECT_THAT(messageOf(shape), testing::HasSubstr("got 1 threads and 8 byte"));
}

// A kernel is looked for in each object that is loaded.
TEST(CpuBackendTest, KernelsOfSeveralObjects) {
  auto world = *(*findBackend("cpu"))->makeWorld({});
  Device &device = world->device(0);
  auto messageOf = [&](const char *symbol) {
    KernelShape shape{"k", 4};
    shape.images = {{KernelFormat::object, "", symbol, {}}};
    return device.kernel(shape).message();
  };
  EXPECT_EQ(messageOf("mark_rows"),
            "expected kernel 'mark_rows' in the plan's kernel objects");
  // Neither has a manifest.
  EXPECT_EQ(*device.load("libm.so.6"), nullptr);
  EXPECT_EQ(messageOf("mark_rows"),
            "expected kernel 'mark_rows' in the plan's kernel objects");
  for (int times : {1, 2}) {
    EXPECT_EQ(*device.load(LLMC_TEST_KERNELS), nullptr) << times;
    EXPECT_EQ(messageOf("mark_rows"), "");
    EXPECT_EQ(messageOf("cos"), "");
  }
}

} // namespace
} // namespace llmc::rt
