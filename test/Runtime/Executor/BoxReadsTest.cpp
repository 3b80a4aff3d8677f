//===- BoxReadsTest.cpp - States that are read beside steps ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan that moves three states on in each step (c <- b <- a <- 7), and that
// of docs/walkthrough.md: what is read while later steps run is what lay there
// at the step's edge, bit by bit, on devices that the host can read and on
// such that it cannot, in any order of work and in several processes; and the
// steps compute what they compute without it.
//
//===----------------------------------------------------------------------===//

#include "LoopbackTransport.h"
#include "ShiftPlan.h"
#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <gmock/gmock.h>

#include <future>
#include <thread>

namespace llmc::rt::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Takes what is read beside steps, as slowly as a test wants.
struct Taken {
  std::string bits;
  bool isClosed = false;
  std::chrono::microseconds pause{0};
  std::shared_future<void> until; ///< Takes nothing before it.

  BoxSink sink() {
    return {[this](const std::byte *values, size_t bytes) {
              if (until.valid()) {
                until.wait();
              }
              std::this_thread::sleep_for(pause);
              append(bits, values, bytes);
              return Status::success();
            },
            [this] {
              isClosed = true;
              return Status::success();
            }};
  }
};

TEST(BoxReads, BoxesStandInTheOrderOfWrites) {
  auto session = openShift();
  std::vector<TensorBox> boxes = *session->ownedBoxes();
  std::vector<std::string> names;
  for (const TensorBox &box : boxes) {
    names.push_back(box.tensor);
  }
  EXPECT_THAT(names, ElementsAre("c", "b", "a", "d"));
}

// The sink takes nothing before it is told to, so the step stands at its first
// write; the bits are those of the edge, and the step's are its own.
TEST(BoxReads, AnUpdateWaitsForWhatIsNotRead) {
  for (const char *target : {"cpu", "opaque"}) {
    auto session = openShift(target), other = openShift(target);
    ASSERT_TRUE(session->guardStates().ok());
    for (int64_t step = 0; step < 3; ++step) {
      std::string edge = readNow(*session);
      std::promise<void> told;
      Taken taken;
      taken.until = told.get_future();
      auto reading = session->readBoxesAside(taken.sink());
      ASSERT_TRUE(reading.ok()) << reading.message();
      ASSERT_TRUE(session->submit("train", step).ok());
      auto ended =
          std::async(std::launch::async, [&] { return session->wait(); });
      EXPECT_EQ(ended.wait_for(100ms), std::future_status::timeout);
      EXPECT_FALSE((*reading)->isDone());
      EXPECT_GT((*reading)->stoodSeconds(), 0.05);
      told.set_value();
      EXPECT_TRUE(ended.get().ok());
      ASSERT_TRUE((*reading)->wait().ok());
      EXPECT_TRUE((*reading)->isDone());
      EXPECT_TRUE(taken.isClosed);
      EXPECT_TRUE(taken.bits == edge) << target << " step " << step;
      ASSERT_TRUE(other->run("train", step).ok());
      EXPECT_TRUE(readNow(*session) == readNow(*other));
    }
  }
}

// Each write goes on when what it writes is read, before all is.
TEST(BoxReads, AStepGoesOnPieceByPiece) {
  auto session = openShift();
  ASSERT_TRUE(session->guardStates().ok());
  std::promise<void> told;
  std::shared_future<void> until = told.get_future();
  std::atomic<size_t> given{0};
  // All but the last box, d, which no step writes.
  constexpr size_t written = 3 * shiftLength * sizeof(float);
  BoxSink sink{[&](const std::byte *, size_t bytes) {
                 if (given >= written) {
                   until.wait();
                 }
                 given += bytes;
                 return Status::success();
               },
               [] { return Status::success(); }};
  auto reading = session->readBoxesAside(std::move(sink));
  ASSERT_TRUE(reading.ok()) << reading.message();
  for (int64_t step = 0; step < 3; ++step) {
    EXPECT_TRUE(session->run("train", step).ok());
  }
  EXPECT_EQ(given, written);
  EXPECT_FALSE((*reading)->isDone());
  told.set_value();
  EXPECT_TRUE((*reading)->wait().ok());
}

TEST(BoxReads, ASinkThatFailsHoldsNothingUp) {
  auto session = openShift();
  ASSERT_TRUE(session->guardStates().ok());
  BoxSink sink{[](const std::byte *, size_t) {
                 return makeError(ErrorKind::noCheckpoint, "the disk is full");
               },
               [] { return Status::success(); }};
  auto reading = session->readBoxesAside(std::move(sink));
  ASSERT_TRUE(reading.ok());
  EXPECT_TRUE(session->run("train", 0).ok());
  EXPECT_EQ((*reading)->wait().message(), "the disk is full");
  EXPECT_TRUE((*reading)->isDone());
}

