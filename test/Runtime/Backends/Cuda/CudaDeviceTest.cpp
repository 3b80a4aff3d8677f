//===- CudaDeviceTest.cpp - Launches, graphs and traces on GPUs -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conformance suites do not ask, on the stand-in driver: kernels as a
// compiler makes them, steps that are captured and replayed, and what a report
// says.
//
//===----------------------------------------------------------------------===//

#include "../../Comm/Worlds.h"
#include "llmc/Runtime/Base/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace llmc::rt::test {
namespace {

constexpr std::chrono::seconds patience(20);
const Origin origin{"operation", "model.py:88"};
const CopyBox box8{8, {}};

/// The bytes of the image that tests launch from.
const std::string &imageBytes() {
  static const std::string bytes = *readFile(LLMC_TEST_LANE_KERNELS);
  return bytes;
}

KernelShape kernelOf(const std::string &symbol, int64_t rows,
                     uint32_t threads) {
  KernelShape shape;
  shape.name = symbol;
  shape.rows = rows;
  shape.rowsPerBlock = threads;
  shape.threadsPerBlock = threads;
  shape.images = {{KernelFormat::cubin, "sm_90", symbol, imageBytes()}};
  return shape;
}

class CudaDeviceTest : public testing::TestWithParam<WorldKind> {
protected:
  std::unique_ptr<World> world = GetParam().make(1);
  Device &device = world->device(0);
  Stream &stream = **device.stream({"s", 0, 64, 256});

