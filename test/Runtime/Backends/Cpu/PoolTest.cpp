//===- PoolTest.cpp - Order, deadlock and shuffle of the CPU pool ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <gtest/gtest.h>

#include <set>

namespace llmc::rt {
namespace {

constexpr std::chrono::seconds patience(20);
const CopyBox box4{4, {}};

std::unique_ptr<World> makeWorld(int devices, std::optional<uint64_t> seed) {
  WorldOptions options;
  options.devices = devices;
  options.shuffleSeed = seed;
  return makeCpuWorld(options);
}

// Each side sends first on its only stream: rendezvous never happens. The
// report names both heads, their places and whom they wait for.
TEST(PoolTest, DeadlockIsExplained) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Origin origins[] = {{"send t0", "model.py:1"}, {"send t1", "model.py:2"}};
  float data[4] = {};
  for (int rank = 0; rank < 2; ++rank) {
    Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
    TransferPart send{true, group[rank], data + rank, 4};
    TransferPart take{false, group[rank], data + 2 + rank, 4};
    world->exchange(*stream, &send, 1, origins[rank]);
    world->exchange(*stream, &take, 1, origins[rank]);
  }
  Status status = world->drain(patience);
  ASSERT_EQ(status.kind(), ErrorKind::mismatch);
  for (const char *part : {"deadlock: 2 streams", "'send t0' (model.py:1)",
                           "'send t1' (model.py:2)", "a receive on device 1",
                           "a receive on device 0"}) {
    EXPECT_NE(status.message().find(part), std::string::npos)
        << part << " in " << status.message();
  }
}

// A wait for an event whose recording stream is itself blocked.
TEST(PoolTest, BlockedEventIsNamed) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Device &device = world->device(0);
  Stream *a = *device.stream({"A", 0, 4, 16}),
         *b = *device.stream({"B", 0, 4, 16});
  Event *event = *device.event({"a.e0", ""});
  ASSERT_TRUE(device.event({"a.e1", ""}).ok());
  Origin origin{"recv", "model.py:3"};
  float data = 0;
  TransferPart take{false, group[0], &data, 4};
  world->exchange(*a, &take, 1, origin);
  device.record(*a, *event, origin);
  device.wait(*b, *event, origin);
  Status status = world->drain(patience);
  EXPECT_NE(status.message().find("event 'a.e0' (record 1, reached 0)"),
            std::string::npos)
      << status.message();
}

TEST(PoolTest, TransfersHaveOneSize) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Origin origins[] = {{"give", ""}, {"take", ""}};
  float data[4] = {};
  for (int rank = 0; rank < 2; ++rank) {
    Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
    TransferPart part{rank == 0, group[rank], data, rank == 0 ? 4u : 8u};
    world->exchange(*stream, &part, 1, origins[rank]);
  }
  EXPECT_EQ(world->drain(patience).message(),
            "expected 8 bytes in receive 'take' of device 1, got 4 from send "
            "'give' of device 0");
}

TEST(PoolTest, AStreamTakesWhatItHasReserved) {
  for (int count : {4, 5}) {
    auto world = makeWorld(1, {});
    Device &device = world->device(0);
    Stream *stream = *device.stream({"S", 0, 4, 16});
    Origin origin{"fill", ""};
    int32_t data = 0;
    for (int i = 0; i < count; ++i) {
      device.fill(*stream, &data, i, 4, box4, origin);
    }
    EXPECT_EQ(world->drain(patience).message(),
              count == 4
                  ? ""
                  : "expected at most 4 entries and 16 words in one "
                    "step in stream 'S' of device 0, got more at 'fill'");
  }
}

TEST(PoolTest, DevicesAreInOneGroup) {
  auto refusal = [](const std::vector<std::vector<int>> &groups) {
    return makeWorld(2, {})->split(groups).message();
  };
  EXPECT_EQ(refusal({{1}, {0}}), "");
  EXPECT_EQ(refusal({{0, 1}, {}}),
            "expected a group of 1 to 1024 devices, got 0");
  for (const auto &groups : std::vector<std::vector<std::vector<int>>>{
           {{1, 1}}, {{0, 1}, {1}}, {{2}}, {{-1}}}) {
    EXPECT_EQ(refusal(groups),
              "expected a device in [0, 2) in a group, which is in no other "
              "place, got " +
                  std::to_string(groups.back().back()));
  }
}

/// Two independent chains of three fills; returns the order's digest.
uint64_t runChains(std::optional<uint64_t> seed, int32_t (&data)[2]) {
  auto world = makeWorld(1, seed);
  Device &device = world->device(0);
  Origin origin{"fill", ""};
  for (int chain = 0; chain < 2; ++chain) {
    Stream *stream = *device.stream({"s", 0, 8, 0});
    for (int i = 0; i < 3; ++i) {
      device.fill(*stream, &data[chain], i, 4, box4, origin);
    }
  }
  EXPECT_TRUE(world->drain(patience).ok());
  EXPECT_EQ(world->order().tasks, 6u);
  return world->order().hash;
}

// 6 choose 3 = 20 legal orders; a seed names one.
TEST(PoolTest, ShuffleReachesAllOrders) {
  int32_t data[2];
  std::set<uint64_t> orders;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    orders.insert(runChains(seed, data));
    EXPECT_EQ(data[0], 2);
    EXPECT_EQ(data[1], 2);
  }
  EXPECT_EQ(orders.size(), 20u);
  EXPECT_EQ(runChains(3, data), runChains(3, data));
  EXPECT_EQ(runChains({}, data), runChains({}, data));
}

// Ready heads of greater priority run first.
TEST(PoolTest, PriorityDecidesAmongReadyHeads) {
  auto world = makeWorld(1, {});
  Device &device = world->device(0);
  Origin origin{"fill", ""};
  int32_t cell = 0;
  Stream *low = *device.stream({"low", 0, 4, 0});
  Stream *high = *device.stream({"high", 5, 4, 0});
  device.fill(*low, &cell, 1, 4, box4, origin);
  device.fill(*high, &cell, 2, 4, box4, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  EXPECT_EQ(cell, 1);
}

} // namespace
} // namespace llmc::rt
