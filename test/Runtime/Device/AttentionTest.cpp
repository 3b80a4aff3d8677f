//===- AttentionTest.cpp - What every device computes of an attention -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random attentions and their gradients, on every world of
// test/Runtime/Comm/Worlds.h, against plain loops in double.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"
#include "AttentionReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace llmc::rt::test::attention {
namespace {

using Index = AttentionIndex;
using Kind = AttentionIndexKind;
const Origin attentionOrigin{"attention", "model.py:7"};

/// The buffers of a call after it, as bytes and as numbers.
struct Outcome {
  std::vector<std::byte> bytes;
  AttentionValues values;
};

/// Runs a call in `world`; its buffers lie in one arena.
Outcome run(World &world, const AttentionShape &shape, int threads,
            const AttentionValues &values) {
  Outcome outcome;
  Device &device = world.device(0);
  LibraryShape library{"test", shape, threads, 0};
  library.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(library);
  Result<const LibraryOp *> op = device.prepare(library);
  if (!op.ok()) {
    ADD_FAILURE() << op.message();
    return outcome;
  }
  std::vector<LibraryOperand> operands = operandsOf(shape);
  std::vector<uint64_t> places = {0};
  for (size_t i = 0; i < operands.size(); ++i) {
    uint64_t bytes = values[i].size() * sizeOf(operands[i].dtype);
    places.push_back((places[i] + bytes + 63) / 64 * 64);
  }
  Mirror mirror(world, device, places.back() + library.workspaceBytes + 64);
  std::vector<void *> buffers;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = 0; j < values[i].size(); ++j) {
      storeElement(operands[i].dtype, mirror.host() + places[i],
                   static_cast<int64_t>(j), values[i][j]);
    }
    buffers.push_back(mirror.at(mirror.host() + places[i]));
  }
  // What a workspace holds before a call is of no account.
  std::memset(mirror.host() + places.back(), 0xff, library.workspaceBytes);
  EXPECT_TRUE(mirror.push().ok());
  auto count = static_cast<uint32_t>(buffers.size());
  Stream &stream = **device.stream({"s", 0, 1, count});
  device.call(stream, **op, buffers.data(), count,
              mirror.at(mirror.host() + places.back()), attentionOrigin);
  EXPECT_TRUE(world.drain(std::chrono::seconds(20)).ok());
  EXPECT_TRUE(mirror.pull().ok());
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<double> &each = outcome.values.emplace_back();
    for (size_t j = 0; j < values[i].size(); ++j) {
      each.push_back(loadElement(operands[i].dtype, mirror.host() + places[i],
                                 static_cast<int64_t>(j)));
    }
  }
  outcome.bytes.assign(mirror.host(), mirror.host() + places.back());
  return outcome;
}

/// The greatest difference, relative to the greatest number of a buffer where
/// that is above 1; infinite where one is NaN or infinite and the other not so.
double differenceOf(const AttentionValues &found,
                    const AttentionValues &expected) {
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double most = 1;
    for (double each : expected[i]) {
      most = std::isfinite(each) && each != untouched
                 ? std::max(most, std::abs(each))
                 : most;
    }
    for (size_t j = 0; j < expected[i].size(); ++j) {
      double x = found[i][j], y = expected[i][j];
      bool isSame = x == y || (std::isnan(x) && std::isnan(y));
      double difference = std::isfinite(x) && std::isfinite(y)
                              ? std::abs(x - y) / most
                              : INFINITY;
      worst = std::max(worst, isSame ? 0 : difference);
    }
  }
  return worst;
}

class AttentionTest : public testing::TestWithParam<WorldKind> {
protected:
  void expectRight(const AttentionShape &shape, double tolerance,
                   int32_t offset = 0) {
    std::mt19937 dice(7);
    AttentionValues values = drawValues(dice, shape, offset);
    AttentionValues expected = attend(shape, values);
    for (int threads : {1, 3}) {
      std::unique_ptr<World> world = GetParam().make(1);
      Outcome outcome = run(*world, shape, threads, values);
      ASSERT_EQ(outcome.values.size(), expected.size());
      EXPECT_LE(differenceOf(outcome.values, expected), tolerance)
          << describe(shape) << " on " << threads;
    }
  }
};

/// Sums of up to 300 terms of at most 1 in f32 and f64. Of f16 and bf16 the
/// results are rounded to 11 and 8 bits.
struct Precision {
  DType dtype, accumulate;
  double tolerance;
};
constexpr Precision precisions[] = {{DType::f32, DType::f32, 1e-5},
                                    {DType::f64, DType::f64, 1e-13},
                                    {DType::bf16, DType::f32, 1.0 / 256},
                                    {DType::f16, DType::f32, 1.0 / 2048},
                                    {DType::f32, DType::f64, 1e-7}};

