//===- MatmulPlanTest.cpp - Contractions as cuBLASLt takes them -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan, carried out as the documentation of cublasLtMatmul says (columns lie
// in a row), gives the sums of the descriptor. Integers in f64 are exact, so
// that every order of additions gives the same.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/MatmulPlan.h"
#include "Libraries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace llmc::rt::cuda {
namespace {

using Kind = ContractionIndexKind;
using Index = ContractionIndex;

double valueA(int64_t i) { return static_cast<double>(i % 7 - 3); }
double valueB(int64_t i) { return static_cast<double>(i % 5 - 2); }
double valueC(int64_t i) { return static_cast<double>(i % 11); }
double valueBias(int64_t i) { return static_cast<double>(100 * (i + 1)); }

int64_t extentOf(const ContractionShape &shape, int64_t Index::*stride) {
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  return extent;
}

std::vector<double> initialC(const ContractionShape &shape) {
  std::vector<double> c(static_cast<size_t>(extentOf(shape, &Index::strideC)));
  for (size_t i = 0; i < c.size(); ++i) {
    c[i] = valueC(static_cast<int64_t>(i));
  }
  return c;
}

/// By the descriptor's definition.
std::vector<double> reference(const ContractionShape &shape) {
  std::vector<double> c = initialC(shape), sums(c.size());
  std::vector<int64_t> at(shape.indices.size());
  std::vector<bool> isDone(c.size());
  bool goesOn = true;
  while (goesOn) {
    int64_t a = 0, b = 0, to = 0, bias = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      a += at[i] * shape.indices[i].strideA;
      b += at[i] * shape.indices[i].strideB;
      to += at[i] * shape.indices[i].strideC;
      bias += at[i] * shape.indices[i].strideBias;
    }
    auto place = static_cast<size_t>(to);
    if (!isDone[place]) {
      isDone[place] = true;
      sums[place] = shape.beta * c[place];
      sums[place] += shape.hasBias ? valueBias(bias) : 0;
    }
    sums[place] += shape.alpha * valueA(a) * valueB(b);
    goesOn = false;
    for (size_t i = at.size(); i-- > 0 && !goesOn;) {
      goesOn = ++at[i] < shape.indices[i].size;
      at[i] = goesOn ? at[i] : 0;
    }
  }
  for (size_t i = 0; i < c.size(); ++i) {
    c[i] = isDone[i] ? sums[i] : c[i];
  }
  return c;
}

void multiply(const MatmulPlan &plan, const MatmulCall &call, int64_t batch,
              std::vector<double> &c) {
  int64_t baseX = plan.isSwapped ? call.b : call.a;
  int64_t baseY = plan.isSwapped ? call.a : call.b;
  baseX += batch * plan.x.batchStride;
  baseY += batch * plan.y.batchStride;
  int64_t m = plan.d.rows, n = plan.d.cols;
  int64_t k = plan.transposesX ? plan.x.rows : plan.x.cols;
  ASSERT_EQ(m, plan.transposesX ? plan.x.cols : plan.x.rows);
  ASSERT_EQ(n, plan.transposesY ? plan.y.rows : plan.y.cols);
  ASSERT_EQ(k, plan.transposesY ? plan.y.cols : plan.y.rows);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        int64_t x = baseX + (plan.transposesX ? l + i * plan.x.lead
                                              : i + l * plan.x.lead);
        int64_t y = baseY + (plan.transposesY ? j + l * plan.y.lead
                                              : l + j * plan.y.lead);
        sum += plan.isSwapped ? valueB(x) * valueA(y) : valueA(x) * valueB(y);
      }
      auto to = static_cast<size_t>(call.c + batch * plan.d.batchStride + i +
                                    j * plan.d.lead);
      sum = plan.shape.alpha * sum + (call.adds ? c[to] : 0);
      bool hasBias = call.finishes && plan.shape.hasBias;
      c[to] = sum +
              (hasBias ? valueBias(call.bias + i + batch * plan.biasBatchStride)
                       : 0);
    }
  }
}

void expectSums(const ContractionShape &shape) {
  Result<MatmulPlan> plan = planMatmul(shape, "product");
  ASSERT_TRUE(plan.ok()) << plan.message();
  for (const MatrixLayout *each : {&plan->x, &plan->y, &plan->d}) {
    ASSERT_GE(each->lead, each->rows);
  }
  std::vector<double> c = initialC(shape);
  for (const MatmulCall &call : plan->calls) {
    for (int64_t batch = 0; batch < plan->batches; ++batch) {
      multiply(*plan, call, batch, c);
    }
  }
  EXPECT_EQ(c, reference(shape));
}

