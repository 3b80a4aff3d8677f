//===- PlanStructureEndsTest.cpp - Each bound of the tables, both sides ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of (message, edit): the sample plan with one edit is refused with that
// message, or accepted where there is none. Each bound has the first value that
// is refused, and the last one that is not.
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

namespace {
struct Row {
  const char *error;
  void (*edit)(Plan &plan);
};
} // namespace

static void expectRows(const std::vector<Row> &rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Plan plan = makeSamplePlan();
    rows[i].edit(plan);
    Status status = checkStructure(plan);
    EXPECT_EQ(status.ok(), !*rows[i].error) << i << " " << rows[i].error;
    EXPECT_THAT(status.message(), HasSubstr(rows[i].error)) << i;
    // The reader finds it as the writer does.
    Status read = parsePlan(serializeUnchecked(plan)).status();
    EXPECT_EQ(read.kind(), status.kind()) << i << " " << rows[i].error;
  }
}

template <typename T> static T no(int number) { return static_cast<T>(number); }

static ExprId add(Plan &plan, ExprNode node) {
  plan.expressions.push_back(node);
  return static_cast<ExprId>(plan.expressions.size()) - 1;
}
static ExprId parameter(Plan &plan) {
  return add(plan, {ExprOp::parameter, -1, -1, 0});
}
static Program &spare(Plan &plan) {
  plan.programs.emplace_back();
  plan.programs.back().name = "spare";
  return plan.programs.back();
}
static void run(Plan &plan, Action action) {
  spare(plan).instructions.push_back({0, -1, std::move(action)});
}

TEST(PlanStructureEnds, Plan) {
  expectRows({
      {"the size of an arena to be between 0 and 9223372036854775807, got -1",
       [](Plan &plan) { plan.arenas[1] = -1; }},
      {"", [](Plan &plan) { plan.arenas[1] = 0; }},
      {"the number of arenas to be between 2 and 2, got 3",
       [](Plan &plan) { plan.arenas.push_back(0); }},
      {"the number of threads to be between 1 and 4096, got 4097",
       [](Plan &plan) { plan.threads = 4097; }},
      {"", [](Plan &plan) { plan.threads = 4096; }},
      {"the number of stages to be between 1 and 65536, got 65537",
       [](Plan &plan) { plan.mesh.axes[0].size = 65537; }},
      {"the number of arenas to be between 65536 and 65536, got 2",
       [](Plan &plan) { plan.mesh.axes[0].size = 65536; }},
      {"a stream's kind to be between 0 and 4, got 5",
       [](Plan &plan) { plan.streams[0].kind = no<StreamKind>(5); }},
      {"", [](Plan &plan) { plan.streams[0].kind = StreamKind::receive; }},
      {"an expression's op to be between 0 and 13, got 14",
       [](Plan &plan) { add(plan, {no<ExprOp>(14), 0, 0, 0}); }},
      {"", [](Plan &plan) { add(plan, {ExprOp::lessEqual, 0, 0, 0}); }},
      {"a coordinate's axis to be an index below 2, got -1",
       [](Plan &plan) { add(plan, {ExprOp::coordinate, -1, -1, -1}); }},
      {"a parameter to be between 0 and 63, got 64",
       [](Plan &plan) { add(plan, {ExprOp::parameter, -1, -1, 64}); }},
      {"a parameter to be between 0 and 63, got -1",
       [](Plan &plan) { add(plan, {ExprOp::parameter, -1, -1, -1}); }},
      {"", [](Plan &plan) { add(plan, {ExprOp::parameter, -1, -1, 63}); }},
      {"an expression's operand to be an index below",
       [](Plan &plan) { add(plan, {ExprOp::add, -1, 0, 0}); }},
      {"an expression's operand to be an index below",
       [](Plan &plan) {
         add(plan, {ExprOp::add, ExprId(plan.expressions.size()), 0, 0});
       }},
      {"an expression's operand to be an index below",
       [](Plan &plan) {
         add(plan, {ExprOp::add, 0, ExprId(plan.expressions.size()), 0});
       }},
  });
}

/// 1, 3, 7, ... 1023 nodes.
static ExprId thousandNodes(Plan &plan) {
  ExprId last = add(plan, {ExprOp::microbatch, -1, -1, 0});
  for (int i = 0; i < 9; ++i) {
    last = add(plan, {ExprOp::add, last, last, 0});
  }
  return last;
}

