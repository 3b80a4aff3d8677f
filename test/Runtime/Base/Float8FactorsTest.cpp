//===- Float8FactorsTest.cpp - Factors of eight bits on GPUs --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which copies a contraction of floats of eight bits wants, and why there are
// none.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Float8Factors.h"
#include "llmc/Runtime/Base/MatmulPlan.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

namespace {

using Kind = ContractionIndexKind;
constexpr int64_t m = 32, n = 48, k = 64;

/// c[m, n] of rows, of e4m3 and `b`; k is contiguous in a factor, or not.
ContractionShape shapeOf(bool innerA, bool innerB, DType b = DType::f8E4M3FN) {
  ContractionShape shape;
  shape.a = DType::f8E4M3FN;
  shape.b = b;
  shape.indices = {{Kind::m, m, innerA ? k : 1, 0, n},
                   {Kind::n, n, 0, innerB ? k : 1, 1},
                   {Kind::k, k, innerA ? 1 : m, innerB ? 1 : n, 0}};
  return shape;
}

TEST(Float8Factors, CopiesWhatDoesNotLieSo) {
  for (DType b : {DType::f8E4M3FN, DType::f8E5M2}) {
    for (int ways = 0; ways < 4; ++ways) {
      bool innerA = ways & 1, innerB = ways & 2;
      Float8Factors found =
          chooseFloat8Factors("cuda:sm_90", shapeOf(innerA, innerB, b));
      EXPECT_FALSE(found.isWidened) << found.reason;
      EXPECT_EQ(found.copiesA, !innerA);
      EXPECT_EQ(found.copiesB, !innerB);
    }
  }
}

// A gradient of a weight: both sums run over samples and places, which merge
// once both factors are copied; batches come before all.
TEST(Float8Factors, CopiesAreRowMajor) {
  ContractionShape shape;
  shape.indices = {{Kind::batch, 2, 1, 1, 16 * 32},
                   {Kind::m, 16, 2, 0, 32},
                   {Kind::n, 32, 0, 2, 1},
                   {Kind::k, 3, 16 * 32, 32 * 64, 0},
                   {Kind::k, 16, 32, 64, 0}};
  ContractionShape copied = withCopiedFactors(shape, true, true);
  std::vector<ContractionIndex> wanted = {
      {Kind::batch, 2, 16 * 48, 32 * 48, 16 * 32},
      {Kind::m, 16, 48, 0, 32},
      {Kind::n, 32, 0, 48, 1},
      {Kind::k, 3, 16, 16, 0},
      {Kind::k, 16, 1, 1, 0}};
  EXPECT_TRUE(copied.indices == wanted);
  EXPECT_EQ(walksOf(copied, Kind::k).size(), 1u);
  copied = withCopiedFactors(shape, false, true);
  EXPECT_EQ(copied.indices[1].strideA, 2);
  EXPECT_EQ(copied.indices[2].strideB, 48);
}

// What tensor cores cannot multiply is multiplied as bf16, with the reason.
TEST(Float8Factors, OtherFormsAreWidened) {
  auto reasonOf = [](const ContractionShape &shape,
                     std::string_view target = "cuda:sm_90+cudnn") {
    Float8Factors found = chooseFloat8Factors(target, shape);
    EXPECT_TRUE(found.isWidened);
    EXPECT_FALSE(found.copiesA || found.copiesB);
    return found.reason;
  };
  EXPECT_EQ(reasonOf(shapeOf(true, true), "cuda:sm_80"),
            "expected tensor cores for floats of 8 bits, got sm_80");
  EXPECT_EQ(reasonOf(shapeOf(true, true), "cuda:sm_80+cudnn"),
            "expected tensor cores for floats of 8 bits, got sm_80");
  ContractionShape shape = shapeOf(true, true, DType::f8E5M2);
  shape.a = DType::f8E5M2;
  EXPECT_EQ(reasonOf(shape),
            "cuBLASLt cannot compute contraction 'contraction': expected of "
            "factors of 8 bits at least one f8E4M3FN and a result of f32, bf16 "
            "or f16 with sums in f32, got f8E5M2 times f8E5M2 into f32 with "
            "sums in f32");
  shape = shapeOf(true, true);
  shape.indices[1].size = 40;
  EXPECT_EQ(reasonOf(shape),
            "cuBLASLt cannot compute contraction 'contraction': expected, "
            "beside factors of 8 bits, an m, n and k that are multiples of 16 "
            "and begin at multiples of 16 bytes, got 32, 40 and 64");
  shape = shapeOf(true, true, DType::f8E4M3FNUZ);
  EXPECT_NE(reasonOf(shape).find("got f8E4M3FN times f8E4M3FNUZ"),
            std::string::npos);
}

TEST(Float8Factors, OthersStayAsTheyAre) {
  auto isLeft = [](std::string_view target, const ContractionShape &shape) {
    Float8Factors found = chooseFloat8Factors(target, shape);
    return !found.isWidened && !found.copiesA && !found.copiesB;
  };
  EXPECT_TRUE(isLeft("cpu", shapeOf(false, false)));
  EXPECT_TRUE(isLeft("opaque", shapeOf(false, false)));
  ContractionShape shape = shapeOf(false, false);
  shape.a = shape.b = DType::bf16;
  EXPECT_TRUE(isLeft("cuda:sm_80", shape));
  EXPECT_TRUE(multiplyTogether(DType::f8E4M3FN, DType::f8E5M2));
  EXPECT_TRUE(multiplyTogether(DType::bf16, DType::bf16));
  EXPECT_FALSE(multiplyTogether(DType::bf16, DType::f8E5M2));
}

} // namespace
