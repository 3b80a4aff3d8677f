//===- RepeatConformanceTest.cpp - Devices that meet in a loop ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two devices that repeat a collective, equally often or not.
//
//===----------------------------------------------------------------------===//

#include "../Device/Looping.h"
#include "CommunicatorTest.h"

#include <gmock/gmock.h>

#include <thread>

namespace llmc::rt::test {
namespace {

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
  /// Each device repeats the sum for ever, or takes it once.
  void enqueueAlone(bool repeats) {
    for (size_t rank : {0, 1}) {
      Looping &loop = *loops[rank];
      loop.start(1);
      if (repeats) {
        loop.begin();
      }
      const void *in = loop.at(Looping::y);
      void *out = loop.at(Looping::sum);
      group[rank]->collective(loop.first, sum, &in, &out, bodyOrigin);
      if (repeats) {
        loop.end();
      }
    }
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
  if (GetParam().name.find("Processes") != std::string::npos) {
    // One waits for the other, which is done.
    EXPECT_EQ(world->wait(std::chrono::milliseconds(200)).kind(),
              ErrorKind::timeout);
    return;
  }
  Status status = world->wait(repeatPatience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_THAT(status.message(),
              testing::HasSubstr("expected devices 0 and 1 to repeat 'body' "
                                 "equally often, got a flag that holds on one "
                                 "of them alone"));
}

// A run that ends early, as by a loss that is no number, has a step under way.
TEST_P(RepeatedSumTest, AWorldEndsWhileALoopRuns) {
  ASSERT_TRUE(world->beginStep(0));
  enqueueAlone(true);
  ASSERT_EQ(world->submit().message(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  world.reset();
}

TEST_P(RepeatedSumTest, AWorldEndsWhileStepsRun) {
  for (int step = 0; step < 3; ++step) {
    if (world->beginStep(0)) {
      enqueueAlone(false);
    }
    ASSERT_EQ(world->submit().message(), "");
    if (step == 0) {
      ASSERT_EQ(world->wait(repeatPatience).message(), "");
    }
  }
  world.reset();
}

INSTANTIATE_TEST_SUITE_P(Worlds, RepeatedSumTest,
                         testing::ValuesIn(allCommunicators()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