TEST(PlanStructureEnds, Expressions) {
  expectRows({
      {"", [](Plan &plan) { thousandNodes(plan); }},
      {"the size of an expression to be between 1 and 1024, got 1025",
       [](Plan &plan) { add(plan, {ExprOp::add, thousandNodes(plan), 0, 0}); }},
      // Of either operand the greater number counts.
      {"to use parameters below 0, got parameter 0",
       [](Plan &plan) {
         ExprId p = parameter(plan);
         plan.frames[0].slot = add(plan, {ExprOp::add, 0, p, 0});
       }},
      {"to use parameters below 0, got parameter 0",
       [](Plan &plan) {
         ExprId p = parameter(plan);
         plan.frames[0].slot = add(plan, {ExprOp::add, p, 0, 0});
       }},
      {"to use parameters below 1, got parameter 1",
       [](Plan &plan) {
         ExprId p = add(plan, {ExprOp::parameter, -1, -1, 1});
         Operand to = firstOf<Fill>(plan, "begin").to;
         to.expr = p;
         run(plan, Fill{to, 0});
         plan.programs.back().numParameters = 1;
       }},
      {"",
       [](Plan &plan) {
         Operand to = firstOf<Fill>(plan, "begin").to;
         to.expr = parameter(plan);
         run(plan, Fill{to, 0});
         plan.programs.back().numParameters = 1;
       }},
      // A state's place belongs to no program.
      {"to use parameters below 0",
       [](Plan &plan) {
         plan.states[0].parts[0].place.expr = parameter(plan);
         spare(plan).numParameters = 1;
       }},
  });
}

TEST(PlanStructureEnds, FramesAndBuffers) {
  expectRows({
      {"a frame's kind to be between 0 and 7, got 8",
       [](Plan &plan) { plan.frames[1].kind = no<FrameKind>(8); }},
      {"expected increasing stages below 2, got 2 after -1",
       [](Plan &plan) { plan.frames[1].stages = {2}; }},
      {"expected increasing stages below 2, got -1 after -1",
       [](Plan &plan) { plan.frames[1].stages = {-1}; }},
      {"expected increasing stages below 2, got 1 after 1",
       [](Plan &plan) { plan.frames[1].stages = {1, 1}; }},
      {"", [](Plan &plan) { plan.frames[1].stages = {0, 1}; }},
      {"a frame's offset to be between 0",
       [](Plan &plan) { plan.frames[1].offset = -1; }},
      {"a frame's size to be between 0",
       [](Plan &plan) { plan.frames[1].size = -1; }},
      {"", [](Plan &plan) { plan.frames[1].offset = plan.frames[1].size = 0; }},
      {"a frame's slots to be between 1 and 16777216, got 0",
       [](Plan &plan) { plan.frames[1].slots = 0; }},
      {"a frame's slots to be between 1 and 16777216, got 16777217",
       [](Plan &plan) { plan.frames[1].slots = (1 << 24) + 1; }},
      {"", [](Plan &plan) { plan.frames[1].slots = 1 << 24; }},
      {"a frame's events to be between 1 and 1048576, got 0",
       [](Plan &plan) { plan.frames[7].events = 0; }},
      {"a frame's events to be between 1 and 1048576, got 1048577",
       [](Plan &plan) { plan.frames[7].events = (1 << 20) + 1; }},
      {"", [](Plan &plan) { plan.frames[7].events = 1 << 20; }},
      {"a frame's chunk to be between -1 and 1048576, got -2",
       [](Plan &plan) { plan.frames[1].chunk = -2; }},
      {"a frame's chunk to be between -1 and 1048576, got 1048577",
       [](Plan &plan) { plan.frames[1].chunk = (1 << 20) + 1; }},
      {"", [](Plan &plan) { plan.frames[1].chunk = 1 << 20; }},
      {"a frame's slot to be an index below",
       [](Plan &plan) { plan.frames[1].slot = -2; }},
      {"a frame's slot to be an index below",
       [](Plan &plan) {
         plan.frames[1].slot = ExprId(plan.expressions.size());
       }},
      {"a buffer's frame to be an index below 9, got 9",
       [](Plan &plan) { plan.buffers[0].frame = 9; }},
      {"a buffer's offset", [](Plan &plan) { plan.buffers[0].offset = -1; }},
      {"a buffer's size", [](Plan &plan) { plan.buffers[0].bytes = -1; }},
      {"", [](Plan &plan) { plan.buffers[0].bytes = 0; }},
      {"a location to be an index below 1, got 1",
       [](Plan &plan) { plan.buffers[0].location = 1; }},
      {"a location to be an index below 1, got -2",
       [](Plan &plan) { plan.buffers[0].location = -2; }},
      {"", [](Plan &plan) { plan.buffers[0].location = 0; }},
  });
}

