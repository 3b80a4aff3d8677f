//===- BindTest.cpp - What no device can be bound to ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that the loader lets pass but no device can run, and plans that it
// would refuse: each is refused again, with its own message.
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::test {
namespace {

using namespace plan;
using Collective = plan::Collective;
using testing::EndsWith;

/// One program 'p' of an entry that runs it on every stage.
struct BindTest : testing::Test {
  PlanBuilder b{{{{"data", 2}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t x = b.addBuffer(frame, "x", DType::f32, {4});
  int32_t y = b.addBuffer(frame, "y", DType::f32, {4});
  int32_t z = b.addBuffer(frame, "z", DType::i32, {4});
  int32_t symbol = b.addSymbol("s");

  Plan planOf(std::vector<Action> actions, int64_t microbatches = 1) {
    PlanBuilder copy = b;
    int32_t p = copy.addProgram("p", Phase::other);
    for (Action &action : actions) {
      copy.emit(p, stream, std::move(action));
    }
    copy.place();
    Plan plan = copy.take();
    Entry entry;
    entry.name = "e";
    entry.kind = EntryKind::forward;
    entry.numChunks = 0;
    entry.numMicrobatches = microbatches;
    entry.prologue.assign(plan.mesh.numStages(), p);
    entry.epilogue.assign(plan.mesh.numStages(), -1);
    plan.entries = {entry};
    return plan;
  }
  static Status open(Plan plan, bool bypass) {
    SessionOptions options;
    options.bypassLoader = bypass;
    return Session::open(std::move(plan), options).status();
  }
  /// What is said of a plan that the loader has seen, or has not.
  std::string load(std::vector<Action> actions, ErrorKind kind) {
    Status status = open(planOf(std::move(actions)), false);
    EXPECT_EQ(status.kind(), kind);
    return status.message();
  }
  std::string bind(std::vector<Action> actions, ErrorKind kind) {
    Status status = open(planOf(std::move(actions)), true);
    EXPECT_EQ(status.kind(), kind);
    return status.message();
  }
  Collective make(CollectiveKind kind, Operand in, Operand out,
                  ExprId peer = noExpr) {
    Collective collective;
    collective.kind = kind;
    collective.axes = {0};
    collective.inputs = {std::move(in)};
    collective.outputs = {std::move(out)};
    collective.peer = peer;
    return collective;
  }
};

TEST_F(BindTest, KernelsOfTheManifest) {
  Plan plan = makeWalkthroughPlan(2, walkthroughObject);
  std::string name = plan.kernels[0].name;
  plan.kernels[0].name = "none";
  SessionOptions options;
  options.folder = walkthroughFolder;
  options.bypassLoader = true;
  Status status = Session::open(plan, options).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_THAT(status.message(),
              EndsWith(": none: expected kernel 'none' in a manifest of the "
                       "plan's kernel objects"));
}

// The first and the last member, and those beside them.
TEST_F(BindTest, PeersAreMembers) {
  auto peersOf = [&](CollectiveKind kind, ExprId peer, ErrorKind error) {
    return bind({Fill{b.view(x), 0}, make(kind, b.view(x), b.view(y), peer)},
                error);
  };
  using K = CollectiveKind;
  std::string range = "expected a member in [0, 2) that does not depend on the "
                      "microbatch in 'p: ";
  for (K kind : {K::broadcast, K::reduce, K::permute}) {
    std::string name = std::string(nameOf(kind)) + " s over \"data\"";
    std::string refusal = "p: " + name + ": " + range + name + "'";
    for (int64_t peer : {0, 1}) {
      EXPECT_EQ(peersOf(kind, b.constant(peer), ErrorKind::ok), "");
    }
    for (int64_t peer : {-2, 2}) {
      EXPECT_EQ(peersOf(kind, b.constant(peer), ErrorKind::mismatch), refusal);
    }
    EXPECT_EQ(peersOf(kind, b.microbatch(), ErrorKind::mismatch), refusal);
    // All members have one root, and there is one.
    bool isOwn = kind == K::permute;
    for (ExprId peer :
         {b.constant(-1), b.coordinate(0),
          b.binary(ExprOp::sub, b.coordinate(0), b.constant(1))}) {
      EXPECT_EQ(
          peersOf(kind, peer, isOwn ? ErrorKind::ok : ErrorKind::mismatch),
          isOwn ? ""
                : "p: " + name +
                      ": expected one root of all members in "
                      "'p: " +
                      name + "'");
    }
  }
}

// The loader compares an input with its output alone.
TEST_F(BindTest, BuffersOfACollective) {
  Collective sum = make(CollectiveKind::allReduce, b.view(x), b.view(x));
  sum.inputs.push_back(b.view(y));
  sum.outputs.push_back(b.view(y));
  std::vector<Action> fills = {Fill{b.view(x), 0}, Fill{b.view(y), 0},
                               Fill{b.view(z), 0}, sum};
  EXPECT_EQ(load(fills, ErrorKind::ok), "");
  std::string text = "p: all_reduce s over \"data\": expected contiguous "
                     "buffers of one element type";
  auto &last = std::get<Collective>(fills[3]);
  last.inputs[1] = last.outputs[1] = b.view(z);
  EXPECT_EQ(load(fills, ErrorKind::unsupported), text);
  last.inputs[1] = last.outputs[1] = b.view(y, 0, {2}, {2});
  EXPECT_EQ(load(fills, ErrorKind::unsupported), text);
  last.inputs[1] = b.view(y, 0, {2});
  last.outputs[1] = b.view(x, 0, {2}, {2});
  EXPECT_EQ(bind(fills, ErrorKind::unsupported), text);
}

TEST_F(BindTest, StagesOfACollective) {
  b.plan().mesh = {{{"pipe", 2}}, 0};
  Collective sum = make(CollectiveKind::allReduce, b.view(x), b.view(x));
  sum.stages = {1};
  EXPECT_EQ(bind({sum}, ErrorKind::mismatch),
            "p: all_reduce s over \"pipe\": expected stage 0 among those of "
            "the collective");
}

TEST_F(BindTest, Transfers) {
  b.plan().mesh = {{{"pipe", 2}}, 0};
  b.addTransfer("t");
  ExprId other = b.binary(ExprOp::sub, b.constant(1), b.coordinate(0));
  Receive receive{{0, other, {b.view(x)}}};
  EXPECT_EQ(bind({receive}, ErrorKind::mismatch),
            "p: receive t: expected somebody to send transfer 't'");
  Send send{{0, other, {b.view(y)}}};
  EXPECT_EQ(bind({send, receive}, ErrorKind::ok), "");
  send.message.operands = {b.view(y), b.view(y, 0, {2}, {2})};
  EXPECT_EQ(bind({send, receive}, ErrorKind::unsupported),
            "p: send t: expected a contiguous buffer");
  // It does not move with the microbatch, but nobody sees that at a glance.
  send.message.operands = {b.view(y)};
  send.message.peer = b.binary(ExprOp::add, other, b.times(0, b.microbatch()));
  EXPECT_EQ(bind({send, receive}, ErrorKind::unsupported),
            "p: send t: expected a peer that does not depend on the "
            "microbatch");
  send.message.peer = b.binary(ExprOp::add, b.times(0, b.microbatch()), other);
  EXPECT_EQ(bind({send, receive}, ErrorKind::unsupported),
            "p: send t: expected a peer that does not depend on the "
            "microbatch");
}

// As many arguments as there is place for, and one more.
TEST_F(BindTest, ArgumentsOfACall) {
  for (int count : {16, 17}) {
    PlanBuilder saved = b;
    int32_t leaf = b.addProgram("leaf", Phase::other);
    b.plan().programs[leaf].numParameters = count;
    Call call{leaf, noExpr, {}};
    call.arguments.assign(count, b.constant(0));
    bool fits = count == 16;
    EXPECT_EQ(load({call}, fits ? ErrorKind::ok : ErrorKind::unsupported),
              fits ? "" : "p: call: expected at most 16 arguments, got 17");
    b = saved;
  }
}

TEST_F(BindTest, InstructionsToCome) {
  b.addProgram("body", Phase::other);
  EXPECT_EQ(bind({Branch{b.view(z), 0}}, ErrorKind::unsupported),
            "p: if: instruction 'if' is not supported");
}

// The loader looks at the frames that some instruction uses.
TEST_F(BindTest, SlotsOfFramesThatNothingUses) {
  auto slots = [&](ExprOp op, int64_t value, int32_t count) {
    PlanBuilder saved = b;
    ExprId slot = b.binary(op, b.microbatch(), b.constant(value));
    b.addFrame("spare", FrameKind::act, count, slot);
    Status status = open(planOf({}, 3), false);
    b = saved;
    return status.message();
  };
  auto text = [](int slots, int microbatch) {
    return "expected a slot in [0, " + std::to_string(slots) +
           ") of frame 'spare' for microbatch " + std::to_string(microbatch);
  };
  EXPECT_EQ(slots(ExprOp::add, 0, 3), "");
  EXPECT_EQ(slots(ExprOp::add, 0, 2), text(2, 2));
  EXPECT_EQ(slots(ExprOp::sub, 1, 3), text(3, 0));
  EXPECT_EQ(slots(ExprOp::mod, 0, 3), text(3, 0));
}

// A number that an instruction needs and that there is not.
TEST_F(BindTest, ValuesOfAStep) {
  ExprId none = b.binary(ExprOp::floorDiv, b.constant(4), b.microbatch());
  SessionOptions options;
  options.bypassLoader = true;
  auto session =
      Session::open(planOf({Fill{b.view(x, 0, {1}, {}, none), 0}}), options);
  ASSERT_TRUE(session.ok()) << session.message();
  EXPECT_EQ((*session)->run("e", 0).message(),
            "expected a value of every expression of program 'p' for "
            "microbatch 0");
}

} // namespace
} // namespace llmc::rt::test
