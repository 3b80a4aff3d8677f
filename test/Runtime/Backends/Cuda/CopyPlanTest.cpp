//===- CopyPlanTest.cpp - Boxes as copies and fills that a driver has -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a plan, carried out byte by byte, move what loops over the dims
// of the box would.
//
//===----------------------------------------------------------------------===//

#include "CopyPlan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace llmc::rt::cuda {
namespace {

using Bytes = std::vector<uint8_t>;

/// Loops over the dims, outermost first.
template <typename Visit>
void forEachRun(const CopyBox &box, size_t level, int64_t to, int64_t from,
                Visit visit) {
  if (level == box.dims.size()) {
    visit(to, from);
    return;
  }
  const CopyDim &dim = box.dims[level];
  for (uint64_t i = 0; i < dim.extent; ++i) {
    auto index = static_cast<int64_t>(i);
    forEachRun(box, level + 1, to + index * dim.to, from + index * dim.from,
               visit);
  }
}

constexpr size_t memoryBytes = 1 << 16;

Bytes numbered() {
  Bytes bytes(memoryBytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 256);
  }
  return bytes;
}

void expectCopies(const CopyBox &box) {
  Bytes source = numbered(), wanted(memoryBytes), seen(memoryBytes);
  forEachRun(box, 0, 0, 0, [&](int64_t to, int64_t from) {
    std::memcpy(&wanted[to], &source[from], box.bytes);
  });
  Result<CopyPlan> plan = CopyPlan::make(box, false, "copy");
  ASSERT_TRUE(plan.ok()) << plan.message();
  for (uint64_t i = 0; i < plan->numCalls(); ++i) {
    RowCopy part = plan->part(i);
    if (part.height > 1) {
      ASSERT_GE(part.toPitch, part.width);
      ASSERT_GE(part.fromPitch, part.width);
    }
    for (uint64_t row = 0; row < part.height; ++row) {
      std::memcpy(
          &seen[part.to + static_cast<int64_t>(row * part.toPitch)],
          &source[part.from + static_cast<int64_t>(row * part.fromPitch)],
          part.width);
    }
  }
  EXPECT_EQ(wanted, seen);
}

uint64_t callsOf(const CopyBox &box) {
  return (*CopyPlan::make(box, false, "copy")).numCalls();
}

TEST(CopyPlanTest, NeighboursAreOneRow) {
  expectCopies({24, {{4, 24, 24}}});
  Result<CopyPlan> plan =
      CopyPlan::make({24, {{3, 96, 96}, {4, 24, 24}}}, false, "copy");
  EXPECT_EQ(plan->numCalls(), 1u);
  EXPECT_EQ(plan->part(0).width, 288u);
  EXPECT_EQ(plan->part(0).height, 1u);
}

TEST(CopyPlanTest, RowsAreOneCall) {
  expectCopies({24, {{4, 24, 48}}});
  EXPECT_EQ(callsOf({24, {{4, 24, 48}}}), 1u);
  // Two dims that go on where the other ends are rows too.
  expectCopies({4, {{2, 12, 32}, {3, 4, 16}}});
  EXPECT_EQ(callsOf({4, {{3, 24, 48}, {2, 12, 24}}}), 1u);
}

TEST(CopyPlanTest, TheLongestDimIsRows) {
  CopyBox box{8, {{2, 8, 64}, {3, 16, 16}}};
  expectCopies(box);
  EXPECT_EQ(callsOf(box), 2u);
}

// A value that is read again and again has no rows at its end.
TEST(CopyPlanTest, StridesOfZeroAreCalls) {
  expectCopies({4, {{5, 8, 0}}});
  EXPECT_EQ(callsOf({4, {{5, 8, 0}}}), 5u);
}

// Nor has one that is written over.
TEST(CopyPlanTest, RowsThatOverlapAreCalls) {
  expectCopies({8, {{3, 4, 16}}});
  EXPECT_EQ(callsOf({8, {{3, 4, 16}}}), 3u);
}

TEST(CopyPlanTest, EmptyBoxesAreNoCall) {
  EXPECT_EQ(callsOf({0, {{3, 16, 16}}}), 0u);
  EXPECT_EQ(callsOf({4, {{3, 16, 16}, {0, 4, 4}}}), 0u);
}

