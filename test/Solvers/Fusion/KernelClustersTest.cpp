//===- KernelClustersTest.cpp - Grouping kernel nodes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Fusion/KernelClusters.h"
#include <gtest/gtest.h>
#include <random>

using namespace llmc;

namespace {

using Kind = KernelNode::Kind;

KernelNode element(std::vector<int64_t> space) {
  KernelNode node;
  node.kind = Kind::Element;
  node.space = std::move(space);
  return node;
}

/// Reads `producer`'s value, of the reader's leading dims.
void read(KernelNode &node, int producer, std::vector<int64_t> shape) {
  KernelAccess access;
  access.producer = producer;
  access.shape = shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    access.dims.push_back(shape[dim] == 1 ? KernelAccess::single : int(dim));
  node.accesses.push_back(access);
}

KernelNode rowReduction(std::vector<int64_t> space) {
  KernelNode node = element(space);
  node.kind = Kind::Reduction;
  node.reduced.assign(space.size(), false);
  node.reduced.back() = true;
  return node;
}

TEST(KernelClusters, RowsOfASoftmaxAreOneKernel) {
  std::vector<int64_t> full = {64, 100}, row = {64};
  std::vector<KernelNode> nodes = {rowReduction(full), element(full),
                                   rowReduction(full), element(full)};
  read(nodes[1], 0, row);
  read(nodes[2], 1, full);
  read(nodes[3], 1, full);
  read(nodes[3], 2, row);
  auto clusters = formKernelClusters(nodes);
  ASSERT_EQ(clusters.size(), 1u);
  EXPECT_EQ(clusters[0].rowShape, row);
}

TEST(KernelClusters, ATransposedReadEndsTheKernel) {
  std::vector<KernelNode> nodes = {element({40, 40}), element({40, 40})};
  read(nodes[1], 0, {40, 40});
  nodes[1].accesses[0].dims = {1, 0};
  EXPECT_EQ(formKernelClusters(nodes).size(), 2u);
  nodes[1].accesses[0].dims = {0, 1};
  EXPECT_EQ(formKernelClusters(nodes).size(), 1u);
}

TEST(KernelClusters, APathThroughAnotherNodeForbidsTheMerge) {
  std::vector<int64_t> full = {8, 8};
  std::vector<KernelNode> nodes = {element(full), KernelNode(), element(full)};
  read(nodes[1], 0, full);
  read(nodes[2], 1, full);
  read(nodes[2], 0, full);
  auto clusters = formKernelClusters(nodes);
  EXPECT_EQ(clusters.size(), 3u);
  EXPECT_TRUE(verifyKernelClusters(nodes, clusters));
}

TEST(KernelClusters, ColumnReductionsOfOneInputShareAKernel) {
  KernelNode sum = element({100, 30});
  sum.kind = Kind::Reduction;
  sum.reduced = {true, false};
  sum.externals = {7};
  std::vector<KernelNode> nodes = {sum, sum};
  EXPECT_EQ(formKernelClusters(nodes).size(), 1u);
  nodes[1].externals = {8};
  EXPECT_EQ(formKernelClusters(nodes).size(), 2u);
}

TEST(KernelClusters, ProducerOfAColumnReductionIsComputedInside) {
  KernelNode sum = element({100, 30});
  sum.kind = Kind::Reduction;
  sum.reduced = {true, false};
  std::vector<KernelNode> nodes = {element({100, 30}), element({100, 30}), sum};
  read(nodes[1], 0, {100, 30});
  read(nodes[2], 1, {100, 30});
  nodes[0].required = true;
  auto clusters = formKernelClusters(nodes);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[1].nodes, (std::vector<int>{1, 2}));
}

TEST(KernelClusters, ASumOfColumnSumsIsAKernelOfItsOwn) {
  KernelNode columns = element({100, 30}), all = element({30});
  columns.kind = all.kind = Kind::Reduction;
  columns.reduced = {true, false};
  all.reduced = {true};
  read(all, 0, {30});
  EXPECT_EQ(formKernelClusters({columns, all}).size(), 2u);
}

