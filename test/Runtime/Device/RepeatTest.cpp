//===- RepeatTest.cpp - Parts of a step that run again --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often a part runs lies in the device's memory: in each trip flags move up
// by one, and so do the values by which trips are counted. Each case takes
// three steps of one key, which a backend may capture.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace llmc::rt::test {
namespace {

constexpr std::chrono::seconds repeatPatience(20);
const Origin repeatOrigin{"loop", "model.py:12"}, bodyOrigin{"body", ""};
constexpr int mostTrips = 4;

/// A device with two streams of a repeat and one beside it. Its memory has
/// `flags`, which move up, and `y`, which does.
struct Looping {
  Device &device;
  Stream &first, &second, &beside;
  Event &counted, &moved;
  Repeat &repeat;
  Mirror mirror;
  CopyBox one{1, {}}, firstValue{4, {}}, flagBox{mostTrips, {}},
      valueBox{4 * mostTrips, {}}, movedBox{4 * (mostTrips - 1), {}};

  /// Offsets in memory.
  enum Place : uint64_t {
    flags = 0,
    oldFlags = 16,
    y = 32,
    oldY = 64,
    seen = 96,
    sum = 128
  };

  explicit Looping(World &world, int number = 0)
      : device(world.device(number)), first(makeStream("C")),
        second(makeStream("D")), beside(makeStream("E")),
        counted(**device.event({"counted", ""})),
        moved(**device.event({"moved", ""})),
        repeat(**device.repeat({&first, &second})), mirror(world, device, 160) {
  }

  Stream &makeStream(const std::string &name) {
    return **device.stream({name, 0, 64, 64});
  }
  std::byte *at(uint64_t place) { return mirror.at(mirror.host()) + place; }
  const int32_t *values(uint64_t place) {
    return reinterpret_cast<const int32_t *>(mirror.host() + place);
  }

  /// `trips` flags that hold, then some that do not; y is 7.
  void start(int trips) {
    static const CopyBox all{2 * mostTrips, {}};
    static const CopyBox some[mostTrips + 1] = {
        {0, {}}, {1, {}}, {2, {}}, {3, {}}, {4, {}}};
    device.fill(first, at(flags), 0, 1, all, bodyOrigin);
    device.fill(first, at(flags), 1, 1, some[trips], bodyOrigin);
    device.fill(first, at(y), 7, 4, valueBox, bodyOrigin);
  }
  void begin() { device.beginRepeat(repeat, at(flags), repeatOrigin); }
  void end() { device.endRepeat(repeat, repeatOrigin); }
  /// Another flag; the second stream waits for the trip's count, and the next
  /// trip for it.
  void move() {
    device.record(first, counted, bodyOrigin);
    device.wait(second, counted, bodyOrigin);
    device.copy(second, at(oldFlags), at(flags + 1), flagBox, bodyOrigin);
    device.copy(second, at(flags), at(oldFlags), flagBox, bodyOrigin);
    device.record(second, moved, bodyOrigin);
    device.wait(first, moved, bodyOrigin);
  }
  /// y moves up, and begins with 9.
  void count() {
    device.copy(first, at(oldY), at(y), movedBox, bodyOrigin);
    device.copy(first, at(y + 4), at(oldY), movedBox, bodyOrigin);
    device.fill(first, at(y), 9, 4, firstValue, bodyOrigin);
  }
};

std::vector<int32_t> listOf(const int32_t *values) {
  return {values, values + mostTrips};
}

std::vector<int32_t> counted(int trips) {
  std::vector<int32_t> expected(mostTrips, 7);
  std::fill_n(expected.begin(), trips, 9);
  return expected;
}

class RepeatTest : public testing::TestWithParam<WorldKind> {
protected:
  std::unique_ptr<World> world = GetParam().make(1);

