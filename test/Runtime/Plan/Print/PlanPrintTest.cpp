//===- PlanPrintTest.cpp - Plans as text and JSON -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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

// Parts of a plan that the sample lacks.
TEST(PlanPrint, OtherInstructions) {
  Plan plan = makeSamplePlan();
  Operand lr = firstOf<Copy>(plan, "begin").to;
  plan.buffers[lr.buffer].name.clear();
  std::string text = "hyper." + std::to_string(lr.buffer) + ":f32";
  Program program;
  program.name = "other";
  plan.expressions[0] = {ExprOp::constant, -1, -1, 5};
  plan.expressions[1] = {ExprOp::constant, -1, -1, 6};
  Library library = firstOf<Library>(plan, "c0.B");
  auto &shape = std::get<ContractionShape>(library.descriptor);
  shape.alpha = 0.5;
  shape.beta = 0;
  shape.activation = Activation::relu;
  Library convolution = library;
  ConvolutionShape windows;
  windows.indices = shape.indices;
  windows.windows = {{32, 3, 16, 1, 1, 1, 1, 1, 2, 1},
                     {8, 3, 15, 1, 1, 1, 2, 2, 1, -1, true}};
  windows.beta = 1;
  convolution.descriptor = windows;
  Library attention = library;
  AttentionShape heads;
  heads.indices = {{AttentionIndexKind::batch, 8},
                   {AttentionIndexKind::row, 3}};
  heads.scale = 0.25;
  heads.isGradient = heads.isCausal = heads.hasOffset = true;
  heads.shift = -2;
  heads.dropout = {RandomBits::jax32, true, 99, 1.25};
  attention.descriptor = heads;
  Library plain = attention;
  plain.descriptor = AttentionShape();
  Library argsort = library;
  argsort.descriptor =
      ArgsortShape{{{DType::f32, false}, {DType::u8, true}}, 4, 50000, 1, 8};
  Library grouped = library;
  GroupedContractionShape groups;
  groups.product.indices = {{ContractionIndexKind::n, 4},
                            {ContractionIndexKind::k, 64}};
  groups.rows = 1;
  groups.groups = 2;
  groups.numSizes = 8;
  grouped.descriptor = groups;
  groups.hasFirst = groups.hasOwnSizes = true;
  Library own = grouped;
  own.descriptor = groups;
  for (Action action : std::vector<Action>{
           Exchange{{{0, 0, {lr}}, {1, 1, {lr}}}, {{1, 0, {lr}}}},
           Exchange{{}, {{0, 1, {lr}}, {1, 0, {}}}}, Call{0, noExpr, {0, 1}},
           Call{0, noExpr, {}}, Loop{7, 0, {0, 1}}, Branch{lr, 0}, While{lr, 0},
           library, convolution, attention, plain, argsort, grouped, own}) {
    program.instructions.push_back({-1, -1, std::move(action)});
  }
  plan.programs.push_back(program);
  std::string printed = printPlan(plan);
  for (const std::string &line :
       {"     exchange t0 " + text + " to 5; t1 " + text + " to 6; t1 " + text +
            " from 5\n",
        "     exchange t0 " + text + " from 6; t1  from 5\n",
        std::string("     call begin(5, 6)\n"),
        std::string("     call begin()\n"),
        std::string("     loop 7 times begin(5, 6)\n"),
        "     if " + text + " begin\n", "     while " + text + " begin\n",
        std::string(") m=4 n=4 k=4 alpha 0.5 relu\n"),
        std::string(") m=4 n=4 k=4 window 32*3->16 by 2 low 1 window "
                    "8:2*3:2->15 low -1 reversed beta 1\n"),
        std::string(
            ") gradient batch=8 row=3 scale 0.25 causal shift -2 offset "
            "dropout jax32 below 99 factor 1.25\n"),
        std::string(") scale 1\n"),
        std::string(") outer=4 size=50000 inner=1 count=8 of f32, u8 "
                    "descending\n"),
        std::string(") n=4 k=64 k=64 in 2 of 8 groups\n"),
        std::string(
            ") n=4 k=64 k=64 in 2 of 8 groups by batch from first\n")}) {
    EXPECT_THAT(printed, HasSubstr(line));
  }
}

TEST(PlanPrint, OtherTables) {
  Plan plan = makeSamplePlan();
  Entry &entry = plan.entries[0];
  entry.table.resize(2 * 64, {-1, 0});
  EXPECT_THAT(printPlan(plan), testing::Not(HasSubstr("...")));
  entry.table.resize(2 * 65, {-1, 0});
  entry.table.back() = {findProgram(plan, "c1.F"), 2};
  entry.inputs.push_back(entry.inputs[0]);
  entry.inputs[0].source = -1;
  entry.inputs[1].dataOffset = 3;
  entry.inputs[1].limit = 50257;
  DataRule books;
  books.kind = DataKind::text;
  books.once = true;
  books.heldOut = 0.05;
  books.weights = {7, 3};
  books.finite = false;
  plan.sources.push_back({"books", books});
  plan.sources.push_back(
      {"rows", {DataKind::array, DType::u8, false, "images"}});
  Layout layout = Layout::split({8}, {{1}}, plan.mesh);
  entry.fetches = {{"y", DType::bf16, layout, {}, true, "", {}, {}},
                   {"z", DType::i32, layout, {1}, false, "x", {7}, {14}}};
  plan.files = {"other.bin", "weights.safetensors"};
  plan.states[0].source = {SourceKind::file, {}, 1, "wte", 128};
  std::string printed = printPlan(plan);
  for (const char *line :
       {".      ...\n", "  input tokens: 8xi32 [{\"data\"}:8] at 0\n",
        "  input tokens: 8xi32 [{\"data\"}:8] at 0 from corpus + 3, below "
        "50257\n",
        "source corpus: tokens u8, shuffled\n",
        "source rows: array images, in order\n",
        "source books: text, shuffled, each window once, 0.05 held out, "
        "weights 7 3, any floats\n",
        "  fetch y: 8xbf16 each microbatch\n", "  fetch z: 8xi32 at [7] of x\n",
        "state embedding: 4x4xf32 parameter from weights.safetensors\n"}) {
    EXPECT_THAT(printed, HasSubstr(line));
  }
}

// JSON has no such numbers, and no such characters.
TEST(PlanPrint, JsonOfOddValues) {
  Plan plan = makeSamplePlan();
  plan.name = "a\\b\x7f";
  HyperRule &rule = plan.entries[0].hypers[0].rule;
  rule.base = std::numeric_limits<double>::infinity();
  rule.last = std::numeric_limits<double>::quiet_NaN();
  std::string json = printPlanAsJson(plan);
  EXPECT_THAT(json, HasSubstr("\"name\": \"a\\\\b\\u007f\","));
  EXPECT_THAT(json, HasSubstr("\"base\": \"inf\", \"last\": \"nan\""));
}
