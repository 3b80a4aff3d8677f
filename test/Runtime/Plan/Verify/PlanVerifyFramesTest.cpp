//===- PlanVerifyFramesTest.cpp - Frames lie in the arena -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;

TEST(PlanVerifyFrames, FrameLeavesTheArena) {
  EXPECT_REFUSED_PLAN("expected frame 'scratch' to end within the arena of",
                      { plan.arenas[1] -= 64; });
  EXPECT_REFUSED_PLAN("to end within the arena",
                      { plan.frames[0].offset = 1 << 20; });
  EXPECT_REFUSED_PLAN("to end within the arena",
                      { plan.frames[3].size = INT64_MAX / 64 * 64; });
}

TEST(PlanVerifyFrames, FrameIsNotAligned) {
  EXPECT_REFUSED_PLAN("expected frame 'hyper' to be aligned to 64 bytes",
                      { plan.frames[findFrame(plan, "hyper")].offset += 4; });
}

TEST(PlanVerifyFrames, StatesAreApart) {
  EXPECT_REFUSED_PLAN("frames 'state' and 'hyper' overlap on stage 0",
                      { plan.frames[findFrame(plan, "hyper")].offset = 0; });
  EXPECT_REFUSED_PLAN("expected one slot of state frame 'state', got 2",
                      { plan.frames[0].slots = 2; });
}

TEST(PlanVerifyFrames, BufferLeavesItsFrame) {
  EXPECT_REFUSED_PLAN(
      "expected buffer 'w' to lie within frame 'state' of 64 bytes",
      { plan.buffers[findBuffer(plan, "w")].offset = 4; });
  EXPECT_REFUSED_PLAN("expected buffer 'w'", {
    plan.buffers[findBuffer(plan, "w")].bytes = INT64_MAX;
  });
}

TEST(PlanVerifyFrames, SlotIsOutOfRange) {
  EXPECT_REFUSED_PLAN(
      "expected the slot of frame 'bnd.t1' to be below 1, got 0 to 1",
      { plan.frames[findFrame(plan, "bnd.t1")].slots = 1; });
  EXPECT_REFUSED_PLAN("the slot of frame 'in' depends on axis \"data\"", {
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 1});
    plan.frames[findFrame(plan, "in")].slot =
        static_cast<ExprId>(plan.expressions.size()) - 1;
  });
}

TEST(PlanVerifyFrames, FrameIsOnAnotherStage) {
  EXPECT_REFUSED_PLAN("frame 'bnd.t0' is not on stage 1",
                      { plan.frames[findFrame(plan, "bnd.t0")].stages = {0}; });
}

