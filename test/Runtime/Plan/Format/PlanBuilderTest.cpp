//===- PlanBuilderTest.cpp - Plans written by hand ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;

TEST(PlanBuilder, PlacesFramesOfEachStage) {
  PlanBuilder b(Mesh{{{"pipe", 2}}, 0});
  int32_t both = b.addFrame("both", FrameKind::state);
  int32_t first = b.addFrame("first", FrameKind::act, 3, noExpr, {0});
  int32_t second = b.addFrame("second", FrameKind::tmp, 1, noExpr, {1});
  int32_t last = b.addFrame("last", FrameKind::tmp);
  b.addBuffer(both, "x", DType::f32, {3});
  b.addBuffer(both, "y", DType::f32, {3});
  b.addBuffer(first, "z", DType::f64, {16});
  b.addBuffer(second, "u", DType::u8, {1});
  b.addBuffer(last, "v", DType::u8, {65});
  b.place();
  const auto &frames = b.plan().frames;
  EXPECT_EQ(frames[both].size, 128);
  EXPECT_EQ(b.plan().buffers[1].offset, 64);
  EXPECT_EQ(frames[first].offset, 128);
  EXPECT_EQ(frames[second].offset, 128);
  // After all that lies before it on either stage.
  EXPECT_EQ(frames[last].offset, 128 + 3 * 128);
  EXPECT_EQ(b.plan().arenas, (std::vector<int64_t>{640, 640}));
}

TEST(PlanBuilder, MatmulFollowsStrides) {
  PlanBuilder b(Mesh{});
  int32_t frame = b.addFrame("f", FrameKind::tmp);
  int32_t x = b.addBuffer(frame, "x", DType::f32, {4, 6});
  int32_t y = b.addBuffer(frame, "y", DType::f32, {4, 5});
  int32_t z = b.addBuffer(frame, "z", DType::f32, {6, 5});
  int32_t p = b.addProgram("p", Phase::other);
  b.matmul(p, 0, b.view(x, 0, {6, 4}, {1, 6}), b.view(y), b.view(z), 1);
  const auto &library =
      std::get<Library>(b.plan().programs[p].instructions[0].action);
  EXPECT_EQ(library.access, (std::vector<Access>{Access::read, Access::read,
                                                 Access::readWrite}));
  const auto &c = std::get<ContractionShape>(library.descriptor);
  ASSERT_EQ(c.indices.size(), 3u);
  EXPECT_EQ(c.indices[0].size, 6);
  EXPECT_EQ(c.indices[0].strideA, 1);
  EXPECT_EQ(c.indices[0].strideC, 5);
  EXPECT_EQ(c.indices[1].size, 5);
  EXPECT_EQ(c.indices[1].strideB, 1);
  EXPECT_EQ(c.indices[2].size, 4);
  EXPECT_EQ(c.indices[2].strideA, 6);
  EXPECT_EQ(c.indices[2].strideB, 5);
  EXPECT_EQ(c.beta, 1);
}

TEST(PlanBuilder, AttentionFollowsStrides) {
  PlanBuilder b(Mesh{});
  int32_t frame = b.addFrame("f", FrameKind::tmp);
  int32_t x = b.addBuffer(frame, "x", DType::bf16, {2, 5, 3, 6});
  int32_t y = b.addBuffer(frame, "y", DType::bf16, {2, 5, 6});
  int32_t z = b.addBuffer(frame, "z", DType::f32, {2, 5});
  int32_t p = b.addProgram("p", Phase::other);
  auto part = [&](int64_t i) {
    return b.view(x, 12 * i, {2, 5, 6}, {90, 18, 1});
  };
  b.attention(p, 0, part(0), part(1), part(2), b.view(y), b.view(z), 0.5, true);
  const auto &library =
      std::get<Library>(b.plan().programs[p].instructions[0].action);
  EXPECT_EQ(library.operands.size(), 5u);
  EXPECT_EQ(library.access,
            (std::vector<Access>{Access::read, Access::read, Access::read,
                                 Access::write, Access::write}));
  using Kind = AttentionIndexKind;
  AttentionShape expected;
  expected.dtype = DType::bf16;
  expected.scale = 0.5;
  expected.isCausal = true;
  expected.indices = {{Kind::batch, 2, 90, 90, 90, 0, 30, 5},
                      {Kind::row, 5, 18, 0, 0, 0, 6, 1},
                      {Kind::column, 5, 0, 18, 18},
                      {Kind::depth, 6, 1, 1},
                      {Kind::value, 6, 0, 0, 1, 0, 1}};
  EXPECT_TRUE(library.descriptor == LibraryDescriptor(expected));
}

TEST(PlanBuilder, SpansOfOperands) {
  Operand operand;
  operand.shape = {4, 2};
  EXPECT_EQ(spanOf(operand), 32);
  EXPECT_TRUE(isContiguous(operand));
  operand.strides = {6, 1};
  EXPECT_EQ(spanOf(operand), (3 * 6 + 2) * 4);
  EXPECT_FALSE(isContiguous(operand));
  operand.strides = {2, 1};
  EXPECT_TRUE(isContiguous(operand));
  operand.shape = {0, 2};
  EXPECT_EQ(spanOf(operand), 0);
  operand.shape = {2, 2};
  operand.strides = {INT64_MAX, 1};
  EXPECT_FALSE(spanOf(operand));
  operand.strides = {-1, 1};
  EXPECT_FALSE(spanOf(operand));
}
