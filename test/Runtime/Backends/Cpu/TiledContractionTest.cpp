//===- TiledContractionTest.cpp - Tiles of f64 against plain loops --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products/Contraction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace llmc::rt {
namespace {

using Kind = ContractionIndexKind;

/// Numbers whose sums round.
std::vector<double> draw(int salt) {
  std::vector<double> x(50000);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<double>(i * 7 + salt));
  }
  return x;
}

/// Whether tiles and loops give the same bits.
testing::AssertionResult isEqual(const ContractionShape &shape) {
  cpu::MatrixShape matrix = cpu::toMatrix(shape, "test");
  auto tiled = cpu::makeTiledSlice(matrix);
  auto loop = cpu::makeLoopSlice(matrix);
  if (!tiled || !loop.ok()) {
    return testing::AssertionFailure() << "expected both slices";
  }
  static const std::vector<double> a = draw(1), b = draw(2), bias = draw(3);
  static const std::vector<double> start = draw(4);
  std::vector<double> c = start, d = start;
  tiled->run({a.data(), b.data(), bias.data(), c.data(), nullptr});
  (*loop)->run({a.data(), b.data(), bias.data(), d.data(), nullptr});
  if (std::memcmp(c.data(), d.data(), c.size() * sizeof(double)) != 0) {
    return testing::AssertionFailure() << "expected equal bits";
  }
  return testing::AssertionSuccess();
}

ContractionShape matmul(int64_t m, int64_t n, int64_t k) {
  ContractionShape shape;
  shape.a = shape.b = shape.c = shape.accumulate = DType::f64;
  shape.indices = {
      {Kind::m, m, k, 0, n}, {Kind::n, n, 0, 1, 1}, {Kind::k, k, 1, n, 0}};
  return shape;
}

// Around the sizes of tiles, of blocks and of packed parts.
TEST(TiledContractionTest, HasTheBitsOfLoops) {
  for (int64_t m : {0, 1, 7, 8, 65, 131}) {
    for (int64_t n : {1, 16, 17, 130}) {
      for (int64_t k : {0, 1, 127, 128, 300}) {
        EXPECT_TRUE(isEqual(matmul(m, n, k))) << m << " " << n << " " << k;
      }
    }
  }
}

TEST(TiledContractionTest, HasAllStridesAndSums) {
  ContractionShape shape = matmul(70, 33, 200);
  shape.indices = {{Kind::batch, 2, 3, 20000, 2400},
                   {Kind::m, 70, 1, 0, 1},
                   {Kind::n, 33, 0, 200, 72},
                   {Kind::k, 200, 70, 1, 0},
                   {Kind::k, 3, 15000, 7000, 0}};
  EXPECT_TRUE(isEqual(shape));
  shape.alpha = -0.7, shape.beta = 1;
  EXPECT_TRUE(isEqual(shape));
}

// Of another type or with an activation it is not theirs.
TEST(TiledContractionTest, LeavesOthersToLoops) {
  ContractionShape shape = matmul(4, 5, 6);
  shape.activation = Activation::relu;
  EXPECT_EQ(cpu::makeTiledSlice(cpu::toMatrix(shape, "test")), nullptr);
  shape = matmul(4, 5, 6);
  shape.b = DType::f32;
  EXPECT_EQ(cpu::makeTiledSlice(cpu::toMatrix(shape, "test")), nullptr);
}

} // namespace
} // namespace llmc::rt
