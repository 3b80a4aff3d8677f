//===- RepeatTest.cpp - Parts of a step that run again --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case takes three steps of one key, which a backend may capture.
//
//===----------------------------------------------------------------------===//

#include "Looping.h"

#include <gtest/gtest.h>

#include <thread>

namespace llmc::rt::test {
namespace {

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

// A flag that the second stream writes is read when that stream has come there
// too.
TEST_P(RepeatTest, StreamsMeetBeforeTheFlagIsRead) {
  Looping loop(*world);
  ASSERT_EQ(run([&] {
              loop.start(3);
              loop.begin();
              loop.count();
              loop.move(false);
              loop.end();
              loop.device.wait(loop.first, loop.moved, bodyOrigin);
            }).message(),
            "");
  ASSERT_TRUE(loop.mirror.pull().ok());
  EXPECT_EQ(listOf(loop.values(Looping::y)), counted(3));
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

// What stands after a gate of a trip does not run before the gate is open, and
// what it writes is read beside it until then.
TEST_P(RepeatTest, AGateStandsInTheLoop) {
  Looping loop(*world);
  Gate &gate = **loop.device.gate();
  gate.open(0);
  ASSERT_TRUE(world->beginStep(1));
  loop.start(2);
  ASSERT_TRUE(world->submit().ok());
  ASSERT_EQ(world->wait(repeatPatience).message(), "");
  ASSERT_TRUE(world->beginStep(0));
  loop.begin();
  loop.device.waitFor(loop.first, gate, 1, bodyOrigin);
  loop.count();
  loop.move();
  loop.end();
  ASSERT_TRUE(world->submit().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ASSERT_TRUE(
      loop.device
          .readAside(loop.mirror.host(), loop.at(Looping::y), sizeof(int32_t))
          .ok());
  EXPECT_EQ(loop.values(0)[0], 7);
  gate.open(1);
  ASSERT_EQ(world->wait(repeatPatience).message(), "");
  ASSERT_TRUE(loop.mirror.pull().ok());
  EXPECT_EQ(listOf(loop.values(Looping::y)), counted(2));
}

// A run that ends early opens no gate.
TEST_P(RepeatTest, AWorldEndsWhileAStepStandsAtAGate) {
  Looping loop(*world);
  Gate &gate = **loop.device.gate();
  gate.open(0);
  ASSERT_TRUE(world->beginStep(0));
  loop.device.waitFor(loop.first, gate, 1, bodyOrigin);
  loop.start(2);
  ASSERT_TRUE(world->submit().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  world.reset();
}

INSTANTIATE_TEST_SUITE_P(Worlds, RepeatTest, testing::ValuesIn(allDevices()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
