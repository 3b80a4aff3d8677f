//===- PlanStructureTest.cpp - References inside a plan -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

template <typename Break> static Status checkBroken(Break breakIt) {
  Plan plan = makeSamplePlan();
  breakIt(plan);
  // The reader finds it as the writer does.
  Status status = checkStructure(plan);
  EXPECT_EQ(parsePlan(serializeUnchecked(plan)).kind(), status.kind());
  return status;
}

#define EXPECT_MALFORMED(text, ...)                                            \
  do {                                                                         \
    Status status = checkBroken([](Plan & plan) __VA_ARGS__);                  \
    EXPECT_EQ(status.kind(), ErrorKind::malformed);                            \
    EXPECT_THAT(status.message(), HasSubstr(text));                            \
  } while (false)

TEST(PlanStructure, Tables) {
  EXPECT_MALFORMED("size of at least 1", { plan.mesh.axes[0].size = 0; });
  EXPECT_MALFORMED("the number of arenas", { plan.arenas.pop_back(); });
  EXPECT_MALFORMED("the number of threads", { plan.threads = 0; });
  EXPECT_MALFORMED("a stream's kind",
                   { plan.streams[0].kind = static_cast<StreamKind>(9); });
  EXPECT_MALFORMED("a frame's slots", { plan.frames[0].slots = 0; });
  EXPECT_MALFORMED("a frame's slot to be an index below",
                   { plan.frames[0].slot = 1000; });
  EXPECT_MALFORMED("expected increasing stages below 2, got 0 after 1",
                   { plan.frames[0].stages = {1, 0}; });
  EXPECT_MALFORMED("a buffer's frame", { plan.buffers[0].frame = -1; });
  EXPECT_MALFORMED("a plain file name of a kernel object, got '../x.so'",
                   { plan.objects[0].file = "../x.so"; });
  EXPECT_MALFORMED("a kernel's object", { plan.kernels[0].object = 1; });
  EXPECT_MALFORMED("entry 'train' occurs twice",
                   { plan.entries.push_back(plan.entries[0]); });
  EXPECT_MALFORMED("state 'head' occurs twice",
                   { plan.states[0].name = "head"; });
}

// What reports divide by.
TEST(PlanStructure, Machines) {
  EXPECT_MALFORMED("finite numbers of at least 0 of the machine",
                   { plan.machine.flops = -1; });
  EXPECT_MALFORMED("finite numbers of at least 0 of the machine",
                   { plan.machine.memory = INFINITY; });
  EXPECT_MALFORMED("finite numbers of at least 0 of the machine",
                   { plan.machine.memoryBandwidth = NAN; });
  EXPECT_MALFORMED("a positive rate of products of 'fp8'",
                   { plan.machine.rates = {{"fp8", 0}}; });
  EXPECT_MALFORMED("a positive bandwidth of link 'l', got 1 and 0", {
    plan.machine.links = {{"l", 1, 0}};
    plan.machine.axisLinks.assign(plan.mesh.axes.size(), 0);
  });
  EXPECT_MALFORMED("of link 'l', got -1 and 1", {
    plan.machine.links = {{"l", -1, 1}};
    plan.machine.axisLinks.assign(plan.mesh.axes.size(), 0);
  });
  EXPECT_MALFORMED("the number of axes with a link",
                   { plan.machine.links = {{"l", 1, 1}}; });
  EXPECT_MALFORMED("the number of axes with a link",
                   { plan.machine.axisLinks = {0}; });
  EXPECT_MALFORMED("the link of an axis", {
    plan.machine.links = {{"l", 1, 1}};
    plan.machine.axisLinks.assign(plan.mesh.axes.size(), 1);
  });
  for (double flops : {-1.0, double(NAN), double(INFINITY)}) {
    Plan plan = makeSamplePlan();
    plan.entries[0].modelFlops = flops;
    EXPECT_THAT(checkStructure(plan).message(),
                HasSubstr("expected finite flops of at least 0, got "));
  }
}

TEST(PlanStructure, Expressions) {
  EXPECT_MALFORMED("an expression's operand to be an index below",
                   { plan.expressions.push_back({ExprOp::add, 0, 99, 0}); });
  EXPECT_MALFORMED("an expression's operand", {
    auto self = static_cast<ExprId>(plan.expressions.size());
    plan.expressions.push_back({ExprOp::add, self, self, 0});
  });
  EXPECT_MALFORMED("a coordinate's axis", {
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 2});
  });
  EXPECT_MALFORMED("the size of an expression", {
    // Doubles 64 times: 2^64 visits if it were evaluated.
    for (int i = 0; i < 64; ++i) {
      auto last = static_cast<ExprId>(plan.expressions.size()) - 1;
      plan.expressions.push_back({ExprOp::add, last, last, 0});
    }
  });
  EXPECT_MALFORMED("to use parameters below 0, got parameter 3", {
    plan.expressions.push_back({ExprOp::parameter, -1, -1, 3});
    firstOf<Send>(plan, "c0.F").message.peer =
        static_cast<ExprId>(plan.expressions.size()) - 1;
  });
}