TEST(PlanStructureEnds, NamesOfKernelObjects) {
  for (const std::string &name :
       {std::string(), std::string("."), std::string(".x.so"),
        std::string("a/x.so"), std::string("a\\x.so"),
        std::string("a\0x.so", 6)}) {
    Plan plan = makeSamplePlan();
    plan.objects[0].file = name;
    EXPECT_THAT(checkStructure(plan).message(),
                HasSubstr("expected a plain file name"))
        << name;
  }
  expectRows({
      {"", [](Plan &plan) { plan.objects[0].file = "x..so"; }},
      {"a kernel's object", [](Plan &plan) { plan.kernels[0].object = -1; }},
      {"a kernel's object", [](Plan &plan) { plan.kernels[0].object = 1; }},
  });
}

TEST(PlanStructureEnds, Programs) {
  expectRows({
      {"a program's phase to be between 0 and 5, got 6",
       [](Plan &plan) { spare(plan).phase = no<Phase>(6); }},
      {"", [](Plan &plan) { spare(plan).phase = Phase::update; }},
      {"a program's chunk to be between -1 and 1048576, got -2",
       [](Plan &plan) { spare(plan).chunk = -2; }},
      {"a program's chunk to be between -1 and 1048576, got 1048577",
       [](Plan &plan) { spare(plan).chunk = (1 << 20) + 1; }},
      {"", [](Plan &plan) { spare(plan).chunk = 1 << 20; }},
      {"a program's parameters to be between 0 and 64, got 65",
       [](Plan &plan) { spare(plan).numParameters = 65; }},
      {"a program's parameters to be between 0 and 64, got -1",
       [](Plan &plan) { spare(plan).numParameters = -1; }},
      {"", [](Plan &plan) { spare(plan).numParameters = 64; }},
      {"a stream to be an index below 5, got -1",
       [](Plan &plan) { plan.programs[0].instructions[0].stream = -1; }},
      {"a stream to be an index below 5, got -2",
       [](Plan &plan) {
         spare(plan).instructions = {{-2, -1, Call{0, noExpr, {}}}};
       }},
      {"a stream to be an index below 5, got 5",
       [](Plan &plan) {
         spare(plan).instructions = {{5, -1, Call{0, noExpr, {}}}};
       }},
      {"",
       [](Plan &plan) {
         spare(plan).instructions = {{-1, -1, Call{0, noExpr, {}}}};
       }},
      {"a location to be an index below 1, got 1",
       [](Plan &plan) { plan.programs[0].instructions[0].location = 1; }},
  });
}

TEST(PlanStructureEnds, Entries) {
  expectRows({
      {"an entry's kind to be between 0 and 2, got 3",
       [](Plan &plan) { plan.entries[0].kind = no<EntryKind>(3); }},
      {"", [](Plan &plan) { plan.entries[0].kind = EntryKind::forward; }},
      {"the microbatches to be between 1 and 1048576, got 0",
       [](Plan &plan) {
         plan.entries[0].numMicrobatches = 0;
         plan.entries[0].table.clear();
       }},
      {"the microbatches to be between 1 and 1048576, got 1048577",
       [](Plan &plan) { plan.entries[0].numMicrobatches = (1 << 20) + 1; }},
      {"", [](Plan &plan) { plan.entries[0].numMicrobatches = 1 << 20; }},
      {"the chunks to be between 0 and 1048576, got -1",
       [](Plan &plan) { plan.entries[0].numChunks = -1; }},
      {"the chunks to be between 0 and 1048576, got 1048577",
       [](Plan &plan) { plan.entries[0].numChunks = (1 << 20) + 1; }},
      {"", [](Plan &plan) { plan.entries[0].numChunks = 0; }},
      {"", [](Plan &plan) { plan.entries[0].numChunks = 1 << 20; }},
      {"expected a program for each of 2 stages, got 3",
       [](Plan &plan) { plan.entries[0].epilogue.push_back(-1); }},
      {"a program to be an index below 6, got 6",
       [](Plan &plan) { plan.entries[0].epilogue[1] = 6; }},
      {"a program to be an index below 6, got -2",
       [](Plan &plan) { plan.entries[0].prologue[1] = -2; }},
      {"the parameters of a program that an entry runs to be between 0 and 0, "
       "got 1",
       [](Plan &plan) { plan.programs[0].numParameters = 1; }},
      {"a cell's program to be an index below 6, got 6",
       [](Plan &plan) { plan.entries[0].table[0].program = 6; }},
      {"a cell's program to be an index below 6, got -2",
       [](Plan &plan) { plan.entries[0].table[0].program = -2; }},
      {"a cell's microbatch to be an index below 3, got 3",
       [](Plan &plan) { plan.entries[0].table[0].microbatch = 3; }},
      {"a cell's microbatch to be an index below 3, got -1",
       [](Plan &plan) { plan.entries[0].table[0].microbatch = -1; }},
      // Nobody looks at the microbatch of an idle cell.
      {"", [](Plan &plan) { plan.entries[0].table[1].microbatch = 9; }},
      {"the parameters of a program in the table to be between 0 and 0, got 1",
       [](Plan &plan) {
         plan.programs[findProgram(plan, "c0.F")].numParameters = 1;
       }},
  });
}

