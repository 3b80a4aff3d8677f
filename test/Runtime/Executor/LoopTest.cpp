//===- LoopTest.cpp - Programs that run once for each trip ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop writes depends on its trip, on the caller's arguments and on the
// microbatch; loops nest, and trips on several streams meet by signals.
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

constexpr int64_t microbatches = 2;

/// A plan of one device whose program 'f' returns 'y', of `count` elements.
class Loops {
public:
  explicit Loops(int64_t count) : count(count), b({{{"data", 1}}, -1}) {
    stream = b.addStream("C", StreamKind::compute);
    frame = b.addFrame("y", FrameKind::tmp);
    y = b.addBuffer(frame, "y", DType::i32, {count});
  }

  int32_t body(const std::string &name, int32_t parameters) {
    int32_t program = b.addProgram(name, Phase::other);
    b.plan().programs[program].numParameters = parameters;
    return program;
  }

  ExprId parameter(int64_t number) {
    b.plan().expressions.push_back({ExprOp::parameter, -1, -1, number});
    return static_cast<ExprId>(b.plan().expressions.size()) - 1;
  }

  /// One element of y becomes `value`.
  Fill fill(ExprId place, uint64_t value) {
    return {b.view(y, 0, {}, {}, b.times(4, place)), value};
  }

  /// All of y is 7, then what `action` writes. It is the call's own memory: a
  /// value that outlives a call is written once.
  Plan run(Action action) {
    int32_t f = b.addProgram("f", Phase::forward, 0);
    b.emit(f, stream, Fill{b.view(y), 7});
    b.emit(f, stream, std::move(action));
    b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
    return takeFetchedPlan(b, f, count);
  }

  int64_t count;
  PlanBuilder b;
  int32_t stream, frame, y;
};

std::vector<int64_t> valuesOf(const Plan &plan, int64_t microbatch) {
  auto session = Session::open(plan, {});
  if (!session.ok()) {
    ADD_FAILURE() << session.message();
    return {};
  }
  EXPECT_TRUE((*session)->run("forward", 0).ok());
  HostTensor y = *(*session)->fetch("y", microbatch);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    values.push_back(static_cast<int64_t>(y.at(i)));
  }
  return values;
}

TEST(LoopTest, TripsArgumentsAndMicrobatch) {
  Loops loops(6);
  int32_t body = loops.body("body", 2);
  // 9 at 2 trip + argument, which is the microbatch.
  ExprId place = loops.b.binary(
      ExprOp::add, loops.b.times(2, loops.parameter(0)), loops.parameter(1));
  loops.b.emit(body, loops.stream, loops.fill(place, 9));
  Plan plan = loops.run(Loop{3, body, {loops.b.microbatch()}});
  EXPECT_THAT(valuesOf(plan, 0), ElementsAre(9, 7, 9, 7, 9, 7));
  EXPECT_THAT(valuesOf(plan, 1), ElementsAre(7, 9, 7, 9, 7, 9));
}

TEST(LoopTest, NoTrip) {
  Loops loops(2);
  int32_t body = loops.body("body", 1);
  loops.b.emit(body, loops.stream, loops.fill(loops.parameter(0), 9));
  EXPECT_THAT(valuesOf(loops.run(Loop{0, body, {}}), 0), ElementsAre(7, 7));
}

// The trip of the outer loop is an argument of the inner one.
TEST(LoopTest, LoopsNest) {
  Loops loops(7);
  int32_t inner = loops.body("inner", 2);
  ExprId place = loops.b.binary(
      ExprOp::add, loops.b.times(3, loops.parameter(1)), loops.parameter(0));
  loops.b.emit(inner, loops.stream, loops.fill(place, 9));
  int32_t outer = loops.body("outer", 1);
  loops.b.emit(outer, loops.stream, Loop{2, inner, {loops.parameter(0)}});
  EXPECT_THAT(valuesOf(loops.run(Loop{2, outer, {}}), 0),
              ElementsAre(9, 9, 7, 9, 9, 7, 7));
}

// The last trip's write lies outside of the buffer.
TEST(LoopTest, EachTripStaysInside) {
  Loops loops(3);
  int32_t body = loops.body("body", 1);
  loops.b.emit(body, loops.stream, loops.fill(loops.parameter(0), 9));
  Plan plan = loops.run(Loop{3, body, {}});
  EXPECT_THAT(valuesOf(plan, 0), ElementsAre(9, 9, 9));
  for (Instruction &each : plan.programs.back().instructions) {
    if (auto *loop = std::get_if<Loop>(&each.action)) {
      loop->trips = 4;
    }
  }
  auto session = Session::open(plan, {});
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.message(), HasSubstr("(instruction 0 of program 'body'"));
}

/// Each trip copies on another stream what the first stream writes, and the
/// next trip writes it again, after a wait for the copy or without.
Status verifyTwoStreams(bool hasWait) {
  Loops loops(4);
  PlanBuilder &b = loops.b;
  int32_t copies = b.addStream("D", StreamKind::copy);
  int32_t tmp = b.addFrame("tmp", FrameKind::tmp);
  EventRef isFree{tmp, 0}, isWritten = b.addEvent(tmp);
  int32_t x = b.addBuffer(tmp, "x", DType::i32, {});
  int32_t body = loops.body("body", 1);
  if (hasWait) {
    b.wait(body, loops.stream, isFree);
  }
  b.emit(body, loops.stream, Fill{b.view(x), 9});
  b.signal(body, loops.stream, isWritten);
  b.wait(body, copies, isWritten);
  b.emit(body, copies, Copy{loops.fill(loops.parameter(0), 0).to, b.view(x)});
  b.signal(body, copies, isFree);
  int32_t around = b.addProgram("around", Phase::other);
  b.emit(around, loops.stream, Loop{4, body, {}});
  b.wait(around, loops.stream, isFree);
  return verifyPlan(loops.run(Call{around, noExpr, {}}));
}

TEST(LoopTest, TripsAreOrdered) {
  EXPECT_EQ(verifyTwoStreams(true).message(), "");
  EXPECT_THAT(verifyTwoStreams(false).message(), HasSubstr("is not ordered"));
}

} // namespace
} // namespace llmc::rt::exec
