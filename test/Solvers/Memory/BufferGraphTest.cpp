//===- BufferGraphTest.cpp - Tests of ops on buffers ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/BufferGraph.h"
#include "gtest/gtest.h"

using namespace llmc;

namespace {

using Edges = std::vector<std::vector<int32_t>>;

/// A graph of this many ops and buffers.
BufferGraph makeGraph(size_t numOps, size_t numBuffers) {
  BufferGraph graph;
  graph.ops.resize(numOps);
  graph.buffers.resize(numBuffers);
  return graph;
}

/// What each op runs after, sorted, each once.
Edges getOrder(const BufferGraph &graph) {
  Edges edges;
  for (const OpOrderProblem::Op &op :
       makeOrderProblem(graph, std::vector<int64_t>(graph.buffers.size(), 1))
           .ops)
    edges.push_back(op.after);
  return edges;
}

/// The example of BufferGraph.h.
BufferGraph makeExampleGraph() {
  BufferGraph graph = makeGraph(4, 1);
  EXPECT_EQ(graph.addWrite(0, 0), 0);
  graph.addRead(1, 0, 0);
  graph.addRead(2, 0, 0);
  EXPECT_EQ(graph.addWrite(2, 0), 1);
  graph.addRead(3, 0, 1);
  return graph;
}

TEST(BufferGraph, ReadersStandBetweenVersions) {
  BufferGraph graph = makeExampleGraph();
  EXPECT_EQ(getOrder(graph), (Edges{{}, {0}, {0, 1}, {2}}));
  EXPECT_TRUE(graph.isInOrder());
  EXPECT_FALSE(graph.isLatest(0, 0));
  EXPECT_TRUE(graph.isLatest(0, 1));
  EXPECT_EQ(graph.getReaders(0), (std::vector<int32_t>{1, 2, 3}));
}

TEST(BufferGraph, AnOpReadsAVersionOnce) {
  BufferGraph graph = makeGraph(2, 1);
  graph.addWrite(0, 0);
  graph.addRead(1, 0, 0);
  graph.addRead(1, 0, 0);
  EXPECT_EQ(graph.getReaders(0), std::vector<int32_t>{1});
  EXPECT_EQ(getOrder(graph), (Edges{{}, {0}}));
}

TEST(BufferGraph, WhatIsThereAtTheStartHasNoOp) {
  BufferGraph graph = makeGraph(2, 1);
  graph.buffers[0].versions.emplace_back();
  graph.addRead(0, 0, 0);
  graph.addWrite(1, 0);
  EXPECT_EQ(getOrder(graph), (Edges{{}, {0}}));
}

TEST(BufferGraph, AReaderOfAnEarlierVersionSeesMoreThanTheLast) {
  BufferGraph graph = makeExampleGraph();
  EXPECT_FALSE(graph.isSeenOnce(0));
  // Only what works in place reads the first version.
  BufferGraph inPlace = makeGraph(3, 1);
  inPlace.addWrite(0, 0);
  inPlace.addRead(1, 0, 0);
  inPlace.addWrite(1, 0);
  inPlace.addRead(2, 0, 1);
  EXPECT_TRUE(inPlace.isSeenOnce(0));
}

TEST(BufferGraph, ReadersRunBeforeWhatOverwritesTheirPlace) {
  // Op 0 makes B from A, op 1 reads A; B then lies in A's place.
  BufferGraph graph = makeGraph(2, 2);
  graph.buffers[0].versions.emplace_back();
  graph.addWrite(0, 1);
  graph.addRead(1, 0, 0);
  EXPECT_EQ(getOrder(graph), (Edges{{}, {}}));
  graph.overwrites.push_back({0, 0});
  EXPECT_EQ(getOrder(graph), (Edges{{1}, {}}));
  EXPECT_FALSE(graph.isInOrder());
}

TEST(BufferGraph, ReachesAlongAllEdges) {
  BufferGraph graph = makeExampleGraph();
  EXPECT_TRUE(graph.reaches(0, {3}));
  EXPECT_TRUE(graph.reaches(1, {3})) << "by the version that 2 overwrites";
  EXPECT_TRUE(graph.reaches(2, {2}));
  EXPECT_FALSE(graph.reaches(3, {0, 1, 2}));
  EXPECT_FALSE(graph.reaches(0, {}));
}

TEST(BufferGraph, MayRunAfterWhatDoesNotNeedIt) {
  BufferGraph graph = makeExampleGraph();
  bool ascends = true;
  EXPECT_TRUE(mayRunAfter(graph, 2, {0, 1}, ascends));
  EXPECT_TRUE(ascends);
  EXPECT_FALSE(mayRunAfter(graph, 0, {3}, ascends));
  EXPECT_TRUE(ascends) << "a no adds no edge";
  // Op 4 needs nothing, so op 0 may wait for it; numbers tell no more then.
  graph.ops.emplace_back();
  EXPECT_TRUE(mayRunAfter(graph, 0, {4}, ascends));
  EXPECT_FALSE(ascends);
}

TEST(BufferGraph, OnceEdgesDescendTheGraphIsSearched) {
  BufferGraph graph = makeGraph(2, 0);
  graph.ops[0].after.push_back(1);
  bool ascends = graph.isInOrder();
  EXPECT_FALSE(ascends);
  EXPECT_FALSE(mayRunAfter(graph, 1, {0}, ascends));
}

TEST(BufferGraph, AnOrderProblemHasItsBuffersAndBytes) {
  OpOrderProblem problem = makeOrderProblem(makeExampleGraph(), {64});
  EXPECT_EQ(problem.check(), "");
  EXPECT_EQ(problem.bytes, std::vector<int64_t>{64});
  EXPECT_EQ(problem.ops[2].touches, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(orderOps(problem), (std::vector<int32_t>{0, 1, 2, 3}));
}

} // namespace
