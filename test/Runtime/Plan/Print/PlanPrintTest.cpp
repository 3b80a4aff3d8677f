//===- PlanPrintTest.cpp - Plans as text and JSON -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

TEST(PlanPrint, Text) {
  std::string text = printPlan(makeSamplePlan());
  EXPECT_THAT(text,
              HasSubstr("plan sample: 4 devices (pipe=2, data=2), 1 "
                        "threads each, 32 parameters\n  for target cpu\n"));
  EXPECT_THAT(text, HasSubstr("  train: 1 x all_reduce pipe data (scalars), "
                              "4 -> 4 bytes a step\n"));
  EXPECT_THAT(text, HasSubstr("  train: 3 x send pipe, 192 -> 0 bytes a "
                              "step\n"));
  EXPECT_THAT(text, HasSubstr("frame act0 (act at 0): offset 256, 2 x 64 B "
                              "[microbatch mod 2]\n"));
  EXPECT_THAT(text,
              HasSubstr("state embedding: 4x4xf32 parameter from normal 0 "
                        "0.02\n"));
  EXPECT_THAT(text, HasSubstr("  stage 0: F0.0   F0.1   .      B0.0   F0.2"));
  EXPECT_THAT(
      text, HasSubstr("  C  kernel k_embed(in.tok:4xi32, state.w:4x4xf32 -> "
                      "bnd.t0.x:4x4xf32, act0.h:4x4xf32; 5 * coordinate(data))"
                      "  // model.py:3\n"));
  EXPECT_THAT(text, HasSubstr("  K  wait in.free\n"));
  EXPECT_THAT(text, HasSubstr("  S  send t0 bnd.t0.x:4x4xf32 to 1\n"));
  EXPECT_THAT(text, HasSubstr("-> step.gw:4x4xf32) m=4 n=4 k=4 beta 1\n"));
  EXPECT_THAT(text, HasSubstr("  K  copy step.loss:f32 -> metric #0\n"));
}

TEST(PlanPrint, OperandsOfACollective) {
  Plan plan = makeSamplePlan();
  auto &all = firstOf<Collective>(plan, "u");
  all.inputs.push_back(all.inputs[0]);
  EXPECT_THAT(printPlan(plan),
              HasSubstr(": step.loss:f32, step.loss:f32 -> step.loss:f32 (8 B) "
                        "sum"));
}

TEST(PlanPrint, Json) {
  std::string json = printPlanAsJson(makeSamplePlan());
  EXPECT_THAT(
      json,
      HasSubstr("{\"name\": \"sample\", \"producer\": \"test\", "
                "\"target\": \"cpu\", \"seed\": 0, \"mesh\": {\"axes\": ["));
  EXPECT_THAT(json, HasSubstr("{\"op\": \"mod\", \"lhs\": 0, \"rhs\": 1, "
                              "\"value\": 0}"));
  EXPECT_THAT(json,
              HasSubstr("\"action\": {\"kind\": \"send\", \"transfer\": 0"));
  EXPECT_THAT(json, HasSubstr("\"access\": [\"read\", \"read\", \"write\", "
                              "\"write\"]"));
}

// Names come from files.
TEST(PlanPrint, HostileNamesAreEscaped) {
  Plan plan = makeSamplePlan();
  plan.name = "</script>\"\n\x1b[31m";
  EXPECT_THAT(printPlanAsJson(plan),
              HasSubstr("\\u003c/script>\\\"\\u000a\\u001b[31m"));
  EXPECT_THAT(printPlan(plan), HasSubstr("plan </script>\"\\n\\x1b[31m:"));
}

TEST(PlanPrint, Memory) {
  Plan plan = makeSamplePlan();
  MemoryReport report = memoryOf(plan, 0);
  EXPECT_EQ(report.bytes[int(FrameKind::act)], 128);
  EXPECT_EQ(report.bytes[int(FrameKind::bnd)], 256);
  EXPECT_EQ(report.bytes[int(FrameKind::scratch)], 256);
  EXPECT_EQ(memoryOf(plan, 1).bytes[int(FrameKind::act)], 0);
  EXPECT_EQ(report.total, plan.arenas[0]);
}