TEST(CopyPlanTest, RandomBoxes) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    // Places of a dense [a, b, c, d] on each side, in random orders.
    std::vector<uint64_t> extents;
    for (int i = 0; i < 4; ++i) {
      extents.push_back(1 + random() % 4);
    }
    CopyBox box;
    box.bytes = 1 + random() % 6;
    std::vector<size_t> order{0, 1, 2, 3};
    box.dims.resize(4);
    for (auto stride : {&CopyDim::to, &CopyDim::from}) {
      std::shuffle(order.begin(), order.end(), random);
      auto step = static_cast<int64_t>(box.bytes + random() % 2);
      for (size_t dim : order) {
        box.dims[dim].extent = extents[dim];
        box.dims[dim].*stride = step;
        step *= static_cast<int64_t>(extents[dim] + random() % 2);
      }
    }
    expectCopies(box);
  }
}

TEST(CopyPlanTest, TooManyCallsAreRefused) {
  Status status = CopyPlan::make({4, {{5000, 8, 0}}}, false, "spread").status();
  EXPECT_EQ(status.kind(), ErrorKind::unsupported);
  EXPECT_EQ(status.message(), "expected at most 4096 rows or planes that lie "
                              "apart in 'spread', got 5000");
}

//===----------------------------------------------------------------------===//

void expectFills(const CopyBox &box, uint64_t pattern, unsigned size) {
  Bytes wanted(memoryBytes), seen(memoryBytes);
  forEachRun(box, 0, 0, 0, [&](int64_t to, int64_t) {
    for (uint64_t i = 0; i < box.bytes; ++i) {
      wanted[static_cast<size_t>(to) + i] =
          static_cast<uint8_t>(pattern >> (8 * (i % size)));
    }
  });
  Result<FillPlan> plan = FillPlan::make(box, pattern, size, "fill");
  ASSERT_TRUE(plan.ok()) << plan.message();
  for (uint64_t i = 0; i < plan->numCalls(); ++i) {
    RowFill part = plan->part(i);
    ASSERT_EQ(part.to % part.size, 0);
    for (uint64_t row = 0; row < part.height; ++row) {
      for (uint64_t x = 0; x < part.width; ++x) {
        std::memcpy(&seen[static_cast<size_t>(part.to) + row * part.pitch +
                          x * part.size],
                    &part.value, part.size);
      }
    }
  }
  EXPECT_EQ(wanted, seen);
}

TEST(FillPlanTest, PatternsOfAllSizes) {
  constexpr uint64_t pattern = 0x8877665544332211;
  for (unsigned size : {1u, 2u, 4u, 8u}) {
    expectFills({16, {}}, pattern, size);
    expectFills({16, {{3, 48, 0}}}, pattern, size);
    expectFills({8, {{2, 64, 0}, {3, 16, 0}}}, pattern, size);
    expectFills({0, {{3, 16, 0}}}, pattern, size);
  }
}

// Of eight bytes whose halves are equal one call is enough.
TEST(FillPlanTest, PairsOfWords) {
  EXPECT_EQ((*FillPlan::make({64, {}}, 0, 8, "fill")).numCalls(), 1u);
  Result<FillPlan> plan =
      FillPlan::make({64, {}}, uint64_t(0x3ff00000) << 32, 8, "fill");
  ASSERT_EQ(plan->numCalls(), 2u);
  EXPECT_EQ(plan->part(0).value, 0u);
  EXPECT_EQ(plan->part(1).value, 0x3ff00000u);
  EXPECT_EQ(plan->part(1).to, 4);
  EXPECT_EQ(plan->part(1).width, 1u);
  EXPECT_EQ(plan->part(1).height, 8u);
  EXPECT_EQ(plan->part(1).pitch, 8u);
}

TEST(FillPlanTest, OtherSizesAreRefused) {
  EXPECT_EQ(FillPlan::make({6, {}}, 0, 3, "fill").kind(), ErrorKind::mismatch);
}

} // namespace
} // namespace llmc::rt::cuda