TEST(PlanVerifyFrames, SlotsForThoseInFlight) {
  EXPECT_REFUSED_PLAN("expected frame 'act0' to have a slot for each of 2 "
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

namespace {
struct Place {
  FrameKind kind;
  int64_t offset, size;
  int32_t slots = 1;
};
} // namespace

/// What the verifier says of frames 'f0', 'f1', ... in an arena of 512 bytes.
static std::string verifyPlaces(const std::vector<Place> &places) {
  Plan plan;
  plan.arenas = {512};
  for (const Place &place : places) {
    Frame frame;
    frame.name = "f" + std::to_string(plan.frames.size());
    frame.kind = place.kind;
    frame.offset = place.offset;
    frame.size = place.size;
    frame.slots = place.slots;
    plan.frames.push_back(frame);
  }
  return verifyPlan(plan).message();
}

TEST(PlanVerifyFrames, StatesAreApartFromAll) {
  constexpr FrameKind state = FrameKind::state, tmp = FrameKind::tmp;
  auto overlap = [](const char *a, const char *b) {
    return std::string("frames '") + a + "' and '" + b + "' overlap on stage 0";
  };
  // The farthest end decides, not the last start.
  EXPECT_EQ(verifyPlaces({{tmp, 0, 256}, {tmp, 64, 64}, {state, 192, 64}}),
            overlap("f0", "f2"));
  EXPECT_EQ(verifyPlaces({{tmp, 0, 64}, {tmp, 0, 256}, {state, 192, 64}}),
            overlap("f1", "f2"));
  EXPECT_EQ(verifyPlaces({{state, 0, 256}, {tmp, 64, 64}}),
            overlap("f0", "f1"));
  EXPECT_EQ(verifyPlaces({{state, 0, 256}, {state, 192, 128}}),
            overlap("f0", "f1"));
  EXPECT_EQ(verifyPlaces({{state, 0, 64}, {state, 64, 128}, {tmp, 128, 64}}),
            overlap("f1", "f2"));
  // In the order of offsets, not of the table.
  EXPECT_EQ(verifyPlaces({{tmp, 192, 64}, {state, 0, 256}}),
            overlap("f1", "f0"));
  EXPECT_EQ(verifyPlaces({{tmp, 0, 64, 3}, {state, 128, 64}}),
            overlap("f0", "f1"));
  EXPECT_EQ(verifyPlaces({{tmp, 0, 256}, {tmp, 64, 192}, {state, 192, 64}}),
            overlap("f0", "f2"));
  EXPECT_EQ(verifyPlaces({{state, 0, 64}, {tmp, 0, 1}}), overlap("f0", "f1"));
  // Side by side; others may share; what has no size lies nowhere.
  EXPECT_EQ(verifyPlaces({{tmp, 0, 64, 2}, {state, 128, 64}, {tmp, 192, 64}}),
            "");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 256}, {tmp, 64, 256}, {state, 320, 64}}),
            "");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 256}, {state, 64, 0}}), "");
}

TEST(PlanVerifyFrames, ArenaAndAlignment) {
  constexpr FrameKind tmp = FrameKind::tmp;
  EXPECT_EQ(verifyPlaces({{tmp, 256, 128, 2}}), "");
  EXPECT_EQ(verifyPlaces({{tmp, 320, 128, 2}}),
            "expected frame 'f0' to end within the arena of 512 bytes of stage "
            "0, got offset 320, 2 slots of 128 bytes");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 513}}),
            "expected frame 'f0' to end within the arena of 512 bytes of stage "
            "0, got offset 0, 1 slots of 513 bytes");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 512}}), "");
  EXPECT_EQ(verifyPlaces({{tmp, 512, 0}}), "");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 96}}), "");
  EXPECT_EQ(verifyPlaces({{tmp, 0, 96, 2}}),
            "expected frame 'f0' to be aligned to 64 bytes, got offset 0 and "
            "size 96");
  EXPECT_EQ(verifyPlaces({{tmp, 32, 64}}),
            "expected frame 'f0' to be aligned to 64 bytes, got offset 32 and "
            "size 64");
}

TEST(PlanVerifyFrames, BuffersEndWithTheirFrame) {
  EXPECT_EQ(verifyBroken([](Plan &plan) {
              plan.buffers[findBuffer(plan, "h")].bytes = 64;
            }).message(),
            "");
  EXPECT_REFUSED_PLAN(
      "expected buffer 'h' to lie within frame 'act0' of 64 bytes, "
      "got offset 0 and 65 bytes",
      { plan.buffers[findBuffer(plan, "h")].bytes = 65; });
  EXPECT_REFUSED_PLAN("got offset 1 and 64 bytes",
                      { plan.buffers[findBuffer(plan, "h")].offset = 1; });
}

static ExprId add(Plan &plan, ExprOp op, ExprId lhs, ExprId rhs,
                  int64_t value = 0) {
  plan.expressions.push_back({op, lhs, rhs, value});
  return static_cast<ExprId>(plan.expressions.size()) - 1;
}

