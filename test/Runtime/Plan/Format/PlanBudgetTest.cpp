//===- PlanBudgetTest.cpp - Plans that unpack to more than they are -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files whose tables share their parts, which no writer of ours makes: what is
// read from them stays within 16 MiB and eight times their size. A text fills
// the 16 MiB; what is left is eight times the rest of the file.
//
//===----------------------------------------------------------------------===//

#include "plan_generated.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gtest/gtest.h>

using namespace llmc::rt::plan;
using flatbuffers::Offset;

namespace {
struct PlanBudget : testing::Test {
  flatbuffers::FlatBufferBuilder builder;
  /// What a plan without stages and programs needs.
  Offset<flatbuffers::Vector<int64_t>> arenas;
  Offset<flatbuffers::String> target;
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> fillers;

  void begin() {
    builder.Clear();
    arenas = builder.CreateVector(std::vector<int64_t>{0});
    target = builder.CreateString("cpu");
    fillers = 0;
  }
  /// 24 MiB of text, of which the file has one.
  void fill() {
    auto text = builder.CreateString(std::string(1 << 20, 'x'));
    fillers = builder.CreateVector(
        std::vector<Offset<flatbuffers::String>>(24, text));
  }
  template <typename T, typename Make> auto repeat(int count, Make make) {
    std::vector<Offset<T>> list;
    for (int i = 0; i < count; ++i) {
      list.push_back(make());
    }
    return builder.CreateVector(list);
  }
  /// The message for the plan with what `add` adds.
  template <typename Add> std::string parse(Add add) {
    fb::PlanBuilder plan(builder);
    plan.add_arenas(arenas);
    plan.add_target(target);
    plan.add_threads(1);
    plan.add_pipeline_axis(-1);
    plan.add_locations(fillers);
    add(plan);
    fb::FinishPlanBuffer(builder, plan.Finish());
    std::string bytes(32, 0);
    bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()),
                 builder.GetSize());
    resealPlan(bytes);
    return parsePlan(bytes).message();
  }
  void expectRefusal(const std::string &message, bool isRefused) {
    bool found = message == "malformed plan: a record points outside its table";
    EXPECT_EQ(found, isRefused) << message;
  }
};
} // namespace

TEST_F(PlanBudget, NothingElse) {
  begin();
  fill();
  EXPECT_EQ(parse([](fb::PlanBuilder &) {}), "");
}

TEST_F(PlanBudget, Texts) {
  for (int count : {8, 9}) {
    begin();
    fill();
    auto text = builder.CreateString(std::string(16000, 'x'));
    auto files = builder.CreateVector(
        std::vector<Offset<flatbuffers::String>>(count, text));
    std::string message =
        parse([&](fb::PlanBuilder &plan) { plan.add_files(files); });
    expectRefusal(message, count == 9);
  }
}

TEST_F(PlanBudget, InstructionsOfPrograms) {
  for (int count : {8, 9}) {
    begin();
    fill();
    std::vector<fb::Event> events(1, fb::Event(0, 0));
    auto pool = builder.CreateVectorOfStructs(events);
    std::vector<fb::Instruction> list(1000, fb::Instruction(0, -1, 0, 8));
    auto shared = builder.CreateVectorOfStructs(list);
    auto programs = repeat<fb::Program>(
        count, [&] { return fb::CreateProgram(builder, 0, 0, -1, 0, shared); });
    std::string message = parse([&](fb::PlanBuilder &plan) {
      plan.add_events(pool);
      plan.add_programs(programs);
    });
    expectRefusal(message, count == 9);
  }
}

TEST_F(PlanBudget, CellsOfEntries) {
  for (int count : {8, 9}) {
    begin();
    fill();
    std::vector<fb::Cell> cells(2000, fb::Cell(-1, 0));
    auto shared = builder.CreateVectorOfStructs(cells);
    auto entries = repeat<fb::Entry>(count, [&] {
      fb::EntryBuilder entry(builder);
      entry.add_table(shared);
      return entry.Finish();
    });
    std::string message =
        parse([&](fb::PlanBuilder &plan) { plan.add_entries(entries); });
    expectRefusal(message, count == 9);
  }
}

