//===- StreamOrderTest.cpp - Reduced waits between streams ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Streams/StreamOrder.h"

#include <gtest/gtest.h>
#include <random>

using namespace llmc;

namespace {
enum { C, K };

/// Program 0 copies tokens (buffer 0) and targets (1) on K, then reads each on
/// C, microbatch by microbatch; both lie in frame 0 with two slots.
StreamOrderProblem makeInputs(int microbatches) {
  StreamOrderProblem problem;
  problem.numStreams = 2;
  problem.slots = {2};
  problem.frameOf = {0, 0};
  problem.programs = {{{K, {{0, true}}},
                       {K, {{1, true}}},
                       {C, {{0, false}}},
                       {C, {{1, false}}}}};
  problem.walks.resize(1);
  for (int i = 0; i < microbatches; ++i)
    problem.walks[0].push_back({0, i});
  EXPECT_EQ(problem.check(), "");
  return problem;
}

TEST(StreamOrder, FindsFaults) {
  auto check = [](auto change) {
    StreamOrderProblem problem = makeInputs(1);
    change(problem);
    return problem.check();
  };
  using P = StreamOrderProblem;
  EXPECT_EQ(check([](P &p) { p.slots = {1}; }), "");
  EXPECT_EQ(check([](P &p) { p.slots = {0}; }), "expected at least one slot");
  for (int32_t frame : {-1, 1})
    EXPECT_EQ(check([&](P &p) { p.frameOf[1] = frame; }),
              "a buffer is in a frame that is not there");
  for (int32_t stream : {-1, 2})
    EXPECT_EQ(check([&](P &p) { p.programs[0][3].stream = stream; }),
              "an instruction is on a stream that is not there");
  for (int32_t buffer : {-1, 2})
    EXPECT_EQ(
        check([&](P &p) { p.programs[0][3].accesses[0].buffer = buffer; }),
        "an instruction touches a buffer that is not there");
  for (StreamOrderProblem::Call call : {P::Call{-1, 0}, {1, 0}, {0, -1}})
    EXPECT_EQ(check([&](P &p) { p.walks[0].push_back(call); }),
              "a walk calls a program that is not there");
}

TEST(StreamOrder, WithoutReuseOneWaitForTheLastCopy) {
  StreamOrderResult result = reduceWaits(makeInputs(2));
  ASSERT_EQ(result.error, "");
  // Each read waits for its own copy: the first does not wait for the second.
  ASSERT_EQ(result.order.edges.size(), 2u);
  for (const auto &edge : result.order.edges)
    EXPECT_NE(edge.event, 0);
}

TEST(StreamOrder, ReuseWaitsForTheLastRead) {
  StreamOrderProblem problem = makeInputs(4);
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  int numFree = 0;
  for (const auto &edge : result.order.edges)
    if (edge.event == 0) {
      ++numFree;
      EXPECT_EQ(edge.fromInstruction, 3);
      EXPECT_EQ(edge.toInstruction, 0);
    }
  EXPECT_EQ(numFree, 1);
}

TEST(StreamOrder, ReuseAfterTheLaterProgram) {
  // The second program reads the tokens again.
  StreamOrderProblem problem = makeInputs(0);
  problem.programs.push_back({{C, {{0, false}}}});
  for (int i = 0; i < 4; ++i) {
    problem.walks[0].push_back({0, i});
    problem.walks[0].push_back({1, i});
  }
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  for (const auto &edge : result.order.edges)
    if (edge.event == 0)
      EXPECT_EQ(edge.fromProgram, 1);
}

TEST(StreamOrder, AFrameIsFreeAfterTheLastProgramThatReadsIt) {
  // One program copies both buffers and reads the first, the next one reads the
  // second: copies of both wait for that, whatever the programs' numbers.
  for (int32_t first : {0, 1}) {
    int32_t second = 1 - first;
    StreamOrderProblem problem;
    problem.numStreams = 2;
    problem.slots = {2};
    problem.frameOf = {0, 0};
    problem.programs.resize(2);
    problem.programs[first] = {
        {K, {{0, true}}}, {K, {{1, true}}}, {C, {{0, false}}}};
    problem.programs[second] = {{C, {{1, false}}}};
    problem.walks.resize(1);
    for (int i = 0; i < 4; ++i) {
      problem.walks[0].push_back({first, i});
      problem.walks[0].push_back({second, i});
    }
    ASSERT_EQ(problem.check(), "");
    StreamOrderResult result = reduceWaits(problem);
    ASSERT_EQ(result.error, "");
    EXPECT_EQ(problem.verify(result.order), "");
    int numFree = 0;
    for (const auto &edge : result.order.edges)
      if (edge.event == 0) {
        EXPECT_EQ(edge.fromProgram, second);
        ++numFree;
      }
    EXPECT_GT(numFree, 0);
  }
}

TEST(StreamOrder, EachStageFreesItsOwnSlots) {
  // Another stage copies and reads the same frame by a program of its own.
  StreamOrderProblem problem = makeInputs(4);
  problem.programs.push_back(problem.programs[0]);
  problem.walks.push_back(problem.walks[0]);
  for (auto &call : problem.walks[1])
    call.program = 1;
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  for (const auto &edge : result.order.edges)
    EXPECT_EQ(edge.fromProgram, edge.toProgram);
}

TEST(StreamOrder, ASlotIsNotFreedByAProgramOfAnotherWalk) {
  // Two walks of one stage begin alike, then each copies and reads one frame by
  // a program of its own: no one place frees its slots in both.
  StreamOrderProblem problem = makeInputs(0);
  problem.programs.push_back(problem.programs[0]);
  problem.programs.push_back({});
  problem.walks.resize(2);
  for (int32_t program : {0, 1}) {
    problem.walks[program].push_back({2, 0});
    for (int i = 0; i < 4; ++i)
      problem.walks[program].push_back({program, i});
  }
  ASSERT_EQ(problem.check(), "");
  StreamOrderResult result = reduceWaits(problem);
  EXPECT_EQ(result.error, "instruction 0 of program 1 is not ordered after "
                          "instruction 2 of program 1");
  EXPECT_TRUE(result.joins.empty());
  // Where neither walk takes a slot again, nothing frees one.
  for (auto &walk : problem.walks)
    walk.resize(3);
  result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  for (const auto &edge : result.order.edges)
    EXPECT_EQ(edge.fromProgram, edge.toProgram);
}

TEST(StreamOrder, EachEdgeIsNeeded) {
  StreamOrderProblem problem = makeInputs(4);
  StreamOrder order = reduceWaits(problem).order;
  for (size_t i = 0; i < order.edges.size(); ++i) {
    StreamOrder fewer = order;
    fewer.edges.erase(fewer.edges.begin() + i);
    EXPECT_NE(problem.verify(fewer), "");
  }
}

// A wait for an event that nothing signals first would never end; event 0 is
// free from the start.
TEST(StreamOrder, AWaitHasASignalBeforeIt) {
  StreamOrderProblem problem = makeInputs(2);
  StreamOrder order = reduceWaits(problem).order;
  ASSERT_EQ(problem.verify(order), "");
  order.edges.push_back({0, 3, 0, 0, 0, 7});
  EXPECT_EQ(problem.verify(order), "a wait has no signal before it");
  order.edges.back().event = 0;
  EXPECT_EQ(problem.verify(order), "");
}

TEST(StreamOrder, RefusesReuseAfterTwoStreams) {
  StreamOrderProblem problem = makeInputs(4);
  problem.numStreams = 3;
  problem.programs[0][3].stream = 2;
  StreamOrderResult result = reduceWaits(problem);
  EXPECT_EQ(result.error, "a slot of frame 0 is free only after two "
                          "instructions that are not ordered");
  ASSERT_EQ(result.joins.size(), 1u);
  EXPECT_EQ(result.joins[0].frame, 0);
  EXPECT_EQ(result.joins[0].streams, (std::vector<int32_t>{0, 2}));
  // An instruction that counts as a write of both makes the slot free.
  problem.programs[result.joins[0].program].push_back(
      {0, {{0, true}, {1, true}}});
  result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(problem.verify(result.order), "");
  int numFree = 0;
  for (const auto &edge : result.order.edges)
    if (edge.event == 0) {
      ++numFree;
      EXPECT_EQ(edge.fromInstruction, 4);
    }
  EXPECT_GT(numFree, 0);
}

/// Without any one edge some conflict is unordered.
void expectReduced(const StreamOrderProblem &problem,
                   const StreamOrder &order) {
  EXPECT_EQ(problem.verify(order), "");
  for (size_t i = 0; i < order.edges.size(); ++i) {
    StreamOrder fewer = order;
    fewer.edges.erase(fewer.edges.begin() + i);
    EXPECT_NE(problem.verify(fewer), "") << "edge " << i << " is superfluous";
  }
}

/// Two buffers of two frames, each written by stream 0 and read by stream 1,
/// one after the other.
TEST(StreamOrder, PlacesDecideWhatMeets) {
  for (int64_t second : {0, 32, 64}) {
    StreamOrderProblem problem;
    problem.numStreams = 2;
    problem.slots = {1, 1};
    problem.frameOf = {0, 1};
    problem.programs = {{{0, {{0, true}}},
                         {1, {{0, false}}},
                         {0, {{1, true}}},
                         {1, {{1, false}}}}};
    problem.walks = {{{0, 0}}};
    problem.places = {{0, 64, 64}, {second, 64, 64}};
    StreamOrder order;
    order.edges = {{0, 0, 0, 1, 0, 1}, {0, 1, 0, 2, 0, 2}, {0, 2, 0, 3, 1, 1}};
    order.numEvents = {3, 2};
    ASSERT_EQ(problem.verify(order), "");
    StreamOrder pruned = pruneWaits(problem, order);
    EXPECT_EQ(pruned.edges.size(), second < 64 ? 3u : 2u) << second;
    EXPECT_EQ(problem.verify(pruned), "");
    expectReduced(problem, pruned);
  }
}

TEST(StreamOrder, OneWaitCoversWhatCameBefore) {
  // Stream 1 writes buffers 0 and 1; stream 0 reads 1, then 0.
  StreamOrderProblem problem;
  problem.numStreams = 2;
  problem.slots = {1};
  problem.frameOf = {0, 0};
  problem.programs = {{{1, {{0, true}}},
                       {1, {{1, true}}},
                       {0, {{1, false}}},
                       {0, {{0, false}}}}};
  problem.walks = {{{0, 0}}};
  StreamOrderResult result = reduceWaits(problem);
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(result.order.edges.size(), 1u);
  EXPECT_EQ(result.order.edges[0].fromInstruction, 1);
}

// Stream 2 waits for what stream 1 has waited for: whatever the edges' order,
// only the wait across is pruned.
TEST(StreamOrder, AWaitAcrossIsPruned) {
  StreamOrderProblem problem;
  problem.numStreams = 3;
  problem.slots = {1};
  problem.frameOf = {0, 0};
  problem.programs = {{{0, {{0, true}}},
                       {1, {{0, false}, {1, true}}},
                       {2, {{1, false}, {0, false}}}}};
  problem.walks = {{{0, 0}}};
  ASSERT_EQ(problem.check(), "");
  std::vector<StreamOrder::Edge> edges = {
      {0, 0, 0, 1, 0, 1}, {0, 1, 0, 2, 0, 2}, {0, 0, 0, 2, 0, 3}};
  for (int across = 0; across < 3; ++across) {
    StreamOrder order{edges, {4}};
    std::swap(order.edges[across], order.edges[2]);
    ASSERT_EQ(problem.verify(order), "");
    StreamOrder pruned = pruneWaits(problem, order);
    ASSERT_EQ(pruned.edges.size(), 2u) << across;
    for (const StreamOrder::Edge &edge : pruned.edges)
      EXPECT_NE(edge.event, 3) << across;
    EXPECT_EQ(problem.verify(pruned), "");
  }
}

TEST(StreamOrder, RandomProgramsAreReducedAndOrdered) {
  int solved = 0, edges = 0;
  for (int seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    StreamOrderProblem problem;
    problem.numStreams = 2 + random() % 3;
    problem.slots = {1, 1};
    for (int b = 0; b < 6; ++b)
      problem.frameOf.push_back(random() % 2);
    problem.programs.resize(2);
    for (auto &program : problem.programs)
      for (int i = 0; i < 8; ++i) {
        StreamOrderProblem::Instruction each;
        each.stream = random() % problem.numStreams;
        for (int k = 0; k < 2; ++k)
          each.accesses.push_back(
              {static_cast<int32_t>(random() % 6), random() % 2 == 0});
        program.push_back(each);
      }
    problem.walks = {{{0, 0}, {1, 0}}};
    ASSERT_EQ(problem.check(), "");
    StreamOrderResult result = reduceWaits(problem);
    ASSERT_EQ(result.error, "") << "seed " << seed;
    expectReduced(problem, result.order);
    ++solved;
    edges += result.order.edges.size();
  }
  EXPECT_EQ(solved, 300);
  EXPECT_GT(edges, 300);
}
} // namespace