// Wherever the other axis stands in the expression; the pipeline's is fine.
TEST(PlanVerifyFrames, SlotsFollowTheStage) {
  for (bool onTheLeft : {true, false}) {
    for (int64_t axis : {0, 1}) {
      Plan plan = makeSamplePlan();
      Frame &in = plan.frames[findFrame(plan, "in")];
      ExprId zero = add(plan, ExprOp::constant, -1, -1, 0);
      ExprId other = add(plan, ExprOp::coordinate, -1, -1, axis);
      ExprId none = onTheLeft ? add(plan, ExprOp::mul, other, zero)
                              : add(plan, ExprOp::mul, zero, other);
      in.slot = onTheLeft ? add(plan, ExprOp::add, none, in.slot)
                          : add(plan, ExprOp::add, in.slot, none);
      EXPECT_EQ(verifyPlan(plan).ok(), axis == 0);
    }
  }
}

TEST(PlanVerifyFrames, SlotsEnd) {
  auto withSlot = [](int64_t value) {
    Plan plan = makeSamplePlan();
    plan.frames[findFrame(plan, "tmp")].slot =
        add(plan, ExprOp::constant, -1, -1, value);
    return verifyPlan(plan).message();
  };
  EXPECT_EQ(withSlot(0), "");
  EXPECT_THAT(withSlot(1),
              testing::HasSubstr("expected the slot of frame 'tmp' to be below "
                                 "1, got 1 to 1"));
  EXPECT_THAT(withSlot(-1), testing::HasSubstr("got -1 to -1"));
  EXPECT_REFUSED_PLAN("of frame 'tmp' to be below 1, got an overflow", {
    ExprId zero = add(plan, ExprOp::constant, -1, -1, 0);
    plan.frames[findFrame(plan, "tmp")].slot =
        add(plan, ExprOp::floorDiv, zero, zero);
  });
}

// Also of frames that an instruction names by an event alone.
TEST(PlanVerifyFrames, EventsOfAnotherStage) {
  EXPECT_REFUSED_PLAN("frame 'act0' is not on stage 1", {
    plan.programs[findProgram(plan, "c1.F")].instructions.push_back(
        {0, -1, Signal{{findFrame(plan, "act0"), 0}}});
  });
  EXPECT_REFUSED_PLAN("frame 'act0' is not on stage 1", {
    plan.programs[findProgram(plan, "c1.F")].instructions.push_back(
        {0, -1, Wait{{findFrame(plan, "act0"), 0}}});
  });
}

// Each stage has its own frames in its own arena.
TEST(PlanVerifyFrames, ArenasOfStages) {
  Plan plan;
  plan.mesh = {{{"pipe", 2}}, 0};
  plan.arenas = {64, 512};
  Frame state, other;
  state.kind = other.kind = FrameKind::state;
  state.size = 64;
  state.stages = {0};
  other.size = 512;
  other.stages = {1};
  plan.frames = {state, other};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  plan.frames[1].stages = {0};
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("within the arena of 64 bytes of stage 0"));
}

TEST(PlanVerifyFrames, EmptyBuffers) {
  Plan plan = makeSamplePlan();
  plan.buffers.push_back({findFrame(plan, "tmp"), 0, 0, "none", -1});
  Operand to;
  to.buffer = static_cast<int32_t>(plan.buffers.size()) - 1;
  to.shape = {0};
  plan.programs[findProgram(plan, "u")].instructions.push_back(
      {0, -1, Fill{to, 0}});
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

// Of the offset of an operand there are bounds, or it is refused.
TEST(PlanVerifyFrames, OffsetOverflows) {
  EXPECT_REFUSED_PLAN("expected an operand of 64 bytes at offset 0 + "
                      "expression to lie within buffer 'gw' of 64 bytes",
                      {
                        plan.expressions.push_back({ExprOp::floorDiv, 0, 0, 0});
                        firstOf<Fill>(plan, "begin").to.expr =
                            static_cast<ExprId>(plan.expressions.size()) - 1;
                      });
}
