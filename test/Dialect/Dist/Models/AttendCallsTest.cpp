//===- AttendCallsTest.cpp - What attentions ask of a library -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using Index = rt::AttentionIndexKind;

namespace {
/// A module whose only attention is asked.
template <typename Op> struct Attention {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  Op op;
  graph::LibraryCallOpInterface call;

  explicit Attention(StringRef text) : module(context.parse(text)) {
    if (!module)
      return;
    module->walk([&](Op found) { op = found; });
    call = llvm::cast<graph::LibraryCallOpInterface>(op.getOperation());
  }

  /// Its shape; one without indices where it has none.
  rt::AttentionShape shape() {
    FailureOr<rt::LibraryDescriptor> found = call.getDescriptor();
    rt::AttentionShape none;
    return succeeded(found) ? std::get<rt::AttentionShape>(*found) : none;
  }
};

// Two batches of three heads in groups of two, five queries and seven keys; the
// query is [batch, row, head, group, depth] in memory.
constexpr const char *kForward = R"(
  func.func @f(%q: tensor<2x5x3x2x4xbf16>, %k: tensor<2x3x7x4xbf16>, %v: tensor<2x3x7x6xbf16>, %b: tensor<2x1x1x1x7xf32>, %o: tensor<i32>) {
    %y, %l = dist.attend %q, %k, %v bias %b offset %o scale 5.000000e-01 causal 2 safe
        dims [0, 2, 3, 1, 4], [0, 1, 2, 3], [0, 1, 2, 3]
        : (tensor<2x5x3x2x4xbf16>, tensor<2x3x7x4xbf16>, tensor<2x3x7x6xbf16>, tensor<2x1x1x1x7xf32>, tensor<i32>)
        -> (tensor<2x3x2x5x6xbf16>, tensor<2x3x2x5xf32>)
    return
  })";

constexpr const char *kGradient = R"(
  func.func @f(%q: tensor<2x5x4xf64>, %k: tensor<7x4xf64>, %v: tensor<7x6xf64>, %l: tensor<2x5xf64>, %d: tensor<2x5xf64>, %g: tensor<5x2x6xf64>) {
    %dq, %dk, %dv = dist.attend_grad %q, %k, %v, %l, %d, %g scale 1.0
        dims [0, 1, 2], [0, 1], [0, 1], [1, 0, 2]
        : (tensor<2x5x4xf64>, tensor<7x4xf64>, tensor<7x6xf64>, tensor<2x5xf64>, tensor<2x5xf64>, tensor<5x2x6xf64>)
        -> (tensor<2x5x4xf64>, tensor<7x4xf64>, tensor<7x6xf64>)
    return
  })";

TEST(AttendCalls, IndicesHaveStridesOfTheirOperands) {
  Attention<dist::AttendOp> of(kForward);
  ASSERT_TRUE(of.op) << of.context.takeMessages();
  rt::AttentionShape shape = of.shape();
  std::vector<rt::AttentionIndex> indices = {
      {Index::batch, 2, 120, 84, 126, 7, 180, 30},
      {Index::batch, 3, 8, 28, 42, 0, 60, 10},
      {Index::batch, 2, 4, 0, 0, 0, 30, 5},
      {Index::row, 5, 24, 0, 0, 0, 6, 1},
      {Index::column, 7, 0, 4, 6, 1},
      {Index::depth, 4, 1, 1},
      {Index::value, 6, 0, 0, 1, 0, 1}};
  EXPECT_TRUE(shape.indices == indices);
  EXPECT_EQ(shape.dtype, rt::DType::bf16);
  EXPECT_EQ(shape.accumulate, rt::DType::f32);
  EXPECT_EQ(shape.scale, 0.5);
  EXPECT_TRUE(shape.isCausal && shape.isSafe && shape.hasOffset);
  EXPECT_TRUE(shape.hasBias && !shape.isGradient);
  EXPECT_EQ(shape.shift, 2);
  EXPECT_EQ(of.call.getBuffers().size(),
            rt::operandsOf(rt::LibraryDescriptor(shape)).size());
  EXPECT_TRUE(of.call.getTiedPairs().empty());
}