TEST_P(AttentionTest, Random) {
  std::mt19937 dice(1);
  for (int i = 0; i < 120; ++i) {
    AttentionDraw draw;
    draw.isGradient = i % 2;
    AttentionShape shape = drawShape(dice, draw);
    const Precision &precision = precisions[i / 2 % 5];
    shape.dtype = precision.dtype;
    shape.accumulate = precision.accumulate;
    shape.bias = shape.hasBias && i % 3 == 0 ? DType::f16 : DType::f32;
    expectRight(shape, precision.tolerance, static_cast<int32_t>(i % 7) - 1);
  }
}

// Each weight by bits of its own, of three kinds, with both comparisons.
TEST_P(AttentionTest, Dropout) {
  std::mt19937 dice(5);
  for (int i = 0; i < 60; ++i) {
    AttentionDraw draw;
    draw.isGradient = i % 2;
    draw.hasDropout = true;
    AttentionShape shape = drawShape(dice, draw);
    const Precision &precision = precisions[i / 2 % 5];
    shape.dtype = precision.dtype;
    shape.accumulate = precision.accumulate;
    shape.isSafe = i % 3 == 0;
    expectRight(shape, precision.tolerance, static_cast<int32_t>(i % 7) - 1);
  }
}

/// q [row, depth], k [column, depth], v [column, value], out [row, value], for
/// each batch, side by side.
AttentionShape makeShape(int64_t batch, int64_t row, int64_t column,
                         int64_t depth, int64_t value, bool isGradient) {
  AttentionShape shape;
  shape.isGradient = isGradient;
  shape.scale = 0.5;
  int64_t g = isGradient ? 1 : 0;
  shape.indices = {
      {Kind::batch, batch, row * depth, column * depth, column * value, 0,
       row * value, row, g * row * depth, g * column * depth,
       g * column * value},
      {Kind::row, row, depth, 0, 0, 0, value, 1, g * depth},
      {Kind::column, column, 0, depth, value, 0, 0, 0, 0, g * depth, g * value},
      {Kind::depth, depth, 1, 1, 0, 0, 0, 0, g, g},
      {Kind::value, value, 0, 0, 1, 0, 1, 0, 0, 0, g}};
  return shape;
}

// More rows and columns than a tile has, and more depth than lanes.
TEST_P(AttentionTest, ManyTiles) {
  for (bool isGradient : {false, true}) {
    AttentionShape shape = makeShape(1, 300, 290, 9, 17, isGradient);
    expectRight(shape, 1e-5);
    shape.isCausal = true;
    expectRight(shape, 1e-5);
    shape.shift = 150;
    expectRight(shape, 1e-5);
    expectRight(makeShape(4, 20, 30, 256, 130, isGradient), 1e-5);
    shape.dropout = {RandomBits::jax64, true, uint64_t(3) << 62, 4.0 / 3};
    shape.indices[1].strideBits = 290;
    shape.indices[2].strideBits = 1;
    expectRight(shape, 1e-5);
  }
}

TEST_P(AttentionTest, NothingAndOne) {
  for (bool isGradient : {false, true}) {
    for (int64_t batch : {0, 1}) {
      for (int64_t row : {0, 1, 3}) {
        for (int64_t depth : {0, 1}) {
          expectRight(makeShape(batch, row, 1, depth, 1, isGradient), 1e-5);
          expectRight(makeShape(batch, row, 5, depth, 0, isGradient), 1e-5);
        }
      }
    }
  }
  // A sum over no columns is 0 / 0.
  expectRight(makeShape(1, 3, 0, 4, 5, false), 1e-5);
}

TEST_P(AttentionTest, AnEmptyGroupHasGradientsOfZero) {
  AttentionShape shape = makeShape(0, 3, 4, 2, 2, true);
  shape.indices[0] = {Kind::batch, 0, 6, 0, 0, 0, 6, 3, 6};
  std::mt19937 dice(7);
  AttentionValues values = drawValues(dice, shape, 0);
  for (int threads : {1, 3}) {
    Outcome outcome = run(*GetParam().make(1), shape, threads, values);
    ASSERT_EQ(outcome.values.size(), 9u);
    EXPECT_EQ(outcome.values[7], std::vector<double>(8, 0));
    EXPECT_EQ(outcome.values[8], std::vector<double>(8, 0));
  }
}

