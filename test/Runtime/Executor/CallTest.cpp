//===- CallTest.cpp - Programs that others call, with arguments -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program writes where its arguments say; two calls with other arguments, one
// of which computes with the caller's microbatch.
//
//===----------------------------------------------------------------------===//

#include "FetchedPlan.h"
#include "llmc/Runtime/Executor/Session.h"

#include <gtest/gtest.h>

namespace llmc::rt::exec {
namespace {

using namespace plan;

constexpr int64_t count = 4, microbatches = 2;

/// 'y' [4] of each microbatch m: 7 at 1 and 9 at 2 m, 7 at 2 - 2 m and 9 at 3.
/// The host gets that of each microbatch, or has place for one.
Plan makeCalls(bool eachMicrobatch = true) {
  PlanBuilder b({{{"data", 1}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("y", FrameKind::act, microbatches, b.microbatch());
  int32_t y = b.addBuffer(frame, "y", DType::i32, {count});
  auto parameter = [&](int64_t number) {
    b.plan().expressions.push_back({ExprOp::parameter, -1, -1, number});
    return b.times(4, static_cast<ExprId>(b.plan().expressions.size()) - 1);
  };
  int32_t write = b.addProgram("write", Phase::other);
  b.plan().programs[write].numParameters = 2;
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, parameter(0)), 7});
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, parameter(1)), 9});
  int32_t f = b.addProgram("f", Phase::forward, 0);
  ExprId twice = b.times(2, b.microbatch());
  ExprId rest = b.binary(ExprOp::sub, b.constant(2), twice);
  b.emit(f, stream, Call{write, noExpr, {b.constant(1), twice}});
  b.emit(f, stream, Call{write, noExpr, {rest, b.constant(3)}});
  b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
  return takeFetchedPlan(b, f, count, eachMicrobatch);
}

std::vector<int64_t> fetchOf(Session &session, int64_t microbatch) {
  HostTensor y = *session.fetch("y", microbatch);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(loadInteger(DType::i32, y.bytes.data(), i));
  }
  return values;
}

const std::vector<int64_t> first = {9, 7, 7, 9}, second = {7, 7, 9, 9};

TEST(CallTest, EachArgumentArrives) {
  auto session = Session::open(makeCalls(), {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->run("forward", 0).ok());
  EXPECT_EQ(fetchOf(**session, 0), first);
  EXPECT_EQ(fetchOf(**session, 1), second);
}

// A value of the step has one place on the host, whatever microbatch writes it
// and whatever microbatch is asked for.
TEST(CallTest, AValueOfTheStepIsThatOfTheLastMicrobatch) {
  auto session = Session::open(makeCalls(false), {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->run("forward", 0).ok());
  EXPECT_EQ(fetchOf(**session, 0), second);
  EXPECT_EQ(fetchOf(**session, 1), second);
}

/// 'y' [2] of microbatch m is 9 at m and 7 at 1 - m; the prologue calls for
/// each microbatch, and the table's programs return what they find.
Plan makeOwnMicrobatches() {
  PlanBuilder b({{{"data", 1}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("y", FrameKind::act, microbatches, b.microbatch());
  int32_t y = b.addBuffer(frame, "y", DType::i32, {2});
  int32_t write = b.addProgram("write", Phase::other);
  ExprId here = b.times(4, b.microbatch());
  ExprId there = b.binary(ExprOp::sub, b.constant(4), here);
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, here), 9});
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, there), 7});
  int32_t begin = b.addProgram("begin", Phase::other);
  for (int64_t m : {1, 0}) {
    b.emit(begin, stream, Call{write, b.constant(m), {}});
  }
  int32_t f = b.addProgram("f", Phase::forward, 0);
  b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
  b.place();
  Entry entry;
  entry.name = "forward";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = microbatches;
  entry.prologue = {begin};
  entry.epilogue = {-1};
  entry.table = {{f, 0}, {f, 1}};
  Fetch fetch;
  fetch.name = "y";
  fetch.dtype = DType::i32;
  fetch.layout = Layout::whole({2});
  fetch.eachMicrobatch = true;
  entry.fetches = {fetch};
  b.plan().entries = {entry};
  return b.take();
}

TEST(CallTest, ACallHasAMicrobatchOfItsOwn) {
  auto session = Session::open(makeOwnMicrobatches(), {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->run("forward", 0).ok());
  for (int64_t m : {0, 1}) {
    HostTensor y = *(*session)->fetch("y", m);
    EXPECT_EQ(y.at(m), 9);
    EXPECT_EQ(y.at(1 - m), 7);
  }
}

/// 'y' [4] of each of two devices is 7, and 9 at the device's coordinate plus
/// twice the microbatch: an offset that neither alone decides.
Plan makePlacesOfBoth() {
  PlanBuilder b({{{"data", 2}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("y", FrameKind::act, microbatches, b.microbatch());
  int32_t y = b.addBuffer(frame, "y", DType::i32, {count});
  ExprId here = b.binary(ExprOp::add, b.times(4, b.coordinate(0)),
                         b.times(8, b.microbatch()));
  int32_t f = b.addProgram("f", Phase::forward, 0);
  b.emit(f, stream, Fill{b.view(y), 7});
  b.emit(f, stream, Fill{b.view(y, 0, {}, {}, here), 9});
  b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
  b.place();
  Entry entry;
  entry.name = "forward";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = microbatches;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}, {f, 1}};
  Fetch fetch;
  fetch.name = "y";
  fetch.dtype = DType::i32;
  fetch.layout = Layout::split({2 * count}, {{0}}, b.plan().mesh);
  fetch.eachMicrobatch = true;
  entry.fetches = {fetch};
  b.plan().entries = {entry};
  return b.take();
}

TEST(CallTest, AnOffsetOfCoordinateAndMicrobatch) {
  auto session = Session::open(makePlacesOfBoth(), {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->run("forward", 0).ok());
  for (int64_t m : {0, 1}) {
    HostTensor y = *(*session)->fetch("y", m);
    for (int64_t i = 0; i < 2 * count; ++i) {
      EXPECT_EQ(y.at(i), i % count == i / count + 2 * m ? 9 : 7) << i;
    }
  }
}

// Were the loader to let them pass: nothing is done for a microbatch that there
// is not, nor with a number that there is not.
TEST(CallTest, CallsOfNoMicrobatch) {
  SessionOptions options;
  options.bypassLoader = true;
  auto messageOf = [&](ExprNode node) {
    Plan plan = makeOwnMicrobatches();
    ExprId last =
        std::get<Call>(plan.programs[1].instructions[1].action).microbatch;
    node.lhs = node.rhs = last; // 0
    plan.expressions.push_back(node);
    std::get<Call>(plan.programs[1].instructions[1].action).microbatch =
        static_cast<ExprId>(plan.expressions.size()) - 1;
    auto session = Session::open(plan, options);
    EXPECT_TRUE(session.ok()) << session.message();
    return (*session)->run("forward", 0).message();
  };
  std::string text = "expected a value of every expression of program 'begin' "
                     "for microbatch 0";
  EXPECT_EQ(messageOf({ExprOp::constant, -1, -1, 1}), "");
  EXPECT_EQ(messageOf({ExprOp::constant, -1, -1, 2}), text);
  EXPECT_EQ(messageOf({ExprOp::constant, -1, -1, -1}), text);
  EXPECT_EQ(messageOf({ExprOp::floorDiv, -1, -1, 0}), text);
}

} // namespace
} // namespace llmc::rt::exec
