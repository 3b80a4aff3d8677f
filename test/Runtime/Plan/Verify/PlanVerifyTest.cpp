//===- PlanVerifyTest.cpp - A sound plan passes ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"
#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanWaits.h"

#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

TEST(PlanVerify, SampleIsAccepted) {
  Plan plan = makeSamplePlan();
  EXPECT_EQ(verifyPlan(plan).message(), "");
  Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2", "fma"};
  environment.maxThreads = 2;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
}

TEST(PlanVerify, EveryWaitIsNeeded) {
  Plan plan = makeSamplePlan();
  std::vector<WaitPlace> waits = waitsOf(plan);
  EXPECT_EQ(waits.size(), 14u);
  for (WaitPlace place : waits) {
    EXPECT_EQ(verifyPlan(withoutWait(plan, place)).kind(), ErrorKind::mismatch)
        << plan.programs[place.program].name << " " << place.instruction;
  }
  EXPECT_TRUE(redundantWaits(plan).empty());
}

// Of two equal waits each can go, and no other.
TEST(PlanVerify, RedundantWaitsAreFound) {
  Plan plan = makeSamplePlan();
  int32_t p = findProgram(plan, "c0.F");
  auto &list = plan.programs[p].instructions;
  ASSERT_TRUE(std::holds_alternative<Wait>(list[3].action));
  list.insert(list.begin() + 3, list[3]);
  std::vector<WaitPlace> places = redundantWaits(plan);
  ASSERT_EQ(places.size(), 2u);
  for (int32_t i : {0, 1}) {
    EXPECT_EQ(places[i].program, p);
    EXPECT_EQ(places[i].instruction, 3 + i);
  }
}

// The cost and the size do not depend on the data axis.
TEST(PlanVerify, DataAxisIsFree) {
  Plan plan = makeSamplePlan();
  auto small = serializePlan(plan);
  plan.mesh.axes[1].size = 1 << 20;
  plan.entries[0].inputs[0].layout = Layout::split({4 << 20}, {{1}}, plan.mesh);
  EXPECT_EQ(verifyPlan(plan).message(), "");
  auto large = serializePlan(plan);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_EQ(small->size(), large->size());
}

TEST(PlanVerify, WalkIsBounded) {
  Plan plan = makeSamplePlan();
  Environment environment;
  environment.maxSteps = 20;
  EXPECT_EQ(verifyPlan(plan, environment).kind(), ErrorKind::infeasible);
}

// Each program calls the one before it twice: 2^60 calls.
TEST(PlanVerify, CallBombIsBounded) {
  Plan plan = makeSamplePlan();
  Program program;
  program.name = "leaf";
  plan.programs.push_back(program);
  for (int i = 0; i < 60; ++i) {
    auto last = static_cast<int32_t>(plan.programs.size()) - 1;
    program.name = "bomb";
    program.instructions = {{0, -1, Call{last, noExpr, {}}},
                            {0, -1, Call{last, noExpr, {}}}};
    plan.programs.push_back(program);
  }
  plan.entries[0].prologue[0] = static_cast<int32_t>(plan.programs.size()) - 1;
  Environment environment;
  environment.maxSteps = 100000;
  EXPECT_EQ(verifyPlan(plan, environment).kind(), ErrorKind::infeasible);
}

TEST(PlanVerify, CallsRunInPlace) {
  Plan plan = makeSamplePlan();
  // The epilogue becomes a call of what it was, with a parameter that moves
  // nothing.
  int32_t u = findProgram(plan, "u");
  Program caller;
  caller.name = "caller";
  caller.instructions = {{0, -1, Call{u, noExpr, {}}}};
  plan.programs.push_back(caller);
  auto number = static_cast<int32_t>(plan.programs.size()) - 1;
  plan.entries[0].epilogue = {number, number};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  plan.programs[number].instructions.push_back(
      plan.programs[number].instructions[0]);
  // Twice: the second one waits for signals of the first, so all is ordered,
  // but the loss is copied while it is reduced again.
  EXPECT_EQ(verifyPlan(plan).kind(), ErrorKind::mismatch);
}

/// The steps of the walk: each call and each instruction once.
static int64_t stepsOf(const Plan &plan, int32_t program) {
  int64_t steps = 1;
  for (const Instruction &each : plan.programs[program].instructions) {
    steps += 1;
    if (const auto *call = std::get_if<Call>(&each.action)) {
      steps += stepsOf(plan, call->program);
    }
  }
  return steps;
}

TEST(PlanVerify, TheLastStepIsAllowed) {
  Plan plan = makeSamplePlan();
  const Entry &entry = plan.entries[0];
  int64_t steps = 0;
  for (const Cell &cell : entry.table) {
    steps += cell.program < 0 ? 0 : stepsOf(plan, cell.program);
  }
  for (int stage : {0, 1}) {
    steps += stepsOf(plan, entry.prologue[stage]);
    steps += stepsOf(plan, entry.epilogue[stage]);
  }
  Environment environment;
  environment.maxSteps = steps;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
  --environment.maxSteps;
  EXPECT_EQ(verifyPlan(plan, environment).message(),
            "entry 'train': entry 'train' has more than " +
                std::to_string(steps - 1) + " instructions");
}