TEST_F(PlanBudget, FactorsOfLayouts) {
  for (int count : {8, 9}) {
    begin();
    fill();
    std::vector<fb::Factor> factors(1000, fb::Factor(1, 1));
    auto shared = builder.CreateVectorOfStructs(factors);
    auto dims = repeat<fb::DimLayout>(
        count, [&] { return fb::CreateDimLayout(builder, 0, shared); });
    auto layout = fb::CreateLayout(builder, dims);
    auto inputs = repeat<fb::Input>(
        1, [&] { return fb::CreateInput(builder, 0, 0, layout); });
    auto entries = repeat<fb::Entry>(1, [&] {
      fb::EntryBuilder entry(builder);
      entry.add_inputs(inputs);
      return entry.Finish();
    });
    std::string message =
        parse([&](fb::PlanBuilder &plan) { plan.add_entries(entries); });
    expectRefusal(message, count == 9);
  }
}

// Each number of a range counts as much as an operand.
TEST_F(PlanBudget, RangesOfCalls) {
  for (int count : {2, 3}) {
    begin();
    fill();
    auto numbers = builder.CreateVector(std::vector<int64_t>(2000));
    std::vector<fb::Call> calls(1, fb::Call(fb::Range(0, 2000), 0, -1));
    auto pool = builder.CreateVectorOfStructs(calls);
    std::vector<fb::Instruction> list(count, fb::Instruction(-1, -1, 0, 10));
    auto instructions = builder.CreateVectorOfStructs(list);
    auto programs = repeat<fb::Program>(1, [&] {
      return fb::CreateProgram(builder, 0, 0, -1, 0, instructions);
    });
    std::string message = parse([&](fb::PlanBuilder &plan) {
      plan.add_numbers(numbers);
      plan.add_calls(pool);
      plan.add_programs(programs);
    });
    expectRefusal(message, count == 3);
  }
}

// Fields that are tables or records of their own must be there.
TEST_F(PlanBudget, AbsentParts) {
  for (bool isThere : {true, false}) {
    begin();
    fb::HyperRule rule(0, 0, 0, 0, 0);
    auto hypers = repeat<fb::Hyper>(1, [&] {
      return fb::CreateHyper(builder, 0, 0, isThere ? &rule : nullptr);
    });
    auto entries = repeat<fb::Entry>(1, [&] {
      fb::EntryBuilder entry(builder);
      entry.add_hypers(hypers);
      return entry.Finish();
    });
    std::string message =
        parse([&](fb::PlanBuilder &plan) { plan.add_entries(entries); });
    expectRefusal(message, !isThere);
  }
  for (int parts : {0, 1, 2}) {
    begin();
    fb::Draw draw(0, 0, 0);
    auto source = fb::CreateSource(builder, 0, parts == 2 ? &draw : nullptr);
    auto states = repeat<fb::State>(1, [&] {
      fb::StateBuilder state(builder);
      if (parts > 0) {
        state.add_source(source);
      }
      return state.Finish();
    });
    std::string message =
        parse([&](fb::PlanBuilder &plan) { plan.add_states(states); });
    expectRefusal(message, parts < 2);
  }
}

// Buffers beyond the names have none.
TEST_F(PlanBudget, FewerNamesThanBuffers) {
  begin();
  auto frames = repeat<fb::Frame>(
      1, [&] { return fb::CreateFrame(builder, 0, 0, 0, 0, 0, 1, -1, 1, -1); });
  std::vector<fb::Buffer> list(2, fb::Buffer(0, 0, 0, -1));
  auto buffers = builder.CreateVectorOfStructs(list);
  auto names = builder.CreateVector(
      std::vector<Offset<flatbuffers::String>>{builder.CreateString("a")});
  fb::PlanBuilder flat(builder);
  flat.add_arenas(arenas);
  flat.add_target(target);
  flat.add_threads(1);
  flat.add_pipeline_axis(-1);
  flat.add_frames(frames);
  flat.add_buffers(buffers);
  flat.add_buffer_names(names);
  fb::FinishPlanBuffer(builder, flat.Finish());
  std::string bytes(32, 0);
  bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()),
               builder.GetSize());
  resealPlan(bytes);
  auto plan = parsePlan(bytes);
  ASSERT_TRUE(plan.ok()) << plan.message();
  ASSERT_EQ(plan->buffers.size(), 2u);
  EXPECT_EQ(plan->buffers[0].name, "a");
  EXPECT_EQ(plan->buffers[1].name, "");
}