TEST(PlanStructure, Instructions) {
  EXPECT_MALFORMED("instruction 0 of program 'begin': expected a stream",
                   { plan.programs[0].instructions[0].stream = 5; });
  EXPECT_MALFORMED("a kernel to be an index",
                   { firstOf<KernelLaunch>(plan, "c0.F").kernel = 77; });
  EXPECT_MALFORMED("expected 4 accesses, got 3",
                   { firstOf<KernelLaunch>(plan, "c0.F").access.pop_back(); });
  EXPECT_MALFORMED("an operand of a kernel to be an index", {
    firstOf<KernelLaunch>(plan, "c0.F").operands[0].buffer = 50;
  });
  EXPECT_MALFORMED("negative or overflowing", {
    firstOf<KernelLaunch>(plan, "c0.F").operands[0].shape = {-1};
  });
  EXPECT_MALFORMED("negative or overflowing", {
    firstOf<KernelLaunch>(plan, "c0.F").operands[0].shape = {INT64_MAX, 2};
  });
  EXPECT_MALFORMED("beta of 0 or 1", {
    std::get<ContractionShape>(firstOf<Library>(plan, "c0.B").descriptor).beta =
        0.5;
  });
  EXPECT_MALFORMED("an operand of a library call",
                   { firstOf<Library>(plan, "c0.B").operands[2] = {}; });
  EXPECT_MALFORMED("axis \"data\" occurs twice in a collective",
                   { firstOf<Collective>(plan, "u").axes = {1, 1}; });
  EXPECT_MALFORMED("expected one output for each input",
                   { firstOf<Collective>(plan, "u").outputs.clear(); });
  EXPECT_MALFORMED("a transfer to be an index",
                   { firstOf<Send>(plan, "c0.F").message.transfer = 2; });
  EXPECT_MALFORMED("the peer of a transfer",
                   { firstOf<Send>(plan, "c0.F").message.peer = noExpr; });
  EXPECT_MALFORMED("one end of a copy to lie on the host", {
    firstOf<Copy>(plan, "c0.F").from = firstOf<Copy>(plan, "c0.F").to;
  });
  EXPECT_MALFORMED("an event to be an index below 2",
                   { firstOf<Signal>(plan, "c0.F").event.event = 2; });
  EXPECT_MALFORMED("a called program", {
    plan.programs[2].instructions.push_back({0, -1, Call{2, noExpr, {}}});
  });
  EXPECT_MALFORMED("expected 0 arguments of a call, got 1", {
    plan.programs[2].instructions.push_back({0, -1, Call{1, noExpr, {0}}});
  });
}

// The file has room for as many strides as dims only.
TEST(PlanStructure, Strides) {
  Plan plan = makeSamplePlan();
  firstOf<Library>(plan, "c0.B").operands[0].strides = {1};
  EXPECT_THAT(serializePlan(plan).message(),
              HasSubstr("expected 2 strides, got 1"));
}

TEST(PlanStructure, Entries) {
  EXPECT_MALFORMED("a cell's microbatch",
                   { plan.entries[0].table[0].microbatch = 3; });
  EXPECT_MALFORMED("expected rows of 2 cells, got 15 cells",
                   { plan.entries[0].table.pop_back(); });
  EXPECT_MALFORMED("expected a program for each of 2 stages, got 1",
                   { plan.entries[0].prologue = {0}; });
  EXPECT_MALFORMED("to be divisible by 2 shards", {
    plan.entries[0].inputs[0].layout.dims[0].factors[0] = {7, 7};
  });
}

TEST(PlanStructure, States) {
  EXPECT_MALFORMED("the parts of a state", { plan.states[0].parts.clear(); });
  EXPECT_MALFORMED("to have the local shape of its layout",
                   { plan.states[0].parts[0].place.shape = {4, 3}; });
  EXPECT_MALFORMED("expected a part of rank 2, got 1",
                   { plan.states[0].parts[0].origin = {0}; });
  EXPECT_MALFORMED("the size of a state overflows",
                   { plan.states[0].shape = {INT64_MAX, INT64_MAX}; });
  EXPECT_MALFORMED("a state's file",
                   { plan.states[0].source.kind = SourceKind::file; });
}