/// An entry of one stage that runs `programs[last]` once.
static Plan makeCalls(std::vector<Program> programs) {
  Plan plan;
  plan.arenas = {0};
  plan.streams = {{"C", StreamKind::compute, 0}};
  plan.programs = std::move(programs);
  Entry entry;
  entry.name = "e";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = 3;
  entry.numChunks = 0;
  entry.prologue = {static_cast<int32_t>(plan.programs.size()) - 1};
  entry.epilogue = {-1};
  plan.entries = {entry};
  return plan;
}

TEST(PlanVerify, CallsCountToo) {
  Program leaf, caller;
  caller.instructions = {{0, -1, Call{0, noExpr, {}}},
                         {0, -1, Call{0, noExpr, {}}}};
  Plan plan = makeCalls({leaf, caller});
  Environment environment;
  environment.maxSteps = 5; // Three calls, of which two are instructions.
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
  environment.maxSteps = 4;
  EXPECT_EQ(verifyPlan(plan, environment).message(),
            "entry 'e': entry 'e' has more than 4 instructions");
}

// Each trip is a call; a loop of no trips is one instruction. Trips of programs
// without instructions count too, so that no loop takes the loader long.
TEST(PlanVerify, TripsCountToo) {
  Program leaf, caller;
  leaf.numParameters = 1;
  for (int64_t trips : {int64_t(0), int64_t(3), INT64_MAX}) {
    caller.instructions = {{0, -1, Loop{trips, 0, {}}}};
    Plan plan = makeCalls({leaf, caller});
    Environment environment;
    environment.maxSteps = 5;
    EXPECT_EQ(verifyPlan(plan, environment).ok(), trips <= 3);
    environment.maxSteps = trips == 0 ? 2 : 4;
    EXPECT_EQ(verifyPlan(plan, environment).ok(), trips == 0);
  }
}

// A program without instructions costs a step in each cell.
TEST(PlanVerify, EmptyProgramsCountToo) {
  Program nothing;
  nothing.phase = Phase::forward;
  nothing.chunk = 0;
  Plan plan = makeCalls({nothing});
  Entry &entry = plan.entries[0];
  entry.prologue = {-1};
  entry.numChunks = 1;
  entry.table = {{0, 0}, {0, 1}, {0, 2}};
  Environment environment;
  environment.maxSteps = 3;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
  environment.maxSteps = 2;
  EXPECT_EQ(verifyPlan(plan, environment).message(),
            "entry 'e': entry 'e' has more than 2 calls");
}

// The microbatch and the arguments that a call gives.
TEST(PlanVerify, CallsAreBounded) {
  auto verify = [](ExprNode microbatch, int64_t argument) {
    Program leaf, caller;
    leaf.numParameters = 1;
    caller.instructions = {{0, -1, Call{0, 2, {3}}}};
    Plan plan = makeCalls({leaf, caller});
    plan.expressions = {{ExprOp::constant, -1, -1, 0},
                        {ExprOp::constant, -1, -1, INT64_MAX},
                        microbatch,
                        {ExprOp::add, 1, 0, 0}};
    plan.expressions[0].value = argument;
    return verifyPlan(plan).message();
  };
  auto constant = [](int64_t value) {
    return ExprNode{ExprOp::constant, -1, -1, value};
  };
  std::string range = "entry 'e': the microbatch of a call is out of range";
  EXPECT_EQ(verify(constant(0), 0), "");
  EXPECT_EQ(verify(constant(2), 0), "");
  EXPECT_EQ(verify(constant(3), 0), range);
  EXPECT_EQ(verify(constant(-1), 0), range);
  EXPECT_EQ(verify({ExprOp::floorDiv, 0, 0, 0}, 0), range);
  EXPECT_EQ(verify(constant(0), 1),
            "entry 'e': an argument of a call overflows");
}

// What only the last device of another axis does wrong is found.
TEST(PlanVerify, LastDevicesAreWalkedToo) {
  PlanBuilder b{Mesh{{{"data", 2}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t x = b.addBuffer(frame, "x", DType::f32, {4});
  int32_t y = b.addBuffer(frame, "y", DType::f32, {1});
  int32_t p = b.addProgram("p", Phase::other);
  b.microbatch(); // Of the expressions, the first one sees no coordinate.
  ExprId moving = b.times(8, b.coordinate(0));
  b.emit(p, stream, Fill{b.view(x, 0, {1}), 0});
  b.emit(p, stream,
         Copy{b.view(y), b.view(x, 0, {1}, {}, moving), HostEnd::none, 0});
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  EXPECT_NE(verifyPlan(plan).message().find("which nothing has written"),
            std::string::npos);
}
