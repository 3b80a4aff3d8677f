//===- PlanVerifyFramesTest.cpp - Frames lie in the arena -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;

#define EXPECT_REFUSED(text, ...)                                              \
  EXPECT_MISMATCH(text, verifyBroken([](Plan & plan) __VA_ARGS__))

TEST(PlanVerifyFrames, FrameLeavesTheArena) {
  EXPECT_REFUSED("expected frame 'scratch' to end within the arena of",
                 { plan.arenas[1] -= 64; });
  EXPECT_REFUSED("to end within the arena",
                 { plan.frames[0].offset = 1 << 20; });
  EXPECT_REFUSED("to end within the arena",
                 { plan.frames[3].size = INT64_MAX / 64 * 64; });
}

TEST(PlanVerifyFrames, FrameIsNotAligned) {
  EXPECT_REFUSED("expected frame 'hyper' to be aligned to 64 bytes",
                 { plan.frames[findFrame(plan, "hyper")].offset += 4; });
}

TEST(PlanVerifyFrames, StatesAreApart) {
  EXPECT_REFUSED("frames 'state' and 'hyper' overlap on stage 0",
                 { plan.frames[findFrame(plan, "hyper")].offset = 0; });
  EXPECT_REFUSED("expected one slot of state frame 'state', got 2",
                 { plan.frames[0].slots = 2; });
}

TEST(PlanVerifyFrames, BufferLeavesItsFrame) {
  EXPECT_REFUSED("expected buffer 'w' to lie within frame 'state' of 64 bytes",
                 { plan.buffers[findBuffer(plan, "w")].offset = 4; });
  EXPECT_REFUSED("expected buffer 'w'",
                 { plan.buffers[findBuffer(plan, "w")].bytes = INT64_MAX; });
}

TEST(PlanVerifyFrames, SlotIsOutOfRange) {
  EXPECT_REFUSED(
      "expected the slot of frame 'bnd.t1' to be below 1, got 0 to 1",
      { plan.frames[findFrame(plan, "bnd.t1")].slots = 1; });
  EXPECT_REFUSED("the slot of frame 'in' depends on axis \"data\"", {
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 1});
    plan.frames[findFrame(plan, "in")].slot =
        static_cast<ExprId>(plan.expressions.size()) - 1;
  });
}

TEST(PlanVerifyFrames, FrameIsOnAnotherStage) {
  EXPECT_REFUSED("frame 'bnd.t0' is not on stage 1",
                 { plan.frames[findFrame(plan, "bnd.t0")].stages = {0}; });
}

TEST(PlanVerifyFrames, SlotsForThoseInFlight) {
  EXPECT_REFUSED("expected frame 'act0' to have a slot for each of 2 "
                 "microbatches in flight, got 1",
                 {
                   Frame &frame = plan.frames[findFrame(plan, "act0")];
                   frame.slots = 1;
                   frame.slot = noExpr;
                 });
}

// Boundaries and scratch may share bytes if no value is lost by it.
TEST(PlanVerifyFrames, OtherFramesMayShareBytes) {
  Plan plan = makeSamplePlan();
  plan.frames[findFrame(plan, "scratch")].offset =
      plan.frames[findFrame(plan, "hyper")].offset;
  Status status = verifyPlan(plan);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
}
