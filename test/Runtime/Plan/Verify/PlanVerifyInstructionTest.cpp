//===- PlanVerifyInstructionTest.cpp - Operands fit -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

TEST(PlanVerifyInstruction, OperandLeavesItsBuffer) {
  EXPECT_REFUSED_LAUNCH(
      "expected an operand of 64 bytes at offset 4 to lie within "
      "buffer 'x' of 64 bytes",
      { embed(plan).operands[2].offset = 4; });
  EXPECT_REFUSED_LAUNCH("+ expression to lie within buffer 'w'",
                        { embed(plan).operands[1].expr = 2; });
  EXPECT_REFUSED_LAUNCH("to lie within buffer 'x'",
                        { embed(plan).operands[2].shape = {1 << 20}; });
  EXPECT_REFUSED_LAUNCH("to be aligned to 4 bytes", {
    embed(plan).operands[0].offset = 2;
    embed(plan).operands[0].shape = {3};
  });
}

TEST(PlanVerifyInstruction, ScratchIsApart) {
  EXPECT_REFUSED_LAUNCH("expected scratch in a scratch frame, got 'h'",
                        { embed(plan).scratch = embed(plan).operands[3]; });
  EXPECT_REFUSED_LAUNCH("expected no value in a scratch frame, got 'library'", {
    embed(plan).operands[3].buffer = findBuffer(plan, "library");
  });
}

TEST(PlanVerifyInstruction, Transfers) {
  EXPECT_REFUSED_LAUNCH(
      "expected the peer of transfer 't0' to be one other stage "
      "below 2, got 0 to 0",
      {
        firstOf<Send>(plan, "c0.F").message.peer =
            firstOf<Receive>(plan, "c1.F").message.peer;
      });
  EXPECT_REFUSED_LAUNCH(
      "expected the operands of a transfer to be contiguous",
      { firstOf<Send>(plan, "c0.F").message.operands[0].strides = {1, 4}; });
}

TEST(PlanVerifyInstruction, HostEnds) {
  EXPECT_REFUSED_LAUNCH("the entry has no input number 1",
                        { firstOf<Copy>(plan, "c0.F").index = 1; });
  EXPECT_REFUSED_LAUNCH("the entry has no hyper value number 3",
                        { firstOf<Copy>(plan, "begin").index = 3; });
  EXPECT_REFUSED_LAUNCH("the entry has no metric number 1",
                        { firstOf<Copy>(plan, "u").index = 1; });
  EXPECT_REFUSED_LAUNCH(
      "expected 4 elements of i32 for input 'tokens', got 3 of i32",
      { firstOf<Copy>(plan, "c0.F").to.shape = {3}; });
  EXPECT_REFUSED_LAUNCH("expected 1 elements of f64 for metric 'loss'",
                        { plan.entries[0].metrics[0].dtype = DType::f64; });
  EXPECT_REFUSED_LAUNCH("input 'tokens' is not read by stage 0",
                        { plan.entries[0].inputs[0].stages = {1}; });
}

