//===- PlanFileTest.cpp - Plan files, written and read --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;

static std::string sampleBytes() { return *serializePlan(makeSamplePlan()); }

/// Every kind of instruction and of field once.
static Plan makeFullPlan() {
  Plan plan = makeSamplePlan();
  plan.programs[0].numParameters = 1;
  plan.entries[0].prologue = {-1, -1};
  Operand lr = std::get<Copy>(plan.programs[0].instructions[0].action).to;
  lr.expr = 0;
  lr.shape = {1, 1};
  lr.strides = {3, 1};
  auto add = [&](Action action) {
    plan.programs[1].instructions.push_back({0, 0, std::move(action)});
  };
  add(Call{0, 1, {0}});
  add(Loop{7, 0});
  add(Branch{lr, 0});
  Operand flag = lr;
  flag.dtype = DType::i1;
  flag.shape = flag.strides = {};
  plan.programs[2].instructions.push_back({0, 0, While{flag, 1}});
  add(Exchange{{{0, 1, {lr}}}, {{1, 1, {lr}}}});
  Collective collective;
  collective.kind = CollectiveKind::raggedAllToAll;
  collective.axes = {1, 0};
  collective.stages = {0, 1};
  collective.reduction = ReductionKind::max;
  collective.concatDim = 1;
  collective.inputs = collective.outputs = {lr};
  collective.counts = lr;
  collective.peer = 1;
  add(collective);
  plan.files = {"weights.safetensors"};
  plan.states[0].source = {SourceKind::file, {}, 0, "wte", 128, DType::f32};
  plan.states[0].of = "head";
  plan.entries[0].fetches = {{"x1",
                              DType::bf16,
                              Layout::split({7, 3}, {{1}, {0}}, plan.mesh),
                              {1},
                              true,
                              "x",
                              {7, 0},
                              {14, 3}}};
  plan.entries[0].reorder = true;
  plan.entries[0].inputs[0].dataOffset = 3;
  plan.entries[0].inputs[0].limit = 50257;
  DataRule rows{DataKind::array, DType::u32, false, "images"};
  rows.heldOut = 0.05;
  rows.weights = {7, 3};
  rows.finite = false;
  plan.sources.push_back({"rows", rows});
  plan.sources[0].rule.once = true;
  Entry counting;
  counting.name = "counting";
  counting.counts = plan.entries[0].name;
  counting.prologue = counting.epilogue = {-1, -1};
  plan.entries.push_back(counting);
  plan.seed = UINT64_MAX;
  plan.entries[0].modelFlops = 3e20;
  plan.machine = {1e15, 8e10, 3e12, {{"fast", 1e-6, 4e11}, {"slow", 0, 1}}, {}};
  plan.machine.axisLinks.assign(plan.mesh.axes.size(), 1);
  return plan;
}

TEST(PlanFile, RoundTrip) {
  for (const Plan &plan : {makeSamplePlan(), makeFullPlan(), Plan{}}) {
    Plan original = plan;
    original.arenas.resize(original.mesh.numStages());
    auto bytes = serializePlan(original);
    ASSERT_TRUE(bytes.ok()) << bytes.message();
    auto back = parsePlan(*bytes);
    ASSERT_TRUE(back.ok()) << back.message();
    EXPECT_EQ(printPlanAsJson(*back), printPlanAsJson(original));
    EXPECT_EQ(*serializePlan(*back), *bytes);
  }
}

TEST(PlanFile, WritesAndReads) {
  std::string path = testing::TempDir() + "sample.plan";
  ASSERT_TRUE(writePlan(makeSamplePlan(), path).ok());
  auto back = readPlan(path);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->programs.size(), 6u);
  EXPECT_EQ(readPlan(path + ".none").kind(), ErrorKind::malformed);
}

TEST(PlanFile, EveryTruncationIsRefused) {
  std::string bytes = sampleBytes();
  for (size_t size = 0; size < bytes.size(); size += 37) {
    EXPECT_EQ(parsePlan(std::string_view(bytes).substr(0, size)).kind(),
              ErrorKind::malformed);
  }
}

TEST(PlanFile, EveryFlippedByteIsFound) {
  std::string bytes = sampleBytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(parsePlan(bad).ok()) << i;
  }
}

