//===- PlanTimesTest.cpp - How long a step takes by the machine -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times that follow from the machine's numbers by hand. Whole plans:
// test/EndToEnd/step-time.test.
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Verify/PlanTimes.h"

#include "llmc/Runtime/Base/LibraryCost.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::rt::plan;

namespace {
enum { compute, moves, sends, receives };

Operand floats(int64_t count) {
  Operand operand;
  operand.buffer = 0;
  operand.shape = {count};
  return operand;
}

/// 1e3 flops a second, 100 B a second of memory; "data" crosses a link of 2 s
/// and 10 B a second, "pipe" one of 1 s and 4 B a second.
Plan makePlan() {
  Plan plan;
  plan.mesh = {{{"pipe", 2}, {"data", 3}}, 0};
  plan.machine = {1e3, 0, 100, {{"fast", 1, 4}, {"slow", 2, 10}}, {0, 1}};
  plan.streams = {{"C", StreamKind::compute},
                  {"X", StreamKind::collective},
                  {"S", StreamKind::send},
                  {"R", StreamKind::receive}};
  Frame frame;
  frame.events = 2;
  plan.frames = {frame};
  plan.buffers = {{0, 0, 4096, "", -1}};
  return plan;
}

/// Reads `reads` bytes, writes as many.
Instruction copy(int64_t bytes) {
  return {compute, -1, Copy{floats(bytes / 4), floats(bytes / 4)}};
}

rt::plan::Collective allReduce(std::vector<int32_t> axes, int64_t bytes) {
  rt::plan::Collective collective;
  collective.axes = std::move(axes);
  collective.inputs = collective.outputs = {floats(bytes / 4)};
  return collective;
}

TEST(PlanTimes, Instructions) {
  Plan plan = makePlan();
  EXPECT_EQ(secondsOf(plan, copy(200).action), 4);
  rt::ContractionShape shape;
  shape.indices.resize(1);
  shape.indices[0].size = 1000;
  Library library;
  library.descriptor = shape;
  EXPECT_EQ(operationsOf(library), 2000);
  EXPECT_EQ(secondsOf(plan, library), 2);
  library.operands = {floats(100)};
  library.access = {Access::readWrite};
  EXPECT_EQ(secondsOf(plan, library), 8) << "read and written";
  // Factors of two types take the rate of the wider one.
  plan.machine.rates = {{"fp8", 4e3}, {"bf16", 100}};
  library.operands.clear();
  library.access.clear();
  EXPECT_EQ(secondsOf(plan, library), 2) << "f32 has none of its own";
  shape.a = shape.b = rt::DType::f8E4M3FN;
  library.descriptor = shape;
  EXPECT_EQ(secondsOf(plan, library), 0.5);
  shape.b = rt::DType::bf16;
  library.descriptor = shape;
  EXPECT_EQ(secondsOf(plan, library), 20);
  rt::AttentionShape attention;
  attention.dtype = rt::DType::bf16;
  EXPECT_EQ(rt::rateNameOf(attention), "bf16");
  EXPECT_EQ(rt::rateNameOf(rt::ArgsortShape()), "");
  KernelLaunch launch;
  EXPECT_EQ(operationsOf(launch), 0);
  launch.operations = 3000;
  EXPECT_EQ(secondsOf(plan, launch), 3) << "in place of a library";
  // Two others of three, twice; two thirds of the bytes, twice.
  EXPECT_EQ(secondsOf(plan, allReduce({1}, 60)), 2 * 2 * 2 + 80 / 10.0);
  // The slower link counts, by its bandwidth.
  EXPECT_EQ(secondsOf(plan, allReduce({0, 1}, 60)), 2 * 5 * 1 + 100 / 4.0);
  EXPECT_EQ(secondsOf(plan, Send{{0, 0, {floats(10)}}}), 1 + 40 / 4.0);
  EXPECT_TRUE(isMachineKnown(plan));
  plan.machine.links.clear();
  plan.machine.axisLinks.clear();
  EXPECT_FALSE(isMachineKnown(plan));
  EXPECT_EQ(secondsOf(plan, Send{{0, 0, {floats(0)}}}), 1e-5);
  plan.mesh.axes[0].size = plan.mesh.axes[1].size = 1;
  EXPECT_TRUE(isMachineKnown(plan));
  plan.machine.flops = 0;
  EXPECT_FALSE(isMachineKnown(plan));
}

Entry entryOf(std::vector<Cell> table) {
  Entry entry;
  entry.name = "train";
  entry.numMicrobatches = 2;
  entry.prologue = entry.epilogue = {-1, -1};
  entry.table = std::move(table);
  return entry;
}

// A stage computes for 4 s and sends for 11 s; the other waits, computes 2 s.
TEST(PlanTimes, StagesMeet) {
  Plan plan = makePlan();
  plan.transfers = {"t"};
  plan.expressions = {{ExprOp::constant, -1, -1, 0},
                      {ExprOp::constant, -1, -1, 1}};
  Program first, second;
  first.instructions = {copy(200),
                        {compute, -1, Signal{{0, 1}}},
                        {sends, -1, Wait{{0, 1}}},
                        {sends, -1, Send{{0, 1, {floats(10)}}}}};
  second.instructions = {{receives, -1, Receive{{0, 0, {floats(10)}}}},
                         {receives, -1, Signal{{0, 1}}},
                         {compute, -1, Wait{{0, 1}}},
                         copy(100)};
  plan.programs = {first, second};
  Entry entry = entryOf({{0, 0}, {-1, 0}, {0, 1}, {1, 0}, {-1, 0}, {1, 1}});
  auto step = planStep(plan, entry);
  ASSERT_TRUE(step.ok()) << step.message();
  // 4 | send 4..15 | send 15..26; 2 after each.
  EXPECT_EQ(step->seconds, 28);
  EXPECT_EQ(step->exposed, 28 - 10);
  EXPECT_EQ(step->communication, 22);
  ASSERT_EQ(step->spans.size(), 8u);
  const PlannedSpan &last = step->spans.back();
  EXPECT_EQ(last.stage, 1);
  EXPECT_EQ(last.microbatch, 1);
  EXPECT_EQ(last.program, 1);
  EXPECT_EQ(last.instruction, 3);
  EXPECT_EQ(last.begin, 26);
  EXPECT_EQ(last.end, 28);
}

TEST(PlanTimes, WhatCannotBeWorkedOut) {
  Plan plan = makePlan();
  plan.transfers = {"t"};
  plan.expressions = {{ExprOp::constant, -1, -1, 1}};
  Program alone;
  alone.instructions = {{sends, -1, Send{{0, 0, {floats(10)}}}}};
  plan.programs = {alone};
  Entry entry = entryOf({{0, 0}, {-1, 0}});
  EXPECT_TRUE(planStep(plan, entry).ok()) << "a meeting of one";
  EXPECT_EQ(planStep(plan, entry, 1).kind(), rt::ErrorKind::infeasible);
}

} // namespace
