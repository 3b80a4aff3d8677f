//===- WhileTest.cpp - Programs that run as long as a flag holds ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often the body runs lies in memory: flags move up by one in each trip,
// and so do the values by which the trips are counted.
//
//===----------------------------------------------------------------------===//

#include "FetchedPlan.h"
#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::exec {
namespace {

using namespace plan;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t microbatches = 2, mostTrips = 4;

/// A plan whose program 'f' returns 'y' after trips of 'body', which another
/// program, 'around', repeats.
class Whiles {
public:
  explicit Whiles(int64_t devices = 1) : b({{{"data", devices}}, -1}) {
    stream = b.addStream("C", StreamKind::compute);
    other = b.addStream("D", StreamKind::copy);
    tmp = b.addFrame("tmp", FrameKind::tmp);
    flags = b.addBuffer(tmp, "flags", DType::i1, {2 * mostTrips});
    oldFlags = b.addBuffer(tmp, "oldFlags", DType::i1, {mostTrips});
    y = b.addBuffer(tmp, "y", DType::i32, {mostTrips});
    oldY = b.addBuffer(tmp, "oldY", DType::i32, {mostTrips - 1});
    body = b.addProgram("body", Phase::other);
    around = b.addProgram("around", Phase::other);
    f = b.addProgram("f", Phase::forward, 0);
  }

  Operand element(int32_t buffer, int64_t offset, int64_t count) {
    return b.view(buffer, offset, {count});
  }

  /// `trips` flags that hold, then some that do not; y is 7.
  void start(int64_t trips) {
    b.emit(f, stream, Fill{b.view(flags), 0});
    b.emit(f, stream, Fill{element(flags, 0, trips), 1});
    b.emit(f, stream, Fill{b.view(y), 7});
  }

  /// Another flag, by a copy on `writer`.
  void move(int32_t writer) {
    b.emit(body, writer, Copy{b.view(oldFlags), element(flags, 1, mostTrips)});
    b.emit(body, writer, Copy{element(flags, 0, mostTrips), b.view(oldFlags)});
  }

  /// y moves up, and begins with 9.
  void count() {
    b.emit(body, stream, Copy{b.view(oldY), element(y, 0, mostTrips - 1)});
    b.emit(body, stream, Copy{element(y, 4, mostTrips - 1), b.view(oldY)});
    b.emit(body, stream, Fill{b.view(y, 0, {}), 9});
  }

  While loop() { return {b.view(flags, 0, {}), body}; }

  Plan finish() {
    b.emit(around, stream, loop());
    b.emit(f, stream, Call{around, noExpr, {}});
    b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
    return takeFetchedPlan(b, f, mostTrips);
  }

  PlanBuilder b;
  int32_t stream, other, tmp, flags, oldFlags, y, oldY, body, around, f;
};

/// y of the last of three steps.
std::vector<int64_t> valuesOf(const Plan &plan, int64_t microbatch,
                              std::optional<uint64_t> seed = std::nullopt) {
  SessionOptions options;
  options.shuffleSeed = seed;
  options.threads = 2;
  auto session = Session::open(plan, options);
  if (!session.ok()) {
    ADD_FAILURE() << session.message();
    return {};
  }
  for (int64_t step = 0; step < 3; ++step) {
    Status status = (*session)->run("forward", step);
    EXPECT_EQ(status.message(), "");
  }
  HostTensor y = *(*session)->fetch("y", microbatch);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    values.push_back(static_cast<int64_t>(y.at(i)));
  }
  return values;
}

TEST(WhileTest, RunsAsLongAsTheFlagHolds) {
  for (int64_t trips = 0; trips <= mostTrips; ++trips) {
    Whiles whiles;
    whiles.start(trips);
    whiles.count();
    whiles.move(whiles.stream);
    std::vector<int64_t> expected(mostTrips, 7);
    std::fill_n(expected.begin(), trips, 9);
    Plan plan = whiles.finish();
    EXPECT_EQ(valuesOf(plan, 0), expected);
    EXPECT_EQ(valuesOf(plan, 1), expected);
  }
}

/// The flags move on another stream, which waits for the trip's count, and for
/// which the next trip waits.
Plan makeTwoStreams(int64_t trips, bool hasWait) {
  Whiles whiles;
  PlanBuilder &b = whiles.b;
  whiles.start(trips);
  EventRef started = b.addEvent(whiles.tmp), counted = b.addEvent(whiles.tmp),
           moved = b.addEvent(whiles.tmp);
  b.signal(whiles.f, whiles.stream, started);
  b.wait(whiles.f, whiles.other, started);
  whiles.count();
  b.signal(whiles.body, whiles.stream, counted);
  b.wait(whiles.body, whiles.other, counted);
  whiles.move(whiles.other);
  b.signal(whiles.body, whiles.other, moved);
  if (hasWait) {
    b.wait(whiles.body, whiles.stream, moved);
  }
  return whiles.finish();
}

