//===- KernelClustersTest.cpp - Grouping kernel nodes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Analysis/KernelClusters.h"
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