  template <typename Enqueue> Status run(Enqueue enqueue) {
    for (int step = 0; step < 3; ++step) {
      if (world->beginStep(0)) {
        enqueue();
      }
      LLMC_TRY(world->submit());
      LLMC_TRY(world->wait(repeatPatience));
    }
    return Status::success();
  }
};

TEST_P(RepeatTest, RunsAsLongAsTheFlagHolds) {
  for (int trips = 0; trips <= mostTrips; ++trips) {
    world = GetParam().make(1);
    Looping loop(*world);
    ASSERT_EQ(run([&] {
                loop.start(trips);
                loop.begin();
                loop.count();
                loop.move();
                loop.end();
              }).message(),
              "");
    ASSERT_TRUE(loop.mirror.pull().ok());
    EXPECT_EQ(listOf(loop.values(Looping::y)), counted(trips)) << trips;
  }
}

// What waits after the loop for a record in it waits for the last trip, and for
// what stands before the loop where there was none.
TEST_P(RepeatTest, ARecordOfATripIsWaitedForAfterwards) {
  for (int trips : {0, 1, 3}) {
    world = GetParam().make(1);
    Looping loop(*world);
    Event &ended = **loop.device.event({"ended", ""});
    ASSERT_EQ(run([&] {
                loop.start(trips);
                loop.begin();
                loop.count();
                loop.device.record(loop.first, ended, bodyOrigin);
                loop.move();
                loop.end();
                loop.device.wait(loop.beside, ended, bodyOrigin);
                loop.device.copy(loop.beside, loop.at(Looping::seen),
                                 loop.at(Looping::y), loop.valueBox,
                                 bodyOrigin);
              }).message(),
              "");
    ASSERT_TRUE(loop.mirror.pull().ok());
    EXPECT_EQ(listOf(loop.values(Looping::seen)), counted(trips)) << trips;
  }
}

// What a trip waits for is there after the loop, also where no trip ran.
TEST_P(RepeatTest, WhatATripOrdersIsOrderedWithoutOne) {
  Looping loop(*world);
  Event &ready = **loop.device.event({"ready", ""});
  ASSERT_EQ(run([&] {
              loop.start(0);
              for (uint64_t value : {1, 2, 3, 4, 5, 6}) {
                loop.device.fill(loop.beside, loop.at(Looping::sum), value, 4,
                                 loop.valueBox, bodyOrigin);
              }
              loop.device.record(loop.beside, ready, bodyOrigin);
              loop.begin();
              loop.device.wait(loop.first, ready, bodyOrigin);
              loop.move();
              loop.end();
              loop.device.copy(loop.first, loop.at(Looping::seen),
                               loop.at(Looping::sum), loop.valueBox,
                               bodyOrigin);
              loop.device.fill(loop.first, loop.at(Looping::sum), 0, 4,
                               loop.valueBox, bodyOrigin);
            }).message(),
            "");
  ASSERT_TRUE(loop.mirror.pull().ok());
  EXPECT_EQ(listOf(loop.values(Looping::seen)),
            std::vector<int32_t>(mostTrips, 6));
}

// Of two loops in a step each has its own flag and trips.
TEST_P(RepeatTest, ALoopAfterALoop) {
  Looping loop(*world);
  Repeat &other = **loop.device.repeat({&loop.first, &loop.second});
  ASSERT_EQ(run([&] {
              loop.start(3);
              loop.begin();
              loop.move();
              loop.end();
              loop.device.fill(loop.first, loop.at(Looping::flags), 1, 1,
                               loop.one, bodyOrigin);
              loop.device.beginRepeat(other, loop.at(Looping::flags),
                                      repeatOrigin);
              loop.count();
              loop.move();
              loop.device.endRepeat(other, repeatOrigin);
            }).message(),
            "");
  ASSERT_TRUE(loop.mirror.pull().ok());
  EXPECT_EQ(listOf(loop.values(Looping::y)), counted(1));
}

// A gate in the body lets nothing of the loop begin.
TEST_P(RepeatTest, AGateStandsBeforeTheLoop) {
  Looping loop(*world);
  Gate &gate = **loop.device.gate();
  gate.open(0);
  ASSERT_TRUE(world->beginStep(0));
  loop.start(2);
  loop.begin();
  loop.count();
  loop.device.waitFor(loop.first, gate, 1, bodyOrigin);
  loop.move();
  loop.end();
  ASSERT_TRUE(world->submit().ok());
  gate.open(1);
  ASSERT_EQ(world->wait(repeatPatience).message(), "");
  ASSERT_TRUE(loop.mirror.pull().ok());
  EXPECT_EQ(listOf(loop.values(Looping::y)), counted(2));
}

INSTANTIATE_TEST_SUITE_P(Worlds, RepeatTest, testing::ValuesIn(allDevices()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Of several devices
//===----------------------------------------------------------------------===//

/// Two devices, which add y up in each trip.
class RepeatedSumTest : public testing::TestWithParam<WorldKind> {
protected:
  void SetUp() override {
    world = GetParam().make(2);
    group = *world->split({{0, 1}});
    for (int number : {0, 1}) {
      loops.push_back(std::make_unique<Looping>(*world, number));
    }
    sum.type = sum.accumulate = DType::i32;
    sum.buffers = {{1, mostTrips, 1}};
    sum.symbol = "sum";
  }
  /// Trips of the second device.
  void enqueue(int trips, int others) {
    for (size_t rank : {0, 1}) {
      Looping &loop = *loops[rank];
      loop.start(rank ? others : trips);
      loop.begin();
      const void *in = loop.at(Looping::y);
      void *out = loop.at(Looping::sum);
      group[rank]->collective(loop.first, sum, &in, &out, bodyOrigin);
      loop.device.copy(loop.first, loop.at(Looping::y), loop.at(Looping::sum),
                       loop.valueBox, bodyOrigin);
      loop.move();
      loop.end();
    }
  }

  Collective sum;
  std::vector<std::unique_ptr<Looping>> loops;
  std::vector<Communicator *> group;
  std::unique_ptr<World> world; ///< Goes first: threads use the rest.
};

// A collective counts as often as it ran.
TEST_P(RepeatedSumTest, DevicesMeetInEachTrip) {
  for (int step = 0; step < 3; ++step) {
    if (world->beginStep(0)) {
      enqueue(2, 2);
    }
    ASSERT_EQ(world->submit().message(), "");
    ASSERT_EQ(world->wait(repeatPatience).message(), "");
    for (auto &loop : loops) {
      ASSERT_TRUE(loop->mirror.pull().ok());
      EXPECT_EQ(listOf(loop->values(Looping::y)),
                std::vector<int32_t>(mostTrips, 7 * 4));
    }
  }
  EXPECT_EQ(group[0]->counts().collectives[0], 3u * 2);
  EXPECT_EQ(group[0]->counts().bytes[0], 3u * 2 * 4 * mostTrips);
}

TEST_P(RepeatedSumTest, DevicesThatDisagreeAreReported) {
  ASSERT_TRUE(world->beginStep(0));
  enqueue(2, 1);
  ASSERT_EQ(world->submit().message(), "");
  Status status = world->wait(repeatPatience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_THAT(status.message(),
              testing::HasSubstr("expected devices 0 and 1 to repeat 'body' "
                                 "equally often, got a flag that holds on one "
                                 "of them alone"));
}

#ifdef LLMC_TEST_STAND_IN_NCCL
INSTANTIATE_TEST_SUITE_P(Worlds, RepeatedSumTest,
                         testing::ValuesIn(allDevices()),
                         [](const auto &info) { return info.param.name; });
#else
INSTANTIATE_TEST_SUITE_P(Worlds, RepeatedSumTest,
                         testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });
#endif

} // namespace
} // namespace llmc::rt::test