// Rows that see nothing: logsumexp -inf and NaN, and so in all gradients; 0
// where that is safe.
TEST_P(AttentionTest, RowsThatSeeNothing) {
  for (int i = 0; i < 4; ++i) {
    AttentionShape shape = makeShape(2, 200, 150, 4, 5, i % 2 == 1);
    shape.isSafe = i >= 2;
    shape.isCausal = true;
    shape.shift = -140;
    expectRight(shape, 1e-5);
    shape.hasOffset = true;
    expectRight(shape, 1e-5, -1000000);
    expectRight(shape, 1e-5, 1000000);
    expectRight(shape, 1e-5, INT32_MIN);
    expectRight(shape, 1e-5, INT32_MAX);
  }
}

// Scores far from 0: no exponential overflows, small ones become 0.
TEST_P(AttentionTest, GreatScores) {
  for (bool isGradient : {false, true}) {
    AttentionShape shape = makeShape(1, 70, 140, 16, 8, isGradient);
    shape.scale = 100;
    shape.dtype = shape.accumulate = DType::f64;
    expectRight(shape, 1e-11);
    shape.dtype = shape.accumulate = DType::f32;
    expectRight(shape, 1e-3);
    shape.scale = 0;
    expectRight(shape, 1e-5);
  }
}

// The cut is the plan's: the bits are those of one worker and of three.
TEST(AttentionBits, AreThoseOfAnyNumberOfWorkers) {
  std::mt19937 dice(3);
  for (int i = 0; i < 20; ++i) {
    AttentionDraw draw{200, 300, 20, i % 2 == 1, i % 3 == 0};
    AttentionShape shape = drawShape(dice, draw);
    AttentionValues values = drawValues(dice, shape, 1);
    for (int threads : {1, 2, 5}) {
      Outcome first = run(*makeCpu(1, 1, {}), shape, threads, values);
      for (int workers : {1, 2, 3}) {
        Outcome again = run(*makeCpu(1, workers, {}), shape, threads, values);
        EXPECT_EQ(first.bytes, again.bytes) << describe(shape);
      }
    }
  }
}

TEST_P(AttentionTest, WhatADeviceLacksIsRefused) {
  auto prepare = [](auto change) {
    AttentionShape attention = makeShape(2, 3, 4, 5, 6, true);
    change(attention);
    LibraryShape shape{"test", attention, 1, 1 << 20};
    std::unique_ptr<World> world = GetParam().make(1);
    Status status = world->device(0).prepare(shape).status();
    EXPECT_TRUE(status.ok() || exitCode(status.kind()) == 15);
    return status.message();
  };
  using S = AttentionShape;
  EXPECT_EQ(prepare([](S &) {}), "");
  const char *types = "expected floats, summed in f32 or f64, in attention "
                      "'test', got ";
  EXPECT_EQ(prepare([](S &s) { s.dtype = DType::i32; }),
            types + std::string("i32, f32 and f32"));
  EXPECT_EQ(prepare([](S &s) { s.bias = DType::i8; }),
            types + std::string("f32, i8 and f32"));
  EXPECT_EQ(prepare([](S &s) { s.accumulate = DType::bf16; }),
            types + std::string("f32, f32 and bf16"));
  const char *each = "expected one index of each kind but batch, and sizes and "
                     "strides of at least 0 in attention 'test'";
  EXPECT_EQ(prepare([](S &s) { s.indices.push_back(s.indices[1]); }), each);
  EXPECT_EQ(prepare([](S &s) { s.indices[1].size = -1; }), each);
  EXPECT_EQ(prepare([](S &s) { s.indices[1].strideDq = -1; }), each);
  EXPECT_EQ(prepare([](S &s) { s.indices[0].kind = static_cast<Kind>(5); }),
            each);
  EXPECT_EQ(prepare([](S &s) { s.indices.pop_back(); }),
            "expected an index each of row, column, depth and value in "
            "attention 'test'");
  EXPECT_EQ(prepare([](S &s) { s.indices[0].strideDv = 0; }),
            "expected dk and dv to be sums over the same batch indices in "
            "attention 'test'");
  EXPECT_EQ(prepare([](S &s) { s.shift = INT64_MIN; }),
            "expected a shift of at most 2^61 in attention 'test'");
  EXPECT_EQ(prepare([](S &s) { s.indices[3].size = int64_t(1) << 50; }),
            "expected less than 2^60 rows, columns and bytes of tiles in "
            "attention 'test'");
}

INSTANTIATE_TEST_SUITE_P(All, AttentionTest, testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test::attention