/// An entry that counts for "train": of one microbatch, with an input of its.
static Plan makeCounting() {
  Plan plan = makeSamplePlan();
  Entry counting;
  counting.name = "train.counts";
  counting.prologue = counting.epilogue = {-1, -1};
  counting.inputs = plan.entries[0].inputs;
  counting.counts = "train";
  counting.metrics = {{"train.counts.0", DType::f32}};
  plan.entries[0].hypers.push_back(
      {"train.counts.0", DType::f32, HyperRule{HyperKind::external}});
  plan.entries.push_back(counting);
  return plan;
}

TEST(PlanStructure, EntriesThatCount) {
  Plan plan = makeCounting();
  EXPECT_TRUE(checkStructure(plan).ok()) << checkStructure(plan).message();
  EXPECT_EQ(findCounting(plan, plan.entries[0]), &plan.entries.back());
  EXPECT_EQ(findCounting(plan, plan.entries.back()), nullptr);
  auto refusal = [](auto breakIt) {
    Plan plan = makeCounting();
    breakIt(plan.entries.back());
    Status status = checkStructure(plan);
    EXPECT_EQ(status.kind(), ErrorKind::malformed);
    return status.message();
  };
  EXPECT_THAT(refusal([](Entry &entry) { entry.numMicrobatches = 3; }),
              HasSubstr("microbatches of an entry that counts"));
  constexpr const char *input = "of entry 'train.counts' in entry 'train'";
  EXPECT_THAT(refusal([](Entry &entry) { entry.inputs[0].name = "mask"; }),
              HasSubstr(input));
  EXPECT_THAT(refusal([](Entry &entry) { entry.inputs[0].dtype = DType::u8; }),
              HasSubstr(input));
  EXPECT_THAT(refusal([](Entry &entry) {
                entry.inputs[0].layout.dims[0].factors[0].size = 4;
              }),
              HasSubstr(input));
  EXPECT_THAT(refusal([](Entry &entry) { entry.counts = "trian"; }),
              HasSubstr("expected entry 'trian' for which entry "
                        "'train.counts' counts, got none"));
  EXPECT_THAT(refusal([](Entry &entry) { entry.counts = entry.name; }),
              HasSubstr("expected entry 'train.counts' for which"));
  EXPECT_THAT(refusal([](Entry &entry) { entry.metrics[0].name = "count"; }),
              HasSubstr("expected metric 'count' of entry 'train.counts' among "
                        "the external values of entry 'train'"));
}

// The second input and the second metric of what counts, and of what is
// counted, are looked at too.
TEST(PlanStructure, SecondInputsThatCount) {
  auto message = [](void (*edit)(Entry &counted, Entry &counting)) {
    Plan plan = makeCounting();
    Entry &counted = plan.entries[0], &counting = plan.entries.back();
    counted.inputs.push_back(counted.inputs[0]);
    counted.inputs[1].name = "mask";
    counted.inputs[1].dtype = DType::u8;
    counting.inputs = counted.inputs;
    edit(counted, counting);
    return checkStructure(plan).message();
  };
  EXPECT_EQ(message([](Entry &, Entry &) {}), "");
  EXPECT_EQ(message([](Entry &, Entry &counting) {
              counting.inputs.erase(counting.inputs.begin());
            }),
            "");
  EXPECT_EQ(message([](Entry &, Entry &counting) {
              counting.inputs[1].dtype = DType::i8;
            }),
            "expected input 'mask' of entry 'train.counts' in entry 'train', "
            "with its shape");
  EXPECT_EQ(message([](Entry &, Entry &counting) {
              counting.metrics.push_back({"more", DType::f32});
            }),
            "expected metric 'more' of entry 'train.counts' among the external "
            "values of entry 'train'");
}

TEST(PlanStructure, CountsAreExternalOnce) {
  Plan plan = makeCounting();
  plan.entries[0].hypers.back().rule.kind = HyperKind::constant;
  EXPECT_THAT(checkStructure(plan).message(),
              HasSubstr("among the external values of entry 'train'"));
  plan = makeCounting();
  plan.entries.push_back(plan.entries.back());
  plan.entries.back().name = "again";
  EXPECT_THAT(checkStructure(plan).message(),
              HasSubstr("expected one entry that counts for 'train', got "
                        "'train.counts' and 'again'"));
}