static Fetch wholeFetch(const Plan &plan) {
  Fetch fetch;
  fetch.name = "x";
  fetch.layout = Layout::split({4, 4}, {{1}}, plan.mesh);
  return fetch;
}

TEST(PlanStructureEnds, WhatEntriesExchange) {
  expectRows({
      {"input 'tokens' occurs twice",
       [](Plan &plan) {
         plan.entries[0].inputs.push_back(plan.entries[0].inputs[0]);
       }},
      {"hyper value 'lr' occurs twice",
       [](Plan &plan) {
         plan.entries[0].hypers.push_back(plan.entries[0].hypers[0]);
       }},
      {"metric 'loss' occurs twice",
       [](Plan &plan) {
         plan.entries[0].metrics.push_back(plan.entries[0].metrics[0]);
       }},
      {"fetched value 'x' occurs twice",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan), wholeFetch(plan)};
       }},
      {"an input's dtype to be between 0 and 19, got 20",
       [](Plan &plan) { plan.entries[0].inputs[0].dtype = no<DType>(20); }},
      {"", [](Plan &plan) { plan.entries[0].inputs[0].dtype = DType::i1; }},
      {"expected increasing stages below 2, got 2",
       [](Plan &plan) { plan.entries[0].inputs[0].stages = {2}; }},
      {"",
       [](Plan &plan) {
         plan.entries[0].inputs[0].dataOffset = INT64_MAX / 2;
       }},
      {"expected the offset of an input to be between 0 and "
       "4611686018427387903, got -1",
       [](Plan &plan) { plan.entries[0].inputs[0].dataOffset = -1; }},
      {"expected the source of an input to be an index below 1, got 1",
       [](Plan &plan) { plan.entries[0].inputs[0].source = 1; }},
      {"expected the source of an input to be an index below 1, got -2",
       [](Plan &plan) { plan.entries[0].inputs[0].source = -2; }},
      {"", [](Plan &plan) { plan.entries[0].inputs[0].source = -1; }},
      {"source 'corpus' occurs twice",
       [](Plan &plan) { plan.sources.push_back(plan.sources[0]); }},
      {"a source's kind to be between 0 and 2, got 3",
       [](Plan &plan) { plan.sources[0].rule.kind = no<DataKind>(3); }},
      {"", [](Plan &plan) { plan.sources[0].rule.kind = DataKind::text; }},
      {"source 'corpus': expected at most 4096 weights, each from 1 to 1000000",
       [](Plan &plan) { plan.sources[0].rule.weights = {1, 0}; }},
      {"source 'corpus': expected a share in [0, 1) that is held out",
       [](Plan &plan) { plan.sources[0].rule.heldOut = 1; }},
      {"", [](Plan &plan) { plan.entries[0].inputs[0].limit = INT64_MAX; }},
      {"expected the limit of an input to be between 0 and "
       "9223372036854775807, got -1",
       [](Plan &plan) { plan.entries[0].inputs[0].limit = -1; }},
      {"", [](Plan &plan) { plan.sources[0].rule.kind = DataKind::array; }},
      {"a source's dtype to be between 0 and 19, got 20",
       [](Plan &plan) { plan.sources[0].rule.dtype = no<DType>(20); }},
      {"", [](Plan &plan) { plan.sources[0].rule.dtype = DType::i1; }},
      {"expected the offset of an input to be between 0 and "
       "4611686018427387903, got 4611686018427387904",
       [](Plan &plan) {
         plan.entries[0].inputs[0].dataOffset = INT64_MAX / 2 + 1;
       }},
      {"a hyper value's dtype to be between 0 and 19, got 20",
       [](Plan &plan) { plan.entries[0].hypers[0].dtype = no<DType>(20); }},
      {"a hyper value's rule to be between 0 and 6, got 7",
       [](Plan &plan) {
         plan.entries[0].hypers[0].rule.kind = no<HyperKind>(7);
       }},
      {"a metric's dtype to be between 0 and 19, got 20",
       [](Plan &plan) { plan.entries[0].metrics[0].dtype = no<DType>(20); }},
      {"", [](Plan &plan) { plan.entries[0].fetches = {wholeFetch(plan)}; }},
      {"a fetched value's dtype to be between 0 and 19, got 20",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         plan.entries[0].fetches[0].dtype = no<DType>(20);
       }},
      {"to be divisible by 2 shards",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         plan.entries[0].fetches[0].layout.dims[0].factors[0] = {3, 3};
       }},
      {"expected increasing stages below 2, got 2",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         plan.entries[0].fetches[0].stages = {2};
       }},
      {"expected an origin and a shape of rank 0 of fetched value 'x', got 2 "
       "and 0",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         plan.entries[0].fetches[0].origin = {0, 0};
       }},
      {"of rank 2 of fetched value 'x', got 2 and 1",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         Fetch &fetch = plan.entries[0].fetches[0];
         fetch.of = "y";
         fetch.origin = {0, 0};
         fetch.shape = {4};
       }},
      {"the size of a fetched value overflows",
       [](Plan &plan) {
         plan.entries[0].fetches = {wholeFetch(plan)};
         Fetch &fetch = plan.entries[0].fetches[0];
         fetch.of = "y";
         fetch.origin = {0, 0};
         fetch.shape = {INT64_MAX / 4 + 1, 1};
       }},
  });
}