TEST(KernelClusters, RowsOfTwoShapesAreTwoKernels) {
  std::vector<KernelNode> nodes = {rowReduction({64, 32, 10}),
                                   rowReduction({64, 32})};
  read(nodes[1], 0, {64, 32});
  auto clusters = formKernelClusters(nodes);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0].rowShape, (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(clusters[1].rowShape, (std::vector<int64_t>{64}));
  EXPECT_TRUE(verifyKernelClusters(nodes, clusters));
}

KernelNode columnReduction(std::vector<int64_t> space) {
  KernelNode node = element(space);
  node.kind = Kind::Reduction;
  node.reduced.assign(space.size(), false);
  node.reduced.front() = true;
  return node;
}

/// The one cluster of a reduction of `space` over dims from `first` on.
KernelCluster reduceFrom(std::vector<int64_t> space, size_t first) {
  KernelNode node = element(space);
  node.kind = Kind::Reduction;
  for (size_t dim = 0; dim < space.size(); ++dim)
    node.reduced.push_back(dim >= first);
  return formKernelClusters({node}).front();
}

TEST(KernelClusters, FewRowsShareOutALargeReductionBadly) {
  using Rows = std::vector<int64_t>;
  auto isRows = [](std::vector<int64_t> space) {
    return reduceFrom(std::move(space), 1).kind == KernelCluster::Kind::Rows;
  };
  // 16 rows of any size, fewer up to 32,768 elements, one never.
  EXPECT_TRUE(isRows({16, 100000}));
  EXPECT_FALSE(isRows({15, 100000}));
  EXPECT_TRUE(isRows({8, 4096}));
  EXPECT_FALSE(isRows({8, 4097}));
  EXPECT_TRUE(isRows({2, 4}));
  EXPECT_FALSE(isRows({1, 4}));
  EXPECT_EQ(reduceFrom({4, 8, 16}, 1).rowShape, Rows{4});
  EXPECT_EQ(reduceFrom({4, 8, 16}, 2).rowShape, (Rows{4, 8}));
  // Rows are leading dims: what is reduced in front of others has none.
  KernelNode middle = element({4, 8, 16});
  middle.kind = Kind::Reduction;
  middle.reduced = {false, true, false};
  EXPECT_EQ(formKernelClusters({middle}).front().kind,
            KernelCluster::Kind::Reduce);
}

TEST(KernelClusters, ValuesOfOneElementForEachRowSetTheRows) {
  auto merge = [](std::vector<int64_t> value, std::vector<int64_t> space) {
    std::vector<KernelNode> nodes = {element(value), element(space)};
    read(nodes[1], 0, value);
    return formKernelClusters(nodes);
  };
  auto clusters = merge({16, 1}, {16, 100});
  ASSERT_EQ(clusters.size(), 1u);
  EXPECT_TRUE(clusters[0].hasRowShape);
  EXPECT_EQ(clusters[0].rowShape, std::vector<int64_t>{16});
  EXPECT_EQ(merge({15, 1}, {15, 100}).size(), 2u);
  // Neither leading dims, nor fewer elements than the space has.
  EXPECT_EQ(merge({16, 100, 1}, {100, 16, 4}).size(), 2u);
  EXPECT_EQ(merge({16, 4, 1}, {16, 4}).size(), 2u);
}

TEST(KernelClusters, WithinARowElementsAreReadInAnyOrder) {
  std::vector<int64_t> full = {8, 8, 8};
  auto merge = [&](std::vector<int> dims) {
    std::vector<KernelNode> nodes = {rowReduction(full), element(full),
                                     element(full)};
    nodes[0].reduced = {false, true, true};
    read(nodes[1], 0, {8});
    read(nodes[2], 1, full);
    nodes[2].accesses[0].dims = std::move(dims);
    return formKernelClusters(nodes).size();
  };
  EXPECT_EQ(merge({0, 1, 2}), 1u);
  EXPECT_EQ(merge({0, 2, 1}), 1u);
  EXPECT_EQ(merge({1, 0, 2}), 2u);
  EXPECT_EQ(merge({0, 0, 2}), 2u);
  EXPECT_EQ(merge({0, KernelAccess::unknown, 2}), 2u);
}

