//===- PlanRoutesTest.cpp - Who sends to whom, and in what order ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanRoutes.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::plan {
namespace {

using testing::HasSubstr;

/// Streams of the two sends, and of the receives in the order of issue.
struct Shape {
  const char *firstSend = "S", *secondSend = "S";
  std::vector<int32_t> receives = {0, 1};
  const char *firstReceive = "R", *secondReceive = "R";
  int32_t secondTransfer = 1;
  /// The last stage fills its first buffer before it receives.
  bool isLate = false;
};

/// Stage 0 sends two buffers to stage 1.
Plan makePlan(const Shape &shape) {
  PlanBuilder b(Mesh{{{"pipe", 2}}, 0});
  std::map<std::string, int32_t> streams;
  auto stream = [&](const char *name, StreamKind kind) {
    auto [found, isNew] = streams.try_emplace(name);
    if (isNew) {
      found->second = b.addStream(name, kind);
    }
    return found->second;
  };
  int32_t frame = b.addFrame("step", FrameKind::step);
  const int32_t buffers[] = {b.addBuffer(frame, "a", DType::f32, {4}),
                             b.addBuffer(frame, "b", DType::f32, {4})};
  const int32_t transfers[] = {b.addTransfer("t0"), b.addTransfer("t1")};
  int32_t p = b.addProgram("p", Phase::other);
  int32_t q = b.addProgram("q", Phase::other);
  for (int32_t i : {0, 1}) {
    int32_t sends =
        stream(i ? shape.secondSend : shape.firstSend, StreamKind::send);
    int32_t transfer = transfers[i ? shape.secondTransfer : 0];
    b.emit(p, sends, Fill{b.view(buffers[i]), 1});
    b.emit(p, sends, Send{{transfer, b.constant(1), {b.view(buffers[i])}}});
  }
  if (shape.isLate) {
    int32_t first = stream(shape.firstReceive, StreamKind::receive);
    b.emit(q, first, Fill{b.view(buffers[shape.receives[0]]), 1});
    b.emit(q, first, Fill{b.view(buffers[shape.receives[0]]), 1});
    b.emit(q, first, Fill{b.view(buffers[shape.receives[0]]), 1});
  }
  for (size_t k : {0, 1}) {
    int32_t i = shape.receives[k];
    int32_t transfer = transfers[i ? shape.secondTransfer : 0];
    b.emit(q,
           stream(k ? shape.secondReceive : shape.firstReceive,
                  StreamKind::receive),
           Receive{{transfer, b.constant(0), {b.view(buffers[i])}}});
  }
  b.place();
  Plan plan = b.take();
  Entry entry;
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {p, q};
  entry.epilogue = {-1, -1};
  plan.entries = {entry};
  return plan;
}

// Two transfers on one stream share a route; on two streams each has its own.
TEST(PlanRoutesTest, ARouteForEachNeighbourDirectionAndStream) {
  Plan plan = makePlan({});
  EXPECT_EQ(verifyPlan(plan).message(), "");
  Routes shared = *Routes::of(plan);
  ASSERT_EQ(shared.all().size(), 1u);
  EXPECT_EQ(shared.all()[0].from, 0);
  EXPECT_EQ(shared.all()[0].to, 1);
  EXPECT_EQ(plan.streams[shared.all()[0].stream].name, "S");
  EXPECT_NE(shared.find(0, 1, 1), nullptr);
  EXPECT_EQ(shared.find(1, 0, 1), nullptr);

  Shape apart;
  apart.secondSend = "S.t1";
  apart.receives = {1, 0};
  apart.secondReceive = "R.t1";
  plan = makePlan(apart);
  EXPECT_EQ(verifyPlan(plan).message(), "");
  Routes own = *Routes::of(plan);
  EXPECT_EQ(own.all().size(), 2u);
  EXPECT_NE(own.find(0, 1, 0)->stream, own.find(0, 1, 1)->stream);
}

// Receives on two streams meet their sends whatever the order, but a
// communicator knows only one.
TEST(PlanRoutesTest, BothEndsHaveOneOrder) {
  Shape shape;
  shape.receives = {1, 0};
  shape.secondReceive = "R2";
  EXPECT_THAT(verifyPlan(makePlan(shape)).message(),
              HasSubstr("stages 0 and 1 enqueue the messages of stream 'S' in "
                        "different orders"));
  shape.receives = {0, 1};
  EXPECT_EQ(verifyPlan(makePlan(shape)).message(), "");
}

TEST(PlanRoutesTest, ATransferIsSentOnOneStream) {
  Shape shape;
  shape.secondSend = "S2";
  shape.secondTransfer = 0;
  Status status = Routes::of(makePlan(shape)).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(), "expected stage 0 to send transfer 't0' to stage "
                              "1 on one stream, got 'S' and 'S2'");
}