ContractionShape shapeOf(std::vector<Index> indices) {
  ContractionShape shape;
  shape.a = shape.b = shape.c = shape.accumulate = DType::f64;
  shape.indices = std::move(indices);
  return shape;
}

/// [m, k] * [k, n] of rows.
std::vector<Index> rows(int64_t m, int64_t n, int64_t k) {
  return {{Kind::m, m, k, 0, n}, {Kind::n, n, 0, 1, 1}, {Kind::k, k, 1, n, 0}};
}

TEST(MatmulPlanTest, RowsAreTheTransposedProduct) {
  Result<MatmulPlan> plan = planMatmul(shapeOf(rows(3, 4, 5)), "product");
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->isSwapped);
  EXPECT_FALSE(plan->transposesX || plan->transposesY);
  EXPECT_EQ(plan->x.rows, 4);
  EXPECT_EQ(plan->x.cols, 5);
  EXPECT_EQ(plan->d.lead, 4);
  EXPECT_EQ(plan->calls.size(), 1u);
  expectSums(shapeOf(rows(3, 4, 5)));
}

// All four ways in which a and b may lie, and both of c.
TEST(MatmulPlanTest, TransposedOperands) {
  constexpr int64_t m = 3, n = 4, k = 5;
  for (int ways = 0; ways < 8; ++ways) {
    bool ofA = ways & 1, ofB = ways & 2, ofC = ways & 4;
    ContractionShape shape =
        shapeOf({{Kind::m, m, ofA ? 1 : k, 0, ofC ? 1 : n},
                 {Kind::n, n, 0, ofB ? k : 1, ofC ? m : 1},
                 {Kind::k, k, ofA ? m : 1, ofB ? 1 : n, 0}});
    expectSums(shape);
    shape.beta = 1;
    shape.alpha = 3;
    expectSums(shape);
  }
}

// Vectors: a side of one element may have any stride.
TEST(MatmulPlanTest, SidesOfOne) {
  for (int ones = 0; ones < 8; ++ones) {
    expectSums(
        shapeOf(rows(ones & 1 ? 1 : 3, ones & 2 ? 1 : 4, ones & 4 ? 1 : 5)));
  }
  expectSums(shapeOf({}));
}

// Heads lie within the rows of q and k: a batch whose stride is below that of
// the rows.
TEST(MatmulPlanTest, HeadsAreABatch) {
  constexpr int64_t heads = 2, t = 3, d = 4;
  ContractionShape shape = shapeOf({{Kind::batch, heads, d, d, t * t},
                                    {Kind::m, t, heads * d, 0, t},
                                    {Kind::n, t, 0, heads * d, 1},
                                    {Kind::k, d, 1, 1, 0}});
  Result<MatmulPlan> plan = planMatmul(shape, "scores");
  EXPECT_EQ(plan->batches, 2);
  EXPECT_EQ(plan->calls.size(), 1u);
  EXPECT_FALSE(plan->keepsAlignment); // 9 results of 8 bytes lie apart.
  expectSums(shape);
  // With a batch before it the longer one is the library's.
  shape.indices.insert(shape.indices.begin(), {Kind::batch, 3, heads * t * d,
                                               heads * t * d, heads * t * t});
  plan = planMatmul(shape, "scores");
  EXPECT_EQ(plan->batches, 3);
  EXPECT_EQ(plan->calls.size(), 2u);
  expectSums(shape);
}

// Windows of a, each of which begins in the one before it, are no matrix.
TEST(MatmulPlanTest, OverlappingRowsAreRefused) {
  ContractionShape shape = shapeOf(rows(3, 4, 5));
  shape.indices[0].strideA = 1;
  EXPECT_EQ(planMatmul(shape, "windows").kind(), ErrorKind::mismatch);
}

// Results of one batch of the library lie apart.
TEST(MatmulPlanTest, ResultsOnTopOfEachOtherAreCalls) {
  ContractionShape shape = shapeOf(rows(3, 4, 5));
  shape.indices.insert(shape.indices.begin(), {Kind::batch, 2, 15, 20, 0});
  Result<MatmulPlan> plan = planMatmul(shape, "product");
  EXPECT_EQ(plan->batches, 1);
  EXPECT_EQ(plan->calls.size(), 2u);
}