namespace {
/// One stage of 3 devices; program 'p' runs what a test emits.
struct OnePlan : testing::Test {
  PlanBuilder b{Mesh{{{"data", 3}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t p = b.addProgram("p", Phase::other);

  std::string verify(Action action) {
    b.plan().programs[p].instructions.clear();
    b.emit(p, stream, std::move(action));
    b.place();
    Plan plan = b.plan();
    plan.entries = {makeEntryOf(p)};
    return verifyPlan(plan).message();
  }
};
} // namespace

// Aligned on the first and the last device, and between them: 2 * coordinate
// on an axis of 3 is not.
TEST_F(OnePlan, MovingOffsetsAreAlignedOnEveryDevice) {
  int32_t x = b.addBuffer(frame, "x", DType::u8, {64});
  auto fill = [&](DType dtype, int64_t offset, int64_t step) {
    Operand to = b.view(x, offset, {2}, {}, b.times(step, b.coordinate(0)));
    to.dtype = dtype;
    return verify(Fill{to, 0});
  };
  std::string text = "to be aligned to 4 bytes";
  EXPECT_THAT(fill(DType::f32, 0, 2), HasSubstr(text));
  EXPECT_THAT(fill(DType::f32, 2, 4), HasSubstr(text));
  EXPECT_THAT(fill(DType::f32, 2, 2), HasSubstr(text));
  EXPECT_EQ(fill(DType::f32, 0, 4), "");
  EXPECT_EQ(fill(DType::bf16, 2, 2), "");
  EXPECT_EQ(fill(DType::u8, 1, 1), "");
  EXPECT_THAT(fill(DType::f64, 0, 4), HasSubstr("to be aligned to 8 bytes"));
}

TEST_F(OnePlan, BuffersAndOffsetsAreAlignedTogether) {
  int32_t x = b.addBufferAt(frame, 65, "x", DType::u8, {63});
  for (auto [offset, isAligned] :
       {std::pair<int64_t, bool>{3, true}, {1, false}, {0, false}}) {
    Operand to = b.view(x, offset, {2});
    to.dtype = DType::f32;
    EXPECT_EQ(verify(Fill{to, 0}).empty(), isAligned) << offset;
  }
}

TEST_F(OnePlan, TransfersNeedStages) {
  b.addTransfer("t");
  EXPECT_THAT(verify(Send{{0, b.constant(0), {}}}),
              HasSubstr("a transfer needs a pipeline axis"));
}

TEST_F(OnePlan, OperandsEndWithTheirBuffer) {
  int32_t x = b.addBuffer(frame, "x", DType::f32, {8});
  auto fill = [&](int64_t offset, int64_t count, ExprId expr = noExpr) {
    return verify(Fill{b.view(x, offset, {count}, {}, expr), 0});
  };
  std::string text = "to lie within buffer 'x' of 32 bytes";
  EXPECT_EQ(fill(0, 8), "");
  EXPECT_THAT(fill(0, 9), HasSubstr(text));
  EXPECT_EQ(fill(24, 2), "");
  EXPECT_THAT(fill(28, 2), HasSubstr(text));
  EXPECT_EQ(fill(32, 0), "");
  EXPECT_THAT(fill(36, 0), HasSubstr(text));
  // 0, 8, 16 and -16, -8, 0.
  ExprId up = b.times(8, b.coordinate(0));
  EXPECT_EQ(fill(0, 4, up), "");
  EXPECT_THAT(fill(0, 5, up),
              HasSubstr("expected an operand of 20 bytes at offset 0 + "
                        "expression to lie within buffer 'x' of 32 bytes"));
  ExprId down = b.binary(ExprOp::sub, up, b.constant(16));
  EXPECT_EQ(fill(16, 4, down), "");
  EXPECT_THAT(fill(8, 1, down), HasSubstr(text));
  ExprId large = b.constant(INT64_MAX - 3);
  EXPECT_THAT(fill(8, 1, large), HasSubstr(text));
}

TEST_F(OnePlan, EndsOfACopy) {
  int32_t x = b.addBuffer(frame, "x", DType::f32, {8});
  int32_t y = b.addBuffer(frame, "y", DType::f32, {8});
  auto copy = [&](Operand to, Operand from) {
    b.plan().programs[p].instructions.clear();
    // Both ends hold values.
    return verify(Copy{std::move(to), std::move(from), HostEnd::none, 0});
  };
  std::string other = "expected both ends of a copy to have the same elements";
  EXPECT_THAT(copy(b.view(y, 0, {3}), b.view(x, 0, {4})), HasSubstr(other));
  Operand whole = b.view(x);
  whole.dtype = DType::i32;
  EXPECT_THAT(copy(b.view(y), whole), HasSubstr(other));
  std::string overlap = "the ends of a copy overlap";
  EXPECT_THAT(copy(b.view(x, 0, {4}), b.view(x, 12, {4})), HasSubstr(overlap));
  EXPECT_THAT(copy(b.view(x, 0, {4}), b.view(x, 16, {4})),
              HasSubstr("which nothing has written"));
  EXPECT_THAT(copy(b.view(x, 16, {4}), b.view(x, 0, {4})),
              HasSubstr("which nothing has written"));
  // They move together, four bytes apart, though their ranges overlap.
  ExprId moving = b.times(8, b.coordinate(0));
  EXPECT_THAT(
      copy(b.view(x, 0, {1}, {}, moving), b.view(x, 4, {1}, {}, moving)),
      HasSubstr("which nothing has written"));
  EXPECT_THAT(copy(b.view(x, 0, {1}, {}, moving), b.view(x, 20, {1})),
              HasSubstr("which nothing has written"));
  EXPECT_THAT(copy(b.view(x, 0, {1}, {}, moving), b.view(x, 8, {1})),
              HasSubstr(overlap));
  EXPECT_THAT(
      copy(b.view(x, 4, {1}, {}, moving), b.view(x, 0, {1}, {}, moving)),
      HasSubstr("which nothing has written"));
  // Buffers that overlap, at the same bytes and beside each other.
  int32_t z = b.addBufferAt(frame, 16, "z", DType::f32, {8});
  for (bool zFirst : {true, false}) {
    auto at = [&](int64_t offset) {
      Operand one = b.view(x, 12, {1}, {}, moving);
      Operand other = b.view(z, offset, {1}, {}, moving);
      return zFirst ? copy(other, one) : copy(one, other);
    };
    EXPECT_THAT(at(0), HasSubstr("which nothing has written"));
    ExprId slowly = b.times(4, b.coordinate(0));
    Operand one = b.view(x, 20, {1}, {}, slowly);
    Operand other = b.view(z, 4, {1}, {}, slowly);
    EXPECT_THAT(zFirst ? copy(other, one) : copy(one, other),
                HasSubstr(overlap));
  }
}

// Frames may share bytes; their operands are compared by all of their slots.
TEST_F(OnePlan, OverlapOfFrames) {
  int32_t first = b.addFrame("t0", FrameKind::tmp, 2);
  int32_t x = b.addBuffer(first, "x", DType::f32, {16});
  int32_t second = b.addFrame("t1", FrameKind::tmp);
  int32_t y = b.addBuffer(second, "y", DType::f32, {16});
  auto verifyAt = [&](int64_t offset) {
    b.plan().programs[p].instructions.clear();
    b.emit(p, stream, Copy{b.view(x), b.view(y), HostEnd::none, 0});
    b.place();
    Plan plan = b.plan();
    plan.frames[first].offset = 256;
    plan.frames[second].offset = offset;
    plan.arenas = {1024};
    plan.entries = {makeEntryOf(p)};
    return verifyPlan(plan).message();
  };
  for (int64_t offset : {256, 320}) {
    EXPECT_THAT(verifyAt(offset), HasSubstr("the ends of a copy overlap"));
  }
  for (int64_t offset : {192, 384}) {
    EXPECT_THAT(verifyAt(offset), HasSubstr("which nothing has written"));
  }
}

// A result may lie exactly on what is read: the same frame, the same bytes of
// it, moving alike.
TEST_F(OnePlan, StartsOfOperands) {
  int32_t x = b.addBuffer(frame, "x", DType::f32, {16});
  int32_t z = b.addBufferAt(frame, 16, "z", DType::f32, {12});
  int32_t other = b.addFrame("other", FrameKind::step);
  int32_t y = b.addBuffer(other, "y", DType::f32, {16});
  b.plan().objects.push_back({"k.so", 0, {}});
  b.addKernel("k");
  auto verifyLaunch = [&](Operand read, Operand write) {
    KernelLaunch launch;
    launch.operands = {std::move(read), std::move(write)};
    launch.access = {Access::read, Access::write};
    b.plan().programs[p].instructions.clear();
    b.emit(p, stream, launch);
    b.place();
    Plan plan = b.plan();
    // Both frames have the same bytes.
    plan.frames[other].offset = plan.frames[frame].offset;
    plan.entries = {makeEntryOf(p)};
    return verifyPlan(plan).message();
  };
  const char *tied = "which nothing has written", *apart = "is not tied";
  EXPECT_THAT(verifyLaunch(b.view(x, 16, {2}), b.view(x, 16, {2})),
              HasSubstr(tied));
  EXPECT_THAT(verifyLaunch(b.view(x, 16, {2}), b.view(z, 0, {2})),
              HasSubstr(tied));
  EXPECT_THAT(verifyLaunch(b.view(z, 0, {2}), b.view(x, 16, {2})),
              HasSubstr(tied));
  EXPECT_THAT(verifyLaunch(b.view(x, 16, {2}), b.view(z, 4, {2})),
              HasSubstr(apart));
  EXPECT_THAT(verifyLaunch(b.view(x, 16, {2}), b.view(y, 16, {2})),
              HasSubstr(apart));
  ExprId moving = b.times(8, b.coordinate(0));
  EXPECT_THAT(verifyLaunch(b.view(x, 0, {2}, {}, moving),
                           b.view(x, 0, {2}, {}, moving)),
              HasSubstr(tied));
  EXPECT_THAT(verifyLaunch(b.view(x, 0, {2}, {}, moving), b.view(x, 0, {2})),
              HasSubstr(apart));
}

// Another axis; no point; below, at and above the stages; oneself.
TEST(PlanVerifyInstruction, PeersOfTransfers) {
  auto peer = [](int64_t value) {
    return verifyBroken([&](Plan &plan) {
             plan.expressions.push_back({ExprOp::constant, -1, -1, value});
             firstOf<Receive>(plan, "c0.B").message.peer =
                 static_cast<ExprId>(plan.expressions.size()) - 1;
           })
        .message();
  };
  std::string text = "to be one other stage below 2, got ";
  EXPECT_EQ(peer(1), "");
  EXPECT_THAT(peer(0), HasSubstr(text + "0 to 0"));
  EXPECT_THAT(peer(2), HasSubstr(text + "2 to 2"));
  EXPECT_THAT(peer(-1), HasSubstr(text + "-1 to -1"));
  EXPECT_REFUSED_LAUNCH("got 0 to 1", {
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 1});
    firstOf<Receive>(plan, "c0.B").message.peer =
        static_cast<ExprId>(plan.expressions.size()) - 1;
  });
  EXPECT_REFUSED_LAUNCH("got 1 to 2", {
    auto last = static_cast<ExprId>(plan.expressions.size());
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 1});
    plan.expressions.push_back({ExprOp::constant, -1, -1, 1});
    plan.expressions.push_back({ExprOp::add, last, last + 1, 0});
    firstOf<Receive>(plan, "c0.B").message.peer = last + 2;
  });
  EXPECT_REFUSED_LAUNCH("got an overflow", {
    plan.expressions.push_back({ExprOp::floorDiv, 0, 0, 0});
    firstOf<Receive>(plan, "c0.B").message.peer =
        static_cast<ExprId>(plan.expressions.size()) - 1;
  });
  Message message;
  message.transfer = 0;
  message.peer = 0;
  for (bool isSend : {true, false}) {
    Exchange exchange;
    (isSend ? exchange.sends : exchange.receives) = {message};
    EXPECT_MISMATCH(
        text, verifyBroken([&](Plan &plan) {
          plan.expressions[0] = {ExprOp::constant, -1, -1, 7};
          plan.programs[findProgram(plan, "u")].instructions.push_back(
              {0, -1, exchange});
          for (Frame &frame : plan.frames) {
            frame.slot = noExpr;
            frame.slots = 3;
          }
          plan.frames[findFrame(plan, "state")].slots = 1;
          plan.arenas = {1 << 20, 1 << 20};
        }));
  }
}

