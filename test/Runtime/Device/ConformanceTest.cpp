//===- ConformanceTest.cpp - What every device must do --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, streams and events, on every world of test/Runtime/Comm/Worlds.h.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>

namespace llmc::rt::test {
namespace {

constexpr std::chrono::seconds patience(20);
const Origin origin{"operation", "model.py:88"};
const CopyBox box4{4, {}}, box8{8, {}}, box16{16, {}};

class DeviceTest : public testing::TestWithParam<WorldKind> {
protected:
  std::unique_ptr<World> world = GetParam().make(1);
  Device &device = world->device(0);

  Stream &stream(const std::string &name) {
    return **device.stream({name, 0, 64, 64});
  }
  /// Memory of the device, of which only `read` tells what is in it.
  int32_t *memory(uint64_t elements) {
    mirror.emplace(*world, device, 4 * elements);
    std::memset(mirror->host(), 0, 4 * elements);
    EXPECT_TRUE(mirror->push().ok());
    return reinterpret_cast<int32_t *>(mirror->at(mirror->host()));
  }
  template <typename T> const T *read() {
    EXPECT_TRUE(mirror->pull().ok());
    return reinterpret_cast<const T *>(mirror->host());
  }

  std::optional<Mirror> mirror;
};

TEST_P(DeviceTest, MemoryIsReservedOnceAndZeroSizedArenasAreFine) {
  EXPECT_EQ((*device.reserve(12345, MemoryKind::device)).bytes, 12345u);
  EXPECT_EQ((*device.reserve(0, MemoryKind::host)).bytes, 0u);
  Result<Arena> huge = device.reserve(UINT64_MAX - 5, MemoryKind::device);
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.kind(), ErrorKind::outOfMemory);
}

// Entries of one stream run in order.
TEST_P(DeviceTest, StreamsAreOrdered) {
  int32_t *data = memory(8);
  Stream &s = stream("s");
  device.fill(s, data, 3, 4, box16, origin);
  device.copy(s, data + 4, data, box16, origin);
  device.fill(s, data, 5, 4, box8, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  int32_t expected[] = {5, 5, 3, 3, 3, 3, 3, 3};
  EXPECT_EQ(std::memcmp(read<int32_t>(), expected, sizeof(expected)), 0);
}

TEST_P(DeviceTest, FillHasFourSizes) {
  auto *bytes = reinterpret_cast<uint8_t *>(memory(8));
  Stream &s = stream("s");
  device.fill(s, bytes, 0x11, 1, box8, origin);
  device.fill(s, bytes + 8, 0x2211, 2, box8, origin);
  device.fill(s, bytes + 16, 0x44332211, 4, box8, origin);
  device.fill(s, bytes + 24, 0x8877665544332211, 8, box8, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  const auto *seen = read<uint8_t>();
  EXPECT_EQ(seen[7], 0x11);
  EXPECT_EQ(seen[15], 0x22);
  EXPECT_EQ(seen[23], 0x44);
  EXPECT_EQ(seen[31], 0x88);
}

// What one entry moves is what loops over the dims would.
TEST_P(DeviceTest, BoxesAreCopiedAndFilled) {
  int32_t *data = memory(128);
  for (int32_t i = 0; i < 64; ++i) {
    storeInteger(DType::i32, mirror->host(), i, i);
  }
  ASSERT_TRUE(mirror->push().ok());
  // [2, 3, 2] out of [4, 4, 4], transposed to [3, 2, 2].
  const CopyBox box{8, {{2, 8, 64}, {3, 16, 16}}};
  const CopyBox column{4, {{3, 16, 0}}};
  const CopyBox none{0, {{3, 16, 0}}};
  Stream &s = stream("s");
  device.copy(s, data + 64, data + 5, box, origin);
  device.fill(s, data + 67, 7, 4, column, origin);
  device.fill(s, data + 68, 9, 4, none, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  const auto *seen = read<int32_t>();
  for (int32_t i = 0; i < 2; ++i) {
    for (int32_t j = 0; j < 3; ++j) {
      EXPECT_EQ(seen[64 + 4 * j + 2 * i], 5 + 16 * i + 4 * j);
      EXPECT_EQ(seen[65 + 4 * j + 2 * i], i ? 7 : 6 + 16 * i + 4 * j);
    }
  }
  EXPECT_EQ(seen[76], 0);
}

// A chain through two streams; the wait refers to the record before it.
TEST_P(DeviceTest, EventsOrderStreams) {
  int32_t *data = memory(64);
  Stream &a = stream("a"), &b = stream("b");
  Event &event = **device.event({"e", ""});
  for (int step = 0; step < 15; ++step) {
    device.fill(a, data, step, 4, box4, origin);
    device.record(a, event, origin);
    device.wait(b, event, origin);
    device.copy(b, data + 1 + step, data, box4, origin);
    device.record(b, event, origin);
    device.wait(a, event, origin);
  }
  ASSERT_TRUE(world->drain(patience).ok());
  const auto *seen = read<int32_t>();
  for (int step = 0; step < 15; ++step) {
    EXPECT_EQ(seen[1 + step], step);
  }
}

// An event is initially set, and stays set over a drain.
TEST_P(DeviceTest, UnrecordedEventsPass) {
  int32_t *data = memory(1);
  Stream &s = stream("s");
  Event &event = **device.event({"e", ""});
  for (int step = 0; step < 2; ++step) {
    device.wait(s, event, origin);
    device.fill(s, data, 7 + step, 4, box4, origin);
    device.record(s, event, origin);
    ASSERT_TRUE(world->drain(patience).ok());
    EXPECT_EQ(read<int32_t>()[0], 7 + step);
  }
}

TEST_P(DeviceTest, FullQueuesAreReported) {
  int32_t *data = memory(1);
  Stream &s = **device.stream({"small", 0, 2, 0});
  for (int i = 0; i < 3; ++i) {
    device.fill(s, data, 1, 4, box4, origin);
  }
  Status status = world->drain(patience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_NE(status.message().find("'small'"), std::string::npos);
}

// A step begins when the one before has ended on all streams, though no event
// orders them; steps are waited for in order.
TEST_P(DeviceTest, StepsRunOneAfterTheOther) {
  constexpr uint64_t count = 1 << 18;
  const CopyBox all{4 * count, {}};
  int32_t *data = memory(count + 1);
  Stream &a = stream("a"), &b = stream("b");
  for (int value = 1; value <= 10; ++value) {
    if (world->beginStep(static_cast<uint64_t>(value))) {
      device.fill(a, data, static_cast<uint64_t>(value), 4, all, origin);
    }
    ASSERT_TRUE(world->submit().ok());
    if (world->beginStep(0)) {
      device.copy(b, data + count, data + count - 1, box4, origin);
    }
    ASSERT_TRUE(world->submit().ok());
    ASSERT_TRUE(world->wait(patience).ok());
    ASSERT_TRUE(world->wait(patience).ok());
    EXPECT_EQ(read<int32_t>()[count], value);
  }
  EXPECT_TRUE(world->wait(patience).ok());
}

// What stands before the gate runs, and is read beside the step; what stands
// after it waits for a value that is large enough. A step that comes again
// waits again, and nothing does at a gate that the host never touched.
TEST_P(DeviceTest, GatesWaitForTheHost) {
  int32_t *data = memory(1);
  Arena seen = *device.reserve(4, MemoryKind::host);
  auto *value = reinterpret_cast<volatile int32_t *>(seen.base);
  Stream &s = stream("s");
  Gate &gate = **device.gate();
  for (int step = 0; step < 4; ++step) {
    const bool waits = step > 0;
    const double before = gate.stoodSeconds();
    if (waits) {
      gate.open(0);
    }
    if (world->beginStep(5)) {
      device.fill(s, data, 1, 4, box4, origin);
      device.waitFor(s, gate, 2, origin);
      device.fill(s, data, 2, 4, box4, origin);
    }
    ASSERT_TRUE(world->submit().ok());
    // Where what stands counts at once, nothing is read while it is written.
    auto soon =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (waits && gate.stoodSeconds() <= before &&
           std::chrono::steady_clock::now() < soon) {
      std::this_thread::yield();
    }
    auto end = std::chrono::steady_clock::now() + patience;
    for (*value = 0; waits && *value != 1;) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      ASSERT_TRUE(device.readAside(seen.base, data, 4).ok());
    }
    if (waits) {
      gate.open(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ASSERT_TRUE(device.readAside(seen.base, data, 4).ok());
      EXPECT_EQ(*value, 1);
      gate.open(2);
    }
    ASSERT_TRUE(world->wait(patience).ok());
    ASSERT_TRUE(device.readAside(seen.base, data, 4).ok());
    EXPECT_EQ(*value, 2);
    EXPECT_EQ(gate.stoodSeconds() > 0.01 * step, waits) << step;
  }
}

// A gate on one stream holds up another where an event orders them.
TEST_P(DeviceTest, EventsAreOrderedAcrossGates) {
  int32_t *data = memory(2);
  Stream &a = stream("a"), &b = stream("b");
  Gate &gate = **device.gate();
  Event &first = **device.event({"first", ""}),
        &second = **device.event({"second", ""});
  for (int step = 0; step < 3; ++step) {
    gate.open(0);
    if (world->beginStep(6)) {
      device.fill(a, data, 3, 4, box4, origin);
      device.record(a, first, origin);
      device.waitFor(a, gate, 1, origin);
      device.fill(a, data, 4, 4, box4, origin);
      device.record(a, second, origin);
      device.wait(b, first, origin);
      device.wait(b, second, origin);
      device.copy(b, data + 1, data, box4, origin);
    }
    ASSERT_TRUE(world->submit().ok());
    gate.open(1);
    ASSERT_TRUE(world->wait(patience).ok());
    EXPECT_EQ(read<int32_t>()[1], 4);
  }
}

TEST_P(DeviceTest, AThirdStepIsRefused) {
  for (int step = 0; step < mostSteps; ++step) {
    world->beginStep(0);
    ASSERT_TRUE(world->submit().ok());
  }
  Status status = world->submit();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(), "expected at most 2 steps that are not waited "
                              "for");
  EXPECT_TRUE(world->drain(patience).ok());
}

TEST_P(DeviceTest, AnEmptyDrainSucceeds) {
  EXPECT_TRUE(world->drain(patience).ok());
  stream("s");
  EXPECT_TRUE(world->drain(patience).ok());
}

INSTANTIATE_TEST_SUITE_P(Worlds, DeviceTest, testing::ValuesIn(allDevices()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