// Two sums that do not lie in a row: two calls, the second of which adds.
TEST(MatmulPlanTest, SumsThatLieApart) {
  ContractionShape shape = shapeOf({{Kind::m, 3, 5, 0, 4},
                                    {Kind::n, 4, 0, 1, 1},
                                    {Kind::k, 2, 100, 7, 0},
                                    {Kind::k, 5, 1, 40, 0}});
  Result<MatmulPlan> plan = planMatmul(shape, "product");
  ASSERT_EQ(plan->calls.size(), 2u);
  EXPECT_FALSE(plan->calls[0].adds);
  EXPECT_FALSE(plan->calls[0].finishes);
  EXPECT_TRUE(plan->calls[1].adds);
  EXPECT_TRUE(plan->calls[1].finishes);
  expectSums(shape);
  shape.beta = 1;
  expectSums(shape);
}

TEST(MatmulPlanTest, BiasAlongTheMinorOfC) {
  ContractionShape shape = shapeOf(rows(3, 4, 5));
  shape.a = shape.b = shape.c = shape.accumulate = DType::f32;
  shape.hasBias = true;
  shape.indices[1].strideBias = 1;
  expectSums(shape);
  shape.beta = 1;
  expectSums(shape);
  // In batches, each with a bias of its own.
  shape.indices.insert(shape.indices.begin(), {Kind::batch, 2, 15, 20, 12, 4});
  expectSums(shape);
  shape.indices[1].strideBias = 1;
  shape.indices[2].strideBias = 0;
  EXPECT_EQ(planMatmul(shape, "product").kind(), ErrorKind::mismatch);
}

TEST(MatmulPlanTest, RandomContractions) {
  std::mt19937 random(11);
  int planned = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    ContractionShape shape = shapeOf({});
    std::vector<int64_t Index::*> strides[] = {
        {&Index::strideA, &Index::strideB, &Index::strideC},
        {&Index::strideA, &Index::strideC},
        {&Index::strideB, &Index::strideC},
        {&Index::strideA, &Index::strideB}};
    for (auto count = 1 + random() % 6; count > 0; --count) {
      Index index;
      index.kind = static_cast<Kind>(random() % 4);
      index.size = static_cast<int64_t>(1 + random() % 3);
      shape.indices.push_back(index);
    }
    // Each operand is dense, with its dims in a random order.
    for (auto stride : {&Index::strideA, &Index::strideB, &Index::strideC}) {
      std::vector<Index *> dims;
      for (Index &index : shape.indices) {
        const auto &own = strides[static_cast<size_t>(index.kind)];
        if (std::find(own.begin(), own.end(), stride) != own.end()) {
          dims.push_back(&index);
        }
      }
      if (random() % 2) {
        std::shuffle(dims.begin(), dims.end(), random);
      }
      int64_t step = 1;
      for (size_t i = dims.size(); i-- > 0;) {
        dims[i]->*stride = step;
        step *= dims[i]->size;
      }
    }
    if (planMatmul(shape, "product").ok()) {
      ++planned;
      expectSums(shape);
    }
  }
  // Operands that lie as programs write them are never refused for long.
  EXPECT_GT(planned, 1000);
}

TEST(MatmulPlanTest, RefusalsNameTheReason) {
  auto messageOf = [](const ContractionShape &shape) {
    Result<MatmulPlan> plan = planMatmul(shape, "p");
    EXPECT_EQ(plan.kind(), ErrorKind::mismatch);
    return plan.ok() ? "" : plan.message();
  };
  ContractionShape shape = shapeOf(rows(3, 4, 5));
  shape.a = DType::i8;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected operands of one "
            "type f64, f32, bf16 or f16 with sums in f64 or f32, got i8 times "
            "f64 into f64 with sums in f64");
  shape = shapeOf(rows(3, 4, 5));
  shape.activation = Activation::relu;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected sums in f32 "
            "beside a bias or an activation, got sums in f64");
  shape.activation = Activation::gelu;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected the activation "
            "none, relu or gelu_tanh, got gelu");
  shape = shapeOf(rows(3, 4, 5));
  shape.indices[0].strideA = 10;
  shape.indices[2].strideA = 2;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected an m, n and k "
            "with a stride of 1 in each of a, b and c, and no stride that is "
            "less than the size beside it");
  shape = shapeOf({{Kind::m, 3, 5, 0, 4},
                   {Kind::n, 4, 0, 1, 1},
                   {Kind::k, 2, 100, 7, 0},
                   {Kind::k, 5, 1, 40, 0}});
  shape.a = shape.b = shape.c = DType::bf16;
  shape.accumulate = DType::f32;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected sums that one "
            "call makes, got 2 indices k that lie apart and a result of bf16, "
            "which would be rounded after each");
}