// Values from outside are written after the edge's are read.
TEST(BoxReads, WritesFromOutsideWait) {
  auto session = openShift();
  ASSERT_TRUE(session->guardStates().ok());
  std::string edge = readNow(*session);
  Taken taken;
  taken.pause = 5ms;
  ASSERT_TRUE(session->readBoxesAside(taken.sink()).ok());
  HostTensor zeros = HostTensor::zeros(DType::f32, {shiftLength});
  for (const char *name : {"d", "a", "b", "c"}) {
    ASSERT_TRUE(session->writeState(name, zeros).ok());
  }
  EXPECT_TRUE(taken.bits == edge);
}

TEST(BoxReads, ASessionEndsBesideIt) {
  Taken taken;
  taken.pause = 5ms;
  std::shared_ptr<BoxReading> reading;
  {
    auto session = openShift();
    ASSERT_TRUE(session->guardStates().ok());
    reading = *session->readBoxesAside(taken.sink());
    ASSERT_TRUE(session->submit("train", 0).ok());
  }
  EXPECT_EQ(reading->wait().kind(), ErrorKind::internal);
  EXPECT_FALSE(taken.isClosed);
}

TEST(BoxReads, WhatIsNotGuardedIsRefused) {
  auto session = openShift();
  Taken taken;
  EXPECT_EQ(session->readBoxesAside(taken.sink()).kind(), ErrorKind::usage);
  ASSERT_TRUE(session->run("train", 0).ok());
  EXPECT_EQ(session->guardStates().kind(), ErrorKind::usage);
}

/// Five steps of the walkthrough; with `isRead` each edge is read slowly beside
/// the step after it, and compared with what lay there. Returns the states at
/// the end of this process's boxes, or "" and a failure.
std::string runWalkthrough(const plan::Plan &plan, SessionOptions options,
                           bool isRead) {
  options.deadline = 30s;
  auto session = openWalkthrough(plan, options);
  if (!session) {
    return "";
  }
  Status status = isRead ? session->guardStates() : Status::success();
  for (int64_t step = 0; step < 5 && status.ok(); ++step) {
    std::string edge = readNow(*session);
    Taken taken;
    taken.pause = 500us;
    std::shared_ptr<BoxReading> reading;
    if (isRead) {
      auto begun = session->readBoxesAside(taken.sink());
      status = begun.status();
      reading = begun ? *begun : nullptr;
    }
    status = status.ok() ? session->run("train", step) : status;
    if (reading) {
      status = status.ok() ? reading->wait() : status;
      EXPECT_TRUE(taken.bits == edge) << "step " << step;
    }
  }
  EXPECT_TRUE(status.ok()) << status.message();
  return readNow(*session);
}

TEST(BoxReads, TheWalkthroughHasTheBitsOfItsEdges) {
  plan::Plan plan = makeWalkthroughPlan(4, walkthroughObject);
  const std::string expected = runWalkthrough(plan, {}, false);
  ASSERT_FALSE(expected.empty());
  for (const char *target : {"cpu", "opaque"}) {
    plan.target = target;
    for (int seed : {-1, 3}) {
      SessionOptions options;
      options.threads = 2;
      if (seed >= 0) {
        options.shuffleSeed = static_cast<uint64_t>(seed);
      }
      EXPECT_TRUE(runWalkthrough(plan, options, true) == expected) << target;
    }
  }
}

TEST(BoxReads, ProcessesReadTheirOwn) {
  walkthroughCorpus();
  plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject);
  for (int processes : {2, 4}) {
    std::vector<std::string> states[2];
    for (bool isRead : {false, true}) {
      auto ends = makeLoopback(processes);
      std::vector<std::string> &own = states[isRead];
      own.resize(ends.size());
      std::vector<std::thread> threads;
      for (size_t i = 0; i < ends.size(); ++i) {
        threads.emplace_back([&, i] {
          SessionOptions options;
          options.transport = ends[i];
          own[i] = runWalkthrough(plan, options, isRead);
        });
      }
      for (std::thread &thread : threads) {
        thread.join();
      }
    }
    EXPECT_TRUE(states[0] == states[1]) << processes;
  }
}

} // namespace
} // namespace llmc::rt::test