TEST(PlanFile, HeaderMessages) {
  std::string bytes = sampleBytes();
  EXPECT_EQ(parsePlan("LLMC").message(),
            "malformed plan: expected at least 32 bytes, got 4");
  std::string bad = bytes;
  bad[0] = 'X';
  EXPECT_EQ(parsePlan(bad).message(),
            "malformed plan: expected the magic \"LLMCPLAN\"");
  bad = bytes;
  for (uint32_t other : {formatVersion - 1, formatVersion + 1}) {
    bad[8] = static_cast<char>(other);
    EXPECT_EQ(parsePlan(bad).message(), "plan format " + std::to_string(other) +
                                            ", this runtime reads " +
                                            std::to_string(formatVersion));
    EXPECT_EQ(parsePlan(bad).kind(), ErrorKind::mismatch);
  }
  bad[8] = 0;
  EXPECT_EQ(parsePlan(bad).message(), "malformed plan: bad header");
  bad = bytes;
  bad[12] = 1;
  EXPECT_EQ(parsePlan(bad).message(), "malformed plan: bad header");
  bad = bytes;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  EXPECT_EQ(parsePlan(bad).message().find("malformed plan: expected checksum "),
            0u);
  bad = bytes + "x";
  EXPECT_NE(parsePlan(bad).message().find("expected a payload of"),
            std::string::npos);
  bad = bytes.substr(0, 32);
  resealPlan(bad);
  EXPECT_EQ(parsePlan(bad).message(),
            "malformed plan: not a FlatBuffer of plan.fbs");
}

// At any alignment in memory.
TEST(PlanFile, UnalignedBytesParse) {
  std::string bytes = " " + sampleBytes();
  EXPECT_TRUE(parsePlan(std::string_view(bytes).substr(1)).ok());
}

// From 3 to 48 microbatches: 8 bytes for each new cell.
TEST(PlanFile, GrowsWithTheTableAlone) {
  Plan plan = makeSamplePlan();
  size_t before = serializePlan(plan)->size();
  plan.entries[0].numMicrobatches = 48;
  plan.entries[0].table.resize(plan.entries[0].table.size() + 100);
  EXPECT_EQ(serializePlan(plan)->size() - before, 800u);
}

/// Where the bytes of `words` lie in `bytes`, once.
static size_t findWords(const std::string &bytes,
                        const std::vector<uint32_t> &words) {
  std::string wanted(reinterpret_cast<const char *>(words.data()),
                     words.size() * sizeof(uint32_t));
  size_t at = bytes.find(wanted);
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(bytes.find(wanted, at + 1), std::string::npos);
  return at;
}

/// What is said of `bytes` with the word at `at` changed.
static std::string parseWith(std::string bytes, size_t at, uint32_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof(word));
  resealPlan(bytes);
  return parsePlan(bytes).message();
}

const std::string outside = "malformed plan: a record points outside its table";

// Each instruction names a record of its kind: the last one there is, and the
// first that there is not.
TEST(PlanFile, InstructionsNameTheirRecords) {
  Plan plan = makeFullPlan();
  std::map<size_t, uint32_t> counts;
  uint32_t location = 0;
  plan.locations.assign(6000, "x");
  for (Program &program : plan.programs) {
    for (Instruction &each : program.instructions) {
      each.location = static_cast<int32_t>(5000 + location++);
      ++counts[each.action.index()];
    }
  }
  ++counts[5]; // Two exchanges, of which the last one has unlike ranges.
  Exchange exchange = firstOf<Exchange>(plan, "c0.F");
  exchange.sends.resize(3, exchange.sends[0]);
  exchange.receives.resize(2, exchange.receives[0]);
  plan.programs.back().instructions.push_back({0, 5999, exchange});
  // Signals and waits share a table, as do all messages.
  uint32_t events = counts[8] + counts[9];
  uint32_t messages = counts[3] + counts[4] + 2 + 5;
  std::string bytes = serializeUnchecked(plan);
  EXPECT_EQ(parsePlan(bytes).message(), "");
  for (const Program &program : plan.programs) {
    for (const Instruction &each : program.instructions) {
      size_t kind = each.action.index();
      uint32_t size = kind == 8 || kind == 9   ? events
                      : kind == 3 || kind == 4 ? messages
                                               : counts[kind];
      size_t at = findWords(bytes, {static_cast<uint32_t>(each.stream),
                                    static_cast<uint32_t>(each.location)}) +
                  8;
      EXPECT_NE(parseWith(bytes, at, size - 1), outside) << nameOf(each.action);
      EXPECT_EQ(parseWith(bytes, at, size), outside) << nameOf(each.action);
      EXPECT_EQ(parseWith(bytes, at, UINT32_MAX), outside);
    }
  }
  // The messages of the exchange are the last ones.
  size_t at = findWords(bytes, {messages - 5, 3, messages - 2, 2});
  EXPECT_EQ(parseWith(bytes, at + 4, 5), "");
  EXPECT_EQ(parseWith(bytes, at + 4, 6), outside);
  EXPECT_EQ(parseWith(bytes, at + 8, messages - 1), outside);
  EXPECT_EQ(parseWith(bytes, at + 12, 3), outside);
  EXPECT_EQ(parseWith(bytes, at + 12, UINT32_MAX), outside);
}