/// c[m, n] of rows of floats of eight bits, k contiguous in both factors.
ContractionShape shapeOfEight(int64_t m, int64_t n, int64_t k) {
  ContractionShape shape = shapeOf(
      {{Kind::m, m, k, 0, n}, {Kind::n, n, 0, k, 1}, {Kind::k, k, 1, 1, 0}});
  shape.a = DType::f8E4M3FN;
  shape.b = DType::f8E5M2;
  shape.c = shape.accumulate = DType::f32;
  return shape;
}

// X is transposed and Y is not, whichever of a and b they are.
TEST(MatmulPlanTest, FloatsOfEightBits) {
  ContractionShape shape = shapeOfEight(32, 48, 16);
  Result<MatmulPlan> plan = planMatmul(shape, "p");
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_TRUE(plan->isSwapped && plan->transposesX && !plan->transposesY);
  EXPECT_TRUE(plan->needsAlignment());
  expectSums(shape);
  std::swap(shape.indices[0].strideC, shape.indices[1].strideC);
  shape.indices[1].strideC = 32;
  plan = planMatmul(shape, "p");
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_TRUE(!plan->isSwapped && plan->transposesX && !plan->transposesY);
  shape.beta = 1;
  expectSums(shape);
  // In a batch, each of which begins at a multiple of 16 bytes.
  shape = shapeOfEight(16, 16, 32);
  shape.indices.insert(shape.indices.begin(), {Kind::batch, 3, 512, 512, 256});
  expectSums(shape);
  shape.indices[0].strideA = 520;
  EXPECT_EQ(planMatmul(shape, "p").kind(), ErrorKind::mismatch);
}

TEST(MatmulPlanTest, FloatsOfEightBitsThatAreRefused) {
  auto messageOf = [](const ContractionShape &shape) {
    Result<MatmulPlan> plan = planMatmul(shape, "p");
    EXPECT_EQ(plan.kind(), ErrorKind::mismatch);
    return plan.ok() ? "" : plan.message();
  };
  const char *const sizes =
      "cuBLASLt cannot compute contraction 'p': expected, beside factors of 8 "
      "bits, an m, n and k that are multiples of 16 and begin at multiples of "
      "16 bytes, got ";
  EXPECT_EQ(messageOf(shapeOfEight(24, 48, 16)),
            std::string(sizes) + "24, 48 and 16");
  EXPECT_EQ(messageOf(shapeOfEight(32, 40, 16)),
            std::string(sizes) + "32, 40 and 16");
  EXPECT_EQ(messageOf(shapeOfEight(32, 48, 8)),
            std::string(sizes) + "32, 48 and 8");
  ContractionShape shape = shapeOfEight(32, 48, 16);
  shape.indices[0].strideA = 24;
  EXPECT_EQ(messageOf(shape), std::string(sizes) + "32, 48 and 16");
  shape = shapeOfEight(32, 48, 16);
  shape.indices[1].strideB = 1;
  shape.indices[2].strideB = 48;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected an m, n and k "
            "with a stride of 1 in each of a, b and c, and no stride that is "
            "less than the size beside it; beside factors of 8 bits that of k "
            "in a and b");
  shape = shapeOfEight(32, 48, 16);
  shape.hasBias = true;
  shape.indices[1].strideBias = 1;
  EXPECT_EQ(messageOf(shape),
            "cuBLASLt cannot compute contraction 'p': expected no bias beside "
            "factors of 8 bits and a result of f32, got one");
  shape.c = shape.bias = DType::bf16;
  EXPECT_TRUE(planMatmul(shape, "p").ok());
}

TEST(MatmulPlanTest, OtherLibraryKindsAreRefused) {
  LibraryShape shape;
  shape.name = "other";
  shape.descriptor = ArgsortShape();
  EXPECT_EQ(planLibrary(shape).message(),
            "expected a contraction, a convolution or an attention from the "
            "libraries of the target cuda, got an argsort 'other'");
  shape.descriptor = AttentionShape();
  EXPECT_EQ(planLibrary(shape).message(),
            "cuDNN cannot compute attention 'other': expected an attention in "
            "bf16 or f16 with sums in f32, got one in f32 with sums in f32");
  shape.descriptor = shapeOf(rows(1, 1, 1));
  shape.form = mostAlgorithms - 1;
  EXPECT_TRUE(planLibrary(shape).ok());
  shape.form = mostAlgorithms;
  EXPECT_EQ(planLibrary(shape).message(),
            "expected form 0 to 7 of contraction 'other' on a GPU, got 8");
}

} // namespace
} // namespace llmc::rt::cuda
