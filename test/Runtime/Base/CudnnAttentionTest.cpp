//===- CudnnAttentionTest.cpp - Attention as cuDNN takes it ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which attentions are left to cuDNN, and where their tensors lie. What their
// graphs compute is CudaAttentionTest's.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CudnnAttention.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

namespace {

using AttendKind = AttentionIndexKind;
using Numbers = std::vector<int64_t>;

/// [2, 16, 3, 8] of q, k and v in one tensor; the result is [2, 3, 16, 8].
AttentionShape makeAttention(bool isGradient = false) {
  AttentionShape shape;
  shape.dtype = DType::bf16;
  shape.isCausal = true;
  shape.isGradient = isGradient;
  int64_t d = isGradient ? 1 : 0;
  shape.indices = {
      {AttendKind::batch, 2, 1152, 1152, 1152, 0, 384, 48, 384 * d, 384 * d,
       384 * d},
      {AttendKind::batch, 3, 8, 8, 8, 0, 128, 16, 8 * d, 8 * d, 8 * d},
      {AttendKind::row, 16, 72, 0, 0, 0, 8, 1, 24 * d},
      {AttendKind::column, 16, 0, 72, 72, 0, 0, 0, 0, 24 * d, 24 * d},
      {AttendKind::depth, 8, 1, 1, 0, 0, 0, 0, d, d},
      {AttendKind::value, 8, 0, 0, 1, 0, 1, 0, 0, 0, d}};
  return shape;
}

std::string lackOf(const AttentionShape &shape) {
  Result<CudnnAttention> found = findCudnnAttention(shape);
  return found.ok() ? "" : found.status().message();
}

TEST(CudnnAttention, TensorsLieWhereTheShapeSays) {
  Result<CudnnAttention> found = findCudnnAttention(makeAttention());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->q.sizes, (Numbers{2, 3, 16, 8}));
  EXPECT_EQ(found->q.strides, (Numbers{1152, 8, 72, 1}));
  EXPECT_EQ(found->out.strides, (Numbers{384, 128, 8, 1}));
  EXPECT_EQ(found->rows.sizes, (Numbers{2, 3, 16, 1}));
  EXPECT_EQ(found->rows.strides, (Numbers{48, 16, 1, 1}));
  EXPECT_EQ(found->out.operand, 3u);
  EXPECT_EQ(found->rows.operand, 4u);
  EXPECT_TRUE(found->isCausal);
}

TEST(CudnnAttention, OfAGradientToo) {
  Result<CudnnAttention> found = findCudnnAttention(makeAttention(true));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->rows.operand, 3u);
  EXPECT_EQ(found->delta.operand, 4u);
  EXPECT_EQ(found->out.operand, 5u);
  EXPECT_EQ(found->dv.operand, 8u);
  EXPECT_EQ(found->dk.strides, (Numbers{384, 8, 24, 1}));
}

// Groups follow the heads that have k and v; samples may be several dims, or
// none.
TEST(CudnnAttention, BatchDimsAreSamplesAndHeads) {
  AttentionShape shape = makeAttention();
  shape.indices.insert(shape.indices.begin() + 2,
                       {AttendKind::batch, 4, 8, 0, 0, 0, 128, 16});
  shape.indices[1].strideQ = 32;
  shape.indices[1].strideOut = 512;
  shape.indices[1].strideRows = 64;
  Result<CudnnAttention> found = findCudnnAttention(shape);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->q.sizes, (Numbers{2, 12, 16, 8}));
  EXPECT_EQ(found->k.sizes, (Numbers{2, 3, 16, 8}));
  shape = makeAttention();
  shape.indices.insert(shape.indices.begin(),
                       {AttendKind::batch, 5, 2304, 2304, 2304, 0, 768, 96});
  found = findCudnnAttention(shape);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->v.sizes, (Numbers{10, 3, 16, 8}));
  shape.indices.erase(shape.indices.begin(), shape.indices.begin() + 3);
  found = findCudnnAttention(shape);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->v.sizes, (Numbers{1, 1, 16, 8}));
}

// A diagonal beyond the last column hides nothing.
TEST(CudnnAttention, WhatTheDiagonalHides) {
  AttentionShape shape = makeAttention();
  shape.shift = 14;
  EXPECT_TRUE(findCudnnAttention(shape)->isCausal);
  EXPECT_EQ(findCudnnAttention(shape)->shift, 14);
  shape.shift = 15;
  EXPECT_FALSE(findCudnnAttention(shape)->isCausal);
  shape.shift = -1;
  EXPECT_EQ(lackOf(shape),
            "expected rows that see a column each, a shift of at least 0, got "
            "-1");
}

TEST(CudnnAttention, WhatCudnnLacks) {
  auto expect = [](void (*change)(AttentionShape &), const char *text) {
    AttentionShape shape = makeAttention(true);
    change(shape);
    EXPECT_EQ(lackOf(shape), text);
  };
  using Shape = AttentionShape;
  expect([](Shape &s) { s.dtype = DType::f32; },
         "expected an attention in bf16 or f16 with sums in f32, got one in "
         "f32 with sums in f32");
  expect([](Shape &s) { s.dropout.bits = RandomBits::jax32; },
         "expected no dropped weights, whose random bits cuDNN draws "
         "otherwise, got some");
  expect([](Shape &s) { s.hasBias = true; },
         "expected no bias, which may hide whole rows, got one");
  expect([](Shape &s) { s.hasOffset = true; },
         "expected a diagonal that stands where the plan says, got one with an "
         "offset of the device");
  expect([](Shape &s) { s.indices[4].size = 12; },
         "expected heads of at most 128 features, a multiple of 8, got 12");
  expect([](Shape &s) { s.indices[5].size = 136; },
         "expected heads of at most 128 features, a multiple of 8, got 136");
  expect([](Shape &s) { s.indices[2].size = s.indices[3].size = 1; },
         "expected more than one score in each head, got one");
  expect([](Shape &s) { s.indices[1].strideV = 0; },
         "expected k and v, and their gradients, to have the same heads, got "
         "others");
  const char *lies =
      "expected samples and heads of one stride each, features side by side "
      "and strides that are multiples of 8, got others";
  expect([](Shape &s) { s.indices[2].strideQ = 73; }, lies);
  expect([](Shape &s) { s.indices[5].strideOut = 2; }, lies);
}

} // namespace
