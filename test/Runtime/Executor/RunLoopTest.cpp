//===- RunLoopTest.cpp - Steps of a session that only pretends ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RunLoopFixture.h"

#include "llmc/Runtime/Base/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace llmc::rt {
namespace {

using testing::HasSubstr;
using testing::Not;

// Not a number, and infinity of either sign, end the run with 13.
TEST_F(RunLoop, LossesAreFinite) {
  for (double bad : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    session.losses = {1, bad, 1};
    session.steps.clear();
    session.submitted.clear();
    options.steps = 5;
    options.stopOnNan = true;
    Status status = run();
    EXPECT_EQ(status.kind(), ErrorKind::numeric);
    EXPECT_THAT(status.message(), HasSubstr("expected a finite loss, got "));
    EXPECT_THAT(status.message(), HasSubstr(" at step 1"));
    EXPECT_EQ(session.steps, (std::vector<int64_t>{0, 1}));
    EXPECT_THAT(text, HasSubstr("step: 1  loss: "));
    options.stopOnNan = false;
    session.steps.clear();
    session.submitted.clear();
    EXPECT_TRUE(run().ok());
    EXPECT_EQ(session.steps.size(), 5u);
  }
}

// The step that runs ends first, and the one that is submitted.
TEST_F(RunLoop, StopsFromOutside) {
  std::atomic<bool> stop{false};
  session.stopAt1 = &stop;
  options.stop = &stop;
  options.steps = 5;
  options.fetch = {"tokens"};
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(session.steps, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(session.submitted, session.steps);
  EXPECT_THAT(text, HasSubstr("tokens.2: i32[2] = [0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("memory: predicted 4,000 B, reserved 3,500 B on "
                              "2 devices; peak of the process "));
}

// The devices have a step to go on with, unless values of each are read.
TEST_F(RunLoop, OneStepAhead) {
  options.steps = 5;
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(session.mostAhead, 2u);
  for (bool each : {false, true}) {
    session.steps.clear();
    session.submitted.clear();
    session.mostAhead = 0;
    options.ahead = each;
    options.fetchEachStep = each;
    EXPECT_TRUE(run().ok());
    EXPECT_EQ(session.mostAhead, 1u);
    EXPECT_EQ(session.steps.size(), 5u);
  }
}

// A step that cannot be submitted ends the run after those before it.
TEST_F(RunLoop, RefusedSteps) {
  options.steps = 5;
  session.refuseAt = 2;
  Status status = run();
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  EXPECT_EQ(session.steps, (std::vector<int64_t>{0, 1}));
  EXPECT_THAT(text, HasSubstr("step: 1  loss: "));
}

TEST_F(RunLoop, StepsFromAndTo) {
  options.firstStep = 7;
  options.steps = 2;
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(session.steps, (std::vector<int64_t>{7, 8}));
  session.steps.clear();
  session.submitted.clear();
  options.steps = 0;
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(session.steps.empty());
}

TEST_F(RunLoop, LinesOfAStep) {
  options.steps = 1;
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text,
              HasSubstr("step: 0  loss: 2.5000  lr: 1.0e-03  norm: 7  memory: "
                        "1.95KiB(2.0%)  tps: "));
  EXPECT_THAT(text, HasSubstr("  data: 0.0%  eta: 0:00:00\n"));
  EXPECT_THAT(text, HasSubstr("memory of stage 0: 0B on each device ()\n"));
  session.source.entries[0].inputs.pop_back();
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text, HasSubstr("  sps: "));
  session.source.entries[0].inputs.clear();
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text, Not(HasSubstr("ps: ")));
}

TEST_F(RunLoop, PredictsEachKindOfMemory) {
  plan::Frame frame;
  frame.kind = plan::FrameKind::act;
  frame.size = 1024;
  frame.slots = 2;
  session.source.frames = {frame};
  frame.kind = plan::FrameKind::state;
  frame.slots = 1;
  session.source.frames.push_back(frame);
  session.source.arenas = {3072};
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text, HasSubstr("memory of stage 0: 3.00KiB on each device "
                              "(state 1.00KiB, act 2.00KiB)\n"));
  session.source.arenas = {3136};
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text, HasSubstr("act 2.00KiB, alignment 64B)\n"));
}

/// What ran before the first step is no part of it.
TEST_F(RunLoop, Trace) {
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(session.traces, 0);
  options.traceFile = folder + "/trace.json";
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(*readFile(options.traceFile), "trace 2");
  options.traceFile = folder + "/none/trace.json";
  EXPECT_EQ(run().error().file, options.traceFile);
}