TEST(KernelClusters, AKernelHasAtMost64Nodes) {
  std::vector<KernelNode> nodes;
  for (int i = 0; i < 65; ++i) {
    nodes.push_back(element({64, 20}));
    if (i)
      read(nodes[i], i - 1, {64, 20});
  }
  auto clusters = formKernelClusters(nodes);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0].nodes.size(), 64u);
  nodes.pop_back();
  EXPECT_EQ(formKernelClusters(nodes).size(), 1u);
}

TEST(KernelClusters, AMergeLooksBackOver512Places) {
  auto count = [](int between) {
    std::vector<KernelNode> nodes(between + 2);
    nodes.front() = nodes.back() = element({4});
    read(nodes.back(), 0, {4});
    return formKernelClusters(nodes).size();
  };
  EXPECT_EQ(count(511), 512u);
  EXPECT_EQ(count(512), 514u);
}

TEST(KernelClusters, WhatIsReadElsewhereIsNotComputedInsideAReduction) {
  std::vector<int64_t> full = {100, 30};
  std::vector<KernelNode> nodes = {element(full), columnReduction(full),
                                   KernelNode()};
  read(nodes[1], 0, full);
  EXPECT_EQ(formKernelClusters(nodes).size(), 2u);
  read(nodes[2], 0, full);
  EXPECT_EQ(formKernelClusters(nodes).size(), 3u);
  // What a reduction over rows makes is read, what is between is inside.
  nodes = {rowReduction(full), element(full), columnReduction(full)};
  read(nodes[1], 0, {100});
  read(nodes[2], 1, full);
  auto clusters = formKernelClusters(nodes);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0].kind, KernelCluster::Kind::Rows);
  EXPECT_EQ(clusters[1].kind, KernelCluster::Kind::Reduce);
  EXPECT_EQ(clusters[1].nodes, (std::vector<int>{1, 2}));
}

TEST(KernelClusters, SiblingsReadOneValueOfTheirSpace) {
  std::vector<int64_t> full = {100, 30};
  auto count = [&](KernelNode second, int producer) {
    std::vector<KernelNode> nodes = {element(full), element(full)};
    nodes[0].required = nodes[1].required = true;
    nodes.push_back(columnReduction(full));
    read(nodes[2], 0, full);
    read(second, producer, full);
    nodes.push_back(std::move(second));
    return formKernelClusters(nodes).size();
  };
  EXPECT_EQ(count(columnReduction(full), 0), 3u);
  EXPECT_EQ(count(columnReduction(full), 1), 4u);
  KernelNode all = columnReduction(full);
  all.reduced = {true, true};
  EXPECT_EQ(count(all, 0), 4u);
}

TEST(KernelClusters, TheCheckFindsFaults) {
  std::vector<KernelNode> nodes = {element({4}), element({4})};
  read(nodes[1], 0, {4});
  auto verify = [&](std::vector<std::vector<int>> lists) {
    std::vector<KernelCluster> clusters(lists.size());
    for (size_t i = 0; i < lists.size(); ++i)
      clusters[i].nodes = lists[i];
    return verifyKernelClusters(nodes, clusters);
  };
  EXPECT_TRUE(verify({{0}, {1}}));
  EXPECT_TRUE(verify({{0, 1}}));
  EXPECT_FALSE(verify({{1}, {0}}));
  EXPECT_FALSE(verify({{0}}));
  EXPECT_FALSE(verify({{0}, {0, 1}}));
}

TEST(KernelClusters, RandomGraphsStayAcyclic) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<KernelNode> nodes;
    int size = 3 + random() % 40;
    for (int i = 0; i < size; ++i) {
      int kind = random() % 6;
      KernelNode node = kind == 0   ? KernelNode()
                        : kind == 1 ? rowReduction({64, 20})
                                    : element({64, 20});
      for (int k = 0; k < 2 && i > 0; ++k) {
        int producer = std::max<int>(0, i - 1 - int(random() % 8));
        bool isRow = nodes[producer].kind == Kind::Reduction;
        read(node, producer,
             isRow ? std::vector<int64_t>{64} : std::vector<int64_t>{64, 20});
      }
      node.required = random() % 5 == 0;
      nodes.push_back(node);
    }
    auto clusters = formKernelClusters(nodes);
    EXPECT_TRUE(verifyKernelClusters(nodes, clusters)) << "round " << round;
  }
}

} // namespace