// Messages of one transfer meet in the order in which they come, whichever end
// is there first.
TEST(PlanRoutesTest, MessagesOfOneTransferMeetInOrder) {
  Shape shape;
  shape.secondTransfer = 0;
  EXPECT_EQ(verifyPlan(makePlan(shape)).message(), "");
  shape.secondReceive = "R2"; // Both receives wait for the first send.
  EXPECT_EQ(verifyPlan(makePlan(shape)).message(), "");
  shape.secondReceive = "R";
  shape.secondSend = "S2"; // Both sends wait for the first receive.
  shape.isLate = true;
  EXPECT_EQ(verifyPlan(makePlan(shape)).message(),
            "entry '': expected stage 0 to send transfer 't0' to stage 1 on "
            "one stream, got 'S' and 'S2'");
}

// The stage alone decides, since communicators are made before the step.
TEST(PlanRoutesTest, PeersDependOnTheStage) {
  auto messageOf = [](ExprNode last, int sends = 1) {
    Plan plan = makePlan({});
    auto zero = static_cast<ExprId>(plan.expressions.size());
    plan.expressions.push_back({ExprOp::constant, -1, -1, 0});
    plan.expressions.push_back({ExprOp::constant, -1, -1, 1});
    plan.expressions.push_back({ExprOp::microbatch, -1, -1, 0});
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 0});
    last.lhs += zero;
    last.rhs += zero;
    plan.expressions.push_back(last);
    Exchange exchange;
    for (Instruction &each : plan.programs[0].instructions) {
      if (auto *send = std::get_if<Send>(&each.action)) {
        send->message.peer = zero + 4;
        exchange.sends.push_back(send->message);
      }
    }
    if (sends == 2) { // The first one is named.
      plan.programs[0].instructions = {{0, -1, exchange}};
    }
    return Routes::of(plan).status().message();
  };
  std::string text = "expected the peer of transfer 't0' to depend on the "
                     "stage alone";
  EXPECT_EQ(messageOf({ExprOp::add, 0, 1, 0}), "");
  EXPECT_EQ(messageOf({ExprOp::add, 1, 3, 0}), "");
  EXPECT_EQ(messageOf({ExprOp::floorDiv, 1, 0, 0}), text);
  EXPECT_EQ(messageOf({ExprOp::add, 1, 2, 0}), text);
  EXPECT_EQ(messageOf({ExprOp::mul, 1, 2, 0}), text);
  EXPECT_EQ(messageOf({ExprOp::parameter, 0, 0, 0}), text);
  EXPECT_EQ(messageOf({ExprOp::add, 1, 2, 0}, 2), text);
  // Of one microbatch it is the same, and is refused all the same.
  Plan plan = makePlan({});
  plan.expressions.push_back({ExprOp::microbatch, -1, -1, 0});
  plan.expressions.push_back(
      {ExprOp::add,
       std::get<Send>(plan.programs[0].instructions[1].action).message.peer,
       static_cast<ExprId>(plan.expressions.size()) - 1, 0});
  std::get<Send>(plan.programs[0].instructions[1].action).message.peer =
      static_cast<ExprId>(plan.expressions.size()) - 1;
  EXPECT_EQ(verifyPlan(plan).message(), "entry '': " + text);
}

} // namespace
} // namespace llmc::rt::plan