  void launch(const Kernel *kernel, std::vector<void *> buffers,
              std::vector<int64_t> scalars, void *scratch = nullptr) {
    device.launch(stream,
                  {kernel, buffers.data(),
                   static_cast<uint32_t>(buffers.size()), scalars.data(),
                   static_cast<uint32_t>(scalars.size()), scratch},
                  origin);
  }
};

// Parameters stand in the order of KernelAbi.h, and a launch has all rows.
TEST_P(CudaDeviceTest, LaunchesAreAsTheManifestSays) {
  Mirror mirror(*world, device, 64);
  KernelShape shape = kernelOf("report", 70, 32);
  shape.scratchBytes = 24;
  Result<const Kernel *> kernel = device.kernel(shape);
  ASSERT_TRUE(kernel.ok()) << kernel.message();
  std::byte *there = mirror.at(mirror.host());
  auto run = [&](const Kernel *kernel) {
    launch(kernel, {there}, {}, there + 40);
    EXPECT_TRUE(world->drain(patience).ok());
    EXPECT_TRUE(mirror.pull().ok());
    return reinterpret_cast<const int64_t *>(mirror.host());
  };
  const int64_t *seen = run(*kernel);
  EXPECT_EQ(seen[0], 3);
  EXPECT_EQ(seen[1], 32);
  EXPECT_EQ(seen[2], 0);
  EXPECT_EQ(seen[3], 70);
  // The driver translates addresses for kernels: it is not null.
  EXPECT_NE(seen[4], 0);
  seen = run(*device.kernel(kernelOf("report", 70, 32)));
  EXPECT_EQ(seen[4], 0);
}

// Steps of one key are the same work on other data, whoever enqueues them.
TEST_P(CudaDeviceTest, StepsOfOneKeyAreReplayed) {
  constexpr int64_t rows = 100;
  Mirror mirror(*world, device, 2 * 8 * rows);
  const Kernel *kernel = *device.kernel(kernelOf("scale", rows, 32));
  auto *in = reinterpret_cast<int64_t *>(mirror.host());
  int walks = 0;
  for (int step = 0; step < 4; ++step) {
    for (int64_t i = 0; i < rows; ++i) {
      in[i] = 10 * step + i;
    }
    ASSERT_TRUE(mirror.push().ok());
    if (world->beginStep(5)) {
      ++walks;
      launch(kernel, {mirror.at(in + rows), mirror.at(in)}, {3});
    }
    ASSERT_TRUE(world->submit().ok());
    ASSERT_TRUE(world->wait(patience).ok());
    ASSERT_TRUE(mirror.pull().ok());
    for (int64_t i = 0; i < rows; ++i) {
      ASSERT_EQ(in[rows + i], 3 * (10 * step + i));
    }
  }
  EXPECT_EQ(walks, GetParam().name == "CudaGraphs" ? 1 : 4);
}

// A step of two streams, with work that no event orders before and after it.
TEST_P(CudaDeviceTest, StreamsOfAStepAreJoined) {
  Mirror mirror(*world, device, 64);
  auto *here = reinterpret_cast<int64_t *>(mirror.host());
  std::byte *there = mirror.at(here);
  Stream &other = **device.stream({"t", 5, 64, 64});
  Event &event = **device.event({"e", ""});
  for (int step = 0; step < 3; ++step) {
    device.fill(other, there, static_cast<uint64_t>(step + 1), 8, box8, origin);
    if (world->beginStep(1)) {
      device.copy(stream, there + 8, there, box8, origin);
      device.record(stream, event, origin);
      device.wait(other, event, origin);
      device.copy(other, there + 16, there + 8, box8, origin);
    }
    ASSERT_TRUE(world->submit().ok());
    // Of the step that has been captured; this record is of no step.
    device.wait(stream, event, origin);
    device.copy(stream, there + 24, there + 16, box8, origin);
    ASSERT_TRUE(world->drain(patience).ok());
    ASSERT_TRUE(mirror.pull().ok());
    EXPECT_EQ(here[3], step + 1);
  }
}

TEST_P(CudaDeviceTest, KernelsThatDoNotFitAreRefused) {
  auto messageOf = [&](const KernelShape &shape) {
    Result<const Kernel *> kernel = device.kernel(shape);
    EXPECT_EQ(kernel.kind(), ErrorKind::mismatch);
    return kernel.ok() ? "" : kernel.message();
  };
  EXPECT_THAT(messageOf(kernelOf("lacks", 1, 32)),
              testing::HasSubstr("expected function 'lacks' of kernel 'lacks': "
                                 "CUDA_ERROR_NOT_FOUND"));
  EXPECT_EQ(messageOf(kernelOf("scale", 1, 2048)),
            "expected 1 to 1024 threads in a block of kernel 'scale', got "
            "2048");
  KernelShape shape = kernelOf("scale", 1, 32);
  shape.sharedBytes = 1 << 20;
  EXPECT_THAT(messageOf(shape),
              testing::HasSubstr("bytes of shared memory in a block of kernel "
                                 "'scale', got 1048576"));
  shape.sharedBytes = 100 << 10;
  EXPECT_TRUE(device.kernel(shape).ok());
  shape = kernelOf("scale", 1, 32);
  shape.images[0].data = "no image at all, of any kind, and of some length";
  EXPECT_THAT(messageOf(shape),
              testing::HasSubstr("expected cubin sm_90 of kernel 'scale' to "
                                 "load: CUDA_ERROR_"));
  shape.images[0].format = KernelFormat::object;
  EXPECT_THAT(messageOf(shape), testing::HasSubstr("compute capability 9.0"));
}

// A group of one has all collectives, and NCCL is not asked for.
TEST_P(CudaDeviceTest, AGroupOfOneCopies) {
  Mirror mirror(*world, device, 64);
  auto *here = reinterpret_cast<int32_t *>(mirror.host());
  here[0] = 7;
  here[1] = 8;
  ASSERT_TRUE(mirror.push().ok());
  Communicator *alone = world->split({{0}})->front();
  Collective collective;
  collective.kind = CollectiveKind::reduceScatter;
  collective.buffers = {{2, 1, 1}};
  collective.symbol = "c";
  const void *in = mirror.at(here);
  void *out = mirror.at(here + 4);
  alone->collective(stream, collective, &in, &out, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  ASSERT_TRUE(mirror.pull().ok());
  EXPECT_EQ(here[4], 7);
  EXPECT_EQ(here[5], 8);
  EXPECT_EQ(alone->counts().collectives[2], 1u);
  EXPECT_EQ(alone->counts().bytes[2], 8u);
}

// What fails while it is enqueued names the entry, and ends the world.
TEST_P(CudaDeviceTest, FaultsNameTheEntry) {
  Mirror mirror(*world, device, 64);
  const CopyBox spread{1, {{5000, 2, 0}}};
  device.copy(stream, mirror.at(mirror.host()), mirror.at(mirror.host()),
              spread, origin);
  Status status = world->drain(patience);
  EXPECT_EQ(status.kind(), ErrorKind::unsupported);
  EXPECT_EQ(status.message(),
            "expected at most 4096 rows or planes that lie apart in "
            "'operation', got 5000 at 'operation' (model.py:88) in stream 's' "
            "of device 0");
  EXPECT_EQ(world->submit().message(), status.message());
}

// A step that does not end in time says so; all later calls say the same.
TEST_P(CudaDeviceTest, AStepThatHangsIsOverdue) {
  Arena flags = *device.reserve(8, MemoryKind::host);
  const Kernel *kernel = *device.kernel(kernelOf("hold", 1, 1));
  if (world->beginStep(0)) {
    launch(kernel, {flags.base}, {});
  }
  ASSERT_TRUE(world->submit().ok());
  Status status = world->wait(std::chrono::milliseconds(100));
  EXPECT_EQ(status.kind(), ErrorKind::timeout);
  EXPECT_EQ(status.message(),
            "waited 100 ms for 1 devices; device 0 runs kernels");
  EXPECT_EQ(world->drain(patience).message(), status.message());
  *reinterpret_cast<volatile int64_t *>(flags.base) = 1;
}

// While the device's thread asks for a flag the host goes on, up to the
// deadline; a step with a loop is no graph.
TEST_P(CudaDeviceTest, ALoopThatDoesNotEndIsOverdue) {
  Mirror mirror(*world, device, 64);
  std::byte *there = mirror.at(mirror.host());
  Repeat &repeat = **device.repeat({&stream});
  static const Origin loop{"loop", "model.py:12"};
  for (uint64_t key : {0, 1}) {
    ASSERT_TRUE(world->beginStep(key));
    device.fill(stream, there, 1, 1, box8, origin);
    device.beginRepeat(repeat, there, loop);
    device.fill(stream, there + 8, 1, 1, box8, origin);
    device.endRepeat(repeat, loop);
    ASSERT_TRUE(world->submit().ok());
  }
  EXPECT_EQ(world->note().empty(), GetParam().name == "CudaEager");
  Status status = world->wait(std::chrono::milliseconds(100));
  EXPECT_EQ(status.kind(), ErrorKind::timeout);
  EXPECT_THAT(status.message(),
              testing::MatchesRegex(
                  "waited 100 ms for 1 devices; device 0 is in trip [0-9]+ of "
                  "the loop at 'loop' \\(model.py:12\\)"));
  EXPECT_EQ(world->drain(patience).message(), status.message());
}

INSTANTIATE_TEST_SUITE_P(Worlds, CudaDeviceTest,
                         testing::ValuesIn(cudaWorlds({})),
                         [](const auto &info) { return info.param.name; });

// What `llmc train --device cuda` compiles for.
TEST(CudaTargetTest, CodeOfTheGpuThatIsThere) {
  EXPECT_EQ(*(*findBackend("cuda"))->codeTarget(), "cuda:sm_90");
  EXPECT_EQ(*(*findBackend("cpu"))->codeTarget(), "cpu");
}

// Entries of one stream follow each other; waits are no entries.
TEST(CudaTraceTest, SpansOfAStep) {
  WorldOptions options;
  options.trace = true;
  auto world = *(*findBackend("cuda"))->makeWorld(options);
  Device &device = world->device(0);
  Mirror mirror(*world, device, 64);
  std::byte *there = mirror.at(mirror.host());
  Stream &compute = **device.stream({"T", 0, 8, 8});
  Stream &other = **device.stream({"C", 0, 8, 8, StreamUse::communication});
  Event &event = **device.event({"e", ""});
  const Origin first{"first", ""}, second{"second", ""}, wait{"wait", ""};
  for (int step = 0; step < 2; ++step) {
    // What is captured has no times.
    ASSERT_TRUE(world->beginStep(0));
    device.fill(other, there, 1, 8, box8, first);
    device.record(other, event, wait);
    device.wait(compute, event, wait);
    device.fill(compute, there, 2, 8, box8, second);
    ASSERT_TRUE(world->submit().ok());
    ASSERT_TRUE(world->wait(patience).ok());
    EXPECT_GE(world->exposedSeconds(), 0);
    std::vector<TraceSpan> spans = world->takeTrace();
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(spans[0].origin, &first);
    EXPECT_EQ(spans[0].stream, "C");
    EXPECT_EQ(spans[1].origin, &second);
    EXPECT_LE(spans[0].begin, spans[0].end);
    EXPECT_LE(spans[0].end, spans[1].begin);
  }
}

} // namespace
} // namespace llmc::rt::test