TEST(PlanVerifyInstruction, FetchedValues) {
  auto with = [](void (*edit)(Plan &plan, Copy &copy)) {
    return verifyBroken([&](Plan &plan) {
             Fetch fetch;
             fetch.name = "x";
             fetch.layout = Layout::whole({4, 4});
             fetch.stages = {1};
             plan.entries[0].fetches = {fetch};
             Copy copy{{},
                       firstOf<Receive>(plan, "c1.F").message.operands[0],
                       HostEnd::fetch,
                       0};
             edit(plan, copy);
             plan.programs[findProgram(plan, "c1.F")].instructions.push_back(
                 {0, -1, copy});
           })
        .message();
  };
  EXPECT_EQ(with([](Plan &, Copy &) {}), "");
  EXPECT_THAT(with([](Plan &, Copy &copy) { copy.index = 1; }),
              HasSubstr("the entry has no fetched value number 1"));
  EXPECT_THAT(
      with([](Plan &plan, Copy &) { plan.entries[0].fetches[0].stages = {0}; }),
      HasSubstr("value 'x' is not fetched from stage 1"));
  EXPECT_THAT(with([](Plan &, Copy &copy) { copy.from.shape = {3, 4}; }),
              HasSubstr("expected 16 elements of f32 for fetched value 'x', "
                        "got 12 of f32"));
  EXPECT_THAT(with([](Plan &, Copy &copy) { copy.from.dtype = DType::i32; }),
              HasSubstr("got 16 of i32"));
  EXPECT_REFUSED_LAUNCH(
      "expected 1 elements of f32 for hyper value 'lr', got 1 of i32",
      { firstOf<Copy>(plan, "begin").to.dtype = DType::i32; });
  EXPECT_REFUSED_LAUNCH("the entry has no hyper value number 1",
                        { firstOf<Copy>(plan, "begin").index = 1; });
}

TEST(PlanVerifyInstruction, BranchesAreRefused) {
  Status status = verifyBroken([](Plan &plan) {
    Operand flag = firstOf<Fill>(plan, "begin").to;
    plan.programs[findProgram(plan, "u")].instructions.push_back(
        {0, -1, Branch{flag, 0}});
  });
  EXPECT_EQ(status.kind(), ErrorKind::unsupported);
  EXPECT_THAT(status.message(),
              HasSubstr("branches are not supported in plans"));
}

TEST(PlanVerifyInstruction, ScratchOverlapsAnOperand) {
  EXPECT_REFUSED_LAUNCH("scratch overlaps an operand", {
    plan.frames[findFrame(plan, "scratch")].offset =
        plan.frames[findFrame(plan, "tmp")].offset;
  });
  // The last one alone.
  EXPECT_REFUSED_LAUNCH("scratch overlaps an operand", {
    plan.frames[findFrame(plan, "scratch")].offset =
        plan.frames[findFrame(plan, "step")].offset;
  });
}