TEST(WhileTest, StreamsMeetInEachTrip) {
  for (int64_t trips = 0; trips <= mostTrips; ++trips) {
    Plan plan = makeTwoStreams(trips, true);
    std::vector<int64_t> expected(mostTrips, 7);
    std::fill_n(expected.begin(), trips, 9);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(valuesOf(plan, 1, seed), expected) << seed;
    }
  }
}

// The flag is read on the first stream.
TEST(WhileTest, TheFlagIsReadInOrder) {
  EXPECT_EQ(verifyPlan(makeTwoStreams(2, true)).message(), "");
  EXPECT_THAT(verifyPlan(makeTwoStreams(2, false)).message(),
              HasSubstr("is not ordered"));
}

// What waits after the loop for a record in it waits for the last trip, and
// does not wait where there was none.
TEST(WhileTest, ARecordOfATripIsWaitedForAfterwards) {
  for (int64_t trips : {0, 1, 3}) {
    Whiles whiles;
    PlanBuilder &b = whiles.b;
    int32_t last = b.addBuffer(whiles.tmp, "last", DType::i32, {mostTrips});
    whiles.start(trips);
    whiles.count();
    EventRef ended = b.addEvent(whiles.tmp), copied = b.addEvent(whiles.tmp);
    b.signal(whiles.body, whiles.stream, ended);
    whiles.move(whiles.stream);
    Plan plan = whiles.finish();
    // f: fills, call, fetch -> ..., call, copy on the other stream, fetch
    auto &list = plan.programs[static_cast<size_t>(whiles.f)].instructions;
    Instruction fetch = list.back();
    list.back() = {whiles.other, -1, plan::Wait{ended}};
    list.push_back({whiles.other, -1, Copy{b.view(last), b.view(whiles.y)}});
    list.push_back({whiles.other, -1, Signal{copied}});
    list.push_back({whiles.stream, -1, plan::Wait{copied}});
    std::get<Copy>(fetch.action).from = b.view(last);
    list.push_back(fetch);
    std::vector<int64_t> expected(mostTrips, 7);
    std::fill_n(expected.begin(), trips, 9);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(valuesOf(plan, 0, seed), expected) << trips << " " << seed;
    }
  }
}

/// Each trip adds y up over two devices.
Plan makeSums(bool agree) {
  Whiles whiles(2);
  PlanBuilder &b = whiles.b;
  whiles.start(2);
  if (!agree) {
    // Of the second device the second flag, not the first.
    b.emit(whiles.f, whiles.stream,
           Fill{b.view(whiles.flags, 1, {}, {}, b.coordinate(0)), 0});
  }
  int32_t sum = b.addBuffer(whiles.tmp, "sum", DType::i32, {mostTrips});
  plan::Collective collective;
  collective.symbol = b.addSymbol("sum");
  collective.kind = llmc::CollectiveKind::allReduce;
  collective.reduction = llmc::ReductionKind::sum;
  collective.axes = {0};
  collective.inputs = {b.view(whiles.y)};
  collective.outputs = {b.view(sum)};
  b.emit(whiles.body, whiles.stream, collective);
  b.emit(whiles.body, whiles.stream, Copy{b.view(whiles.y), b.view(sum)});
  whiles.move(whiles.stream);
  return whiles.finish();
}

TEST(WhileTest, DevicesMeetInEachTrip) {
  EXPECT_THAT(valuesOf(makeSums(true), 1), ElementsAre(28, 28, 28, 28));
}

TEST(WhileTest, DevicesThatDisagreeAreReported) {
  auto session = Session::open(makeSums(false), {});
  ASSERT_TRUE(session.ok()) << session.message();
  EXPECT_THAT((*session)->run("forward", 0).message(),
              HasSubstr("equally often, got a flag that holds on one of them"));
}

// A trip of a while is counted once, as nobody knows more.
TEST(WhileTest, TrafficOfATrip) {
  Plan plan = makeSums(true);
  auto rows = trafficOf(plan, plan.entries[0], 0);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].isOpen);
  EXPECT_EQ(rows[0].count, microbatches);
}

} // namespace
} // namespace llmc::rt::exec