TEST(AttendCalls, GradientsOfKeysHaveNoStrideAlongGroups) {
  Attention<dist::AttendGradOp> of(kGradient);
  ASSERT_TRUE(of.op) << of.context.takeMessages();
  rt::AttentionShape shape = of.shape();
  std::vector<rt::AttentionIndex> indices = {
      {Index::batch, 2, 20, 0, 0, 0, 6, 5, 20, 0, 0},
      {Index::row, 5, 4, 0, 0, 0, 12, 1, 4, 0, 0},
      {Index::column, 7, 0, 4, 6, 0, 0, 0, 0, 4, 6},
      {Index::depth, 4, 1, 1, 0, 0, 0, 0, 1, 1, 0},
      {Index::value, 6, 0, 0, 1, 0, 1, 0, 0, 0, 1}};
  EXPECT_TRUE(shape.indices == indices);
  EXPECT_EQ(shape.accumulate, rt::DType::f64);
  EXPECT_TRUE(shape.isGradient && !shape.isCausal && !shape.hasBias);
  EXPECT_EQ(of.call.getBuffers().size(),
            rt::operandsOf(rt::LibraryDescriptor(shape)).size());
}

// Strides are those of the whole scores, whatever is stored.
TEST(AttendCalls, RandomBitsHaveStridesOfTheirOwn) {
  Attention<dist::AttendOp> of(R"(
  func.func @f(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %s: tensor<2xui64>) {
    %y, %l = dist.attend %q, %k, %k dropout %s strides [1000, 100, 3] <jax64 below 77 factor 1.25>
        scale 1.0 dims [0, 1, 2], [0, 1, 2], [0, 1, 2]
        : (tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>, tensor<2xui64>)
        -> (tensor<2x5x4xf32>, tensor<2x5xf32>)
    return
  })");
  ASSERT_TRUE(of.op) << of.context.takeMessages();
  rt::AttentionShape shape = of.shape();
  ASSERT_EQ(shape.indices.size(), 5u);
  int64_t strides[] = {1000, 100, 3, 0, 0};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(shape.indices[i].strideBits, strides[i]);
  EXPECT_TRUE(shape.dropout ==
              (rt::Dropout{rt::RandomBits::jax64, true, 77, 1.25}));
  EXPECT_EQ(of.call.getBuffers()[3], of.op.getState());
  EXPECT_EQ(of.call.getBuffers().size(),
            rt::operandsOf(rt::LibraryDescriptor(shape)).size());
}

TEST(AttendCalls, PermutedSidesAreReadWhereTheyLie) {
  Attention<dist::AttendGradOp> of(kGradient);
  ASSERT_TRUE(of.op) << of.context.takeMessages();
  EXPECT_TRUE(of.call.readPermuted(0, {2, 0, 1}));
  EXPECT_EQ(of.op.getQueryDims(), llvm::ArrayRef<int64_t>({2, 0, 1}));
  EXPECT_TRUE(of.call.readPermuted(1, {1, 0}));
  EXPECT_EQ(of.op.getKeyDims(), llvm::ArrayRef<int64_t>({1, 0}));
  EXPECT_TRUE(of.call.readPermuted(2, {1, 0}));
  EXPECT_EQ(of.op.getValueDims(), llvm::ArrayRef<int64_t>({1, 0}));
  EXPECT_TRUE(of.call.readPermuted(5, {2, 0, 1}));
  EXPECT_EQ(of.op.getCotangentDims(), llvm::ArrayRef<int64_t>({0, 2, 1}));
  EXPECT_FALSE(of.call.readPermuted(3, {1, 0}));
}
} // namespace