TEST_F(RunLoop, Dump) {
  options.dumpFolder = folder + "/a/b";
  options.fetch = {"blocks*", "tokens"};
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(readNpy(folder + "/a/b/blocks.0_w.npy").ok());
  for (int m : {0, 1, 2}) {
    std::string name = "/a/b/tokens." + std::to_string(m) + ".npy";
    EXPECT_TRUE(readNpy(folder + name).ok()) << name;
  }
  std::ofstream(folder + "/file") << "x";
  options.dumpFolder = folder + "/file/b";
  Status status = run();
  EXPECT_EQ(status.kind(), ErrorKind::usage);
  EXPECT_THAT(status.message(), HasSubstr("cannot make the folder for values"));
}

// Globs stand for fetches, metrics, inputs and states, each once; a name that
// nothing has is for the session to refuse.
TEST_F(RunLoop, Fetches) {
  plan::Fetch part, each;
  part.name = "w.part";
  part.of = "w.whole";
  each.name = "each";
  each.eachMicrobatch = true;
  session.source.entries[0].fetches = {part, each};
  auto fetch = [&](std::vector<std::string> names) {
    options.fetch = std::move(names);
    session.fetched.clear();
    Status status = run();
    return status.ok() ? session.fetched
                       : std::vector<std::string>{status.message()};
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(fetch({"w*"}), (Names{"w.whole.0"}));
  EXPECT_EQ(fetch({"l*", "loss"}), (Names{"lr.0", "loss.0"}));
  EXPECT_EQ(fetch({"each"}), (Names{"each.0", "each.1", "each.2"}));
  EXPECT_EQ(fetch({"x"}), (Names{"x.0", "x.1", "x.2"}));
  EXPECT_EQ(fetch({"?"}), (Names{"x.0", "x.1", "x.2"}));
  EXPECT_EQ(fetch({"input.tokens"}),
            (Names{"input.tokens.0", "input.tokens.1", "input.tokens.2"}));
  EXPECT_EQ(fetch({"output.each"}),
            (Names{"output.each.0", "output.each.1", "output.each.2"}));
  EXPECT_EQ(fetch({"output.x"}), (Names{"output.x.0"}));
  EXPECT_EQ(fetch({"blocks.?/w"}), (Names{"blocks.0/w.0"}));
  // All that nothing has, before the first step.
  size_t before = session.submitted.size();
  EXPECT_EQ(fetch({"none", "lr", "z*", "output.z"}),
            (Names{"--fetch: expected the name of a value of entry 'train' or "
                   "a glob that matches one, got 'none', 'z*', 'output.z'"}));
  EXPECT_EQ(session.submitted.size(), before);
  session.source.entries[0].numMicrobatches = 1;
  EXPECT_EQ(fetch({"x"}), (Names{"x.0"}));
  EXPECT_THAT(text, HasSubstr("\nx: i32[2] = [0, 0]\n"));
}

TEST_F(RunLoop, FetchesOfEachStep) {
  options.steps = 2;
  options.fetch = {"lr"};
  options.fetchEachStep = true;
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(text, HasSubstr("\nstep-0.lr: i32[2] = [0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("\nstep-1.lr: i32[2] = [0, 0]\n"));
  EXPECT_EQ(session.fetched.size(), 2u);
}

TEST_F(RunLoop, UnknownEntry) {
  session.source.entries.push_back(session.source.entries[0]);
  session.source.entries[1].name = "forward";
  options.entry = "evaluate";
  Status status = run();
  EXPECT_EQ(status.kind(), ErrorKind::usage);
  EXPECT_EQ(status.message(),
            "the plan has no entry 'evaluate', only train, forward");
}

/// One stage that sends 64 bytes in each of 3 microbatches and reduces 8.
plan::Plan makeTraffic() {
  plan::Plan plan;
  plan.mesh = {{{"pipe", 1}, {"data", 2}}, 0};
  plan.arenas = {0};
  plan::Operand bytes;
  bytes.buffer = 0;
  bytes.shape = {16};
  plan::Program program;
  plan::Collective collective;
  collective.axes = {1};
  collective.inputs = collective.outputs = {bytes};
  program.instructions = {{0, -1, plan::Send{{0, plan::noExpr, {bytes}}}},
                          {0, -1, collective}};
  plan.programs = {program};
  plan::Entry entry;
  entry.name = "train";
  entry.numMicrobatches = 3;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{0, 0}, {0, 1}, {0, 2}};
  plan.entries = {entry};
  return plan;
}

// What the communicators counted is what the plan says, of all steps and of
// both data ranks.
TEST_F(RunLoop, Counts) {
  session.source = makeTraffic();
  options.count = true;
  options.steps = 2;
  plan::Traffic row;
  row.kind = "all_reduce";
  row.axes = "data";
  row.count = 6;
  row.bytesIn = 6 * 64;
  session.counted = {row};
  session.transferBytes = 2 * 2 * 3 * 64;
  EXPECT_EQ(run().message(), "");
  EXPECT_THAT(text,
              HasSubstr("counted on stage 0: 6 all_reduce over data, 384 B\n"));
  EXPECT_THAT(text, HasSubstr("  3 x send over pipe, 192B a step\n"));
  EXPECT_THAT(text, HasSubstr("counted in flight on each stage: 2\n"));
  session.transferBytes += 1;
  Status transfers = run();
  EXPECT_EQ(transfers.kind(), ErrorKind::internal);
  EXPECT_EQ(transfers.message(),
            "expected 768 B of transfers as in the plan, got 769");
  session.transferBytes -= 1;
  plan::Traffic moreOften = row, moreBytes = row;
  moreOften.count += 1;
  moreBytes.bytesIn += 1;
  for (const plan::Traffic &wrong : {moreOften, moreBytes}) {
    session.counted = {wrong};
    Status status = run();
    EXPECT_EQ(status.kind(), ErrorKind::internal);
    EXPECT_THAT(status.message(),
                HasSubstr("expected the traffic of the plan on stage 0 (6 "
                          "all_reduce over data, 384 B; ), got "));
  }
  options.count = false;
  EXPECT_TRUE(run().ok());
}

TEST(RunText, BytesAndCounts) {
  EXPECT_EQ(printBytes(1023), "1023B");
  EXPECT_EQ(printBytes(1024), "1.00KiB");
  EXPECT_EQ(printBytes((1 << 20) - 1), "1024.00KiB");
  EXPECT_EQ(printBytes(1 << 20), "1.00MiB");
  EXPECT_EQ(printBytes((1 << 30) - 1), "1024.00MiB");
  EXPECT_EQ(printBytes(1 << 30), "1.00GiB");
  EXPECT_EQ(printBytes(uint64_t(37) << 30), "37.00GiB");
  EXPECT_EQ(printCount(0), "0");
  EXPECT_EQ(printCount(999), "999");
  EXPECT_EQ(printCount(1000), "1,000");
  EXPECT_EQ(printCount(123456), "123,456");
  EXPECT_EQ(printCount(1234567), "1,234,567");
}

// Whole numbers are tokens, whichever input they are; else samples of the
// first input that has any.
TEST(RunText, StepSizes) {
  plan::Plan plan;
  plan.sources = {{"x", {DataKind::array, DType::u8, true, ""}}};
  plan::Entry entry;
  entry.numMicrobatches = 3;
  auto size = [&](std::vector<std::pair<DType, std::vector<int64_t>>> inputs) {
    entry.inputs.clear();
    for (auto &[dtype, shape] : inputs) {
      entry.inputs.push_back({"", dtype, whole(shape), {}, -1});
    }
    StepSize found = stepSize(plan, entry);
    return std::make_pair(found.count, found.isTokens);
  };
  using Size = std::pair<int64_t, bool>;
  EXPECT_EQ(size({}), (Size{0, false}));
  EXPECT_EQ(size({{DType::f32, {5, 4}}, {DType::i32, {5, 6}}}),
            (Size{90, true}));
  EXPECT_EQ(size({{DType::f32, {}}, {DType::f32, {5, 4}}, {DType::f32, {7}}}),
            (Size{15, false}));
  EXPECT_EQ(size({{DType::i32, {}}}), (Size{3, true}));
  // Labels, which an array feeds, are no tokens.
  entry.inputs = {{"y", DType::i32, whole({5}), {}, 0}};
  EXPECT_FALSE(stepSize(plan, entry).isTokens);
  EXPECT_EQ(stepSize(plan, entry).count, 15);
}

TEST(RunText, Errors) {
  std::string file = testing::TempDir() + "run-loop-error";
  Status status = makeError(ErrorKind::mismatch, "cause").at("a.plan");
  testing::internal::CaptureStderr();
  EXPECT_EQ(reportError("tool", status, file), 15);
  EXPECT_EQ(reportError("tool", status, ""), 15);
  EXPECT_EQ(reportError("tool", status, "/none/file"), 15);
  std::string text = testing::internal::GetCapturedStderr();
  std::string line = "tool: error[mismatch]: a.plan: cause\n";
  EXPECT_EQ(text.find(line + line + "tool: warning: /none/file: cannot"), 0u);
  EXPECT_EQ(text.substr(text.size() - line.size()), line);
  EXPECT_EQ(*readFile(file), describeAsJson(status.error()) + "\n");
}

} // namespace
} // namespace llmc::rt