TEST(PlanStructureEnds, States) {
  expectRows({
      {"a state's dtype to be between 0 and 19, got 20",
       [](Plan &plan) { plan.states[0].dtype = no<DType>(20); }},
      {"a state's role to be between 0 and 3, got 4",
       [](Plan &plan) { plan.states[0].role = no<StateRole>(4); }},
      {"", [](Plan &plan) { plan.states[0].role = StateRole::constant; }},
      {"a state's source to be between 0 and 1, got 2",
       [](Plan &plan) { plan.states[0].source.kind = no<SourceKind>(2); }},
      {"a draw to be between 0 and 5, got 6",
       [](Plan &plan) { plan.states[0].source.draw.kind = no<DrawKind>(6); }},
      {"",
       [](Plan &plan) {
         plan.states[0].source.draw.kind = DrawKind::truncatedNormal;
       }},
      {"a state's file to be an index below 0, got 0",
       [](Plan &plan) { plan.states[0].source.file = 0; }},
      {"a state's file to be an index below 1, got -1",
       [](Plan &plan) {
         plan.files = {"w"};
         plan.states[0].source.kind = SourceKind::file;
       }},
      {"",
       [](Plan &plan) {
         plan.files = {"w"};
         plan.states[0].source.kind = SourceKind::file;
         plan.states[0].source.file = 0;
       }},
      {"a file offset", [](Plan &plan) { plan.states[0].source.offset = -1; }},
      {"a file's dtype",
       [](Plan &plan) { plan.states[0].source.dtype = no<DType>(numDTypes); }},
      {"the rank of a state to be between 0 and 16, got 17",
       [](Plan &plan) { plan.states[0].shape.assign(17, 1); }},
      {"expected a part of rank 16, got 2",
       [](Plan &plan) { plan.states[0].shape.assign(16, 1); }},
      {"the size of a state overflows",
       [](Plan &plan) { plan.states[0].shape = {INT64_MAX / 4 + 1, 1}; }},
      {"the parts of a state to be between 1 and 4096, got 4097",
       [](Plan &plan) {
         plan.states[0].parts.resize(4097, plan.states[0].parts[0]);
       }},
      {"",
       [](Plan &plan) {
         plan.states[0].parts.resize(4096, plan.states[0].parts[0]);
       }},
      {"expected an extent of at least 4, got 3",
       [](Plan &plan) {
         plan.states[0].parts[0].layout.dims[0].factors[0].extent = 3;
       }},
      {"expected increasing stages below 2, got 2",
       [](Plan &plan) { plan.states[0].parts[0].stages = {2}; }},
      {"the place of a state to be an index below",
       [](Plan &plan) { plan.states[0].parts[0].place.buffer = -1; }},
      {"expected a part of rank 2, got 2",
       [](Plan &plan) { plan.states[0].parts[0].layout.dims.pop_back(); }},
      {"expected a part of rank 2, got 3",
       [](Plan &plan) { plan.states[0].parts[0].origin.push_back(0); }},
      {"the state's dtype and no expression",
       [](Plan &plan) { plan.states[0].parts[0].place.dtype = DType::i32; }},
      {"the state's dtype and no expression",
       [](Plan &plan) { plan.states[0].parts[0].place.expr = 0; }},
  });
}
