//===- PlacesTest.cpp - Tests of Analysis/Places --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/Places.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace llmc;

TEST(Places, SharesBytesOfDisjointLifetimes) {
  PlaceProblem problem{{{64, 0, 2}, {128, 1, 4}, {64, 2, 4}}, 64};
  std::vector<int64_t> offsets = assignPlaces(problem);
  EXPECT_EQ(problem.verify(offsets), "");
  EXPECT_EQ(problem.getSize(offsets), 192);
  EXPECT_EQ(offsets[0], offsets[2]);
}

TEST(Places, CountsAlignmentAsLive) {
  PlaceProblem problem{{{4, 0, 1}, {100, 0, 1}}, 64};
  EXPECT_EQ(problem.getMaxLive(), 192);
}

TEST(Places, FindsOverlapsAndMisalignment) {
  PlaceProblem problem{{{64, 0, 2}, {64, 1, 3}}, 64};
  EXPECT_EQ(problem.verify({0, 0}), "buffers 0 and 1 overlap while both live");
  EXPECT_EQ(problem.verify({0, 32}), "offset of buffer 1 is not aligned");
  EXPECT_EQ(problem.verify({0}), "expected an offset for each buffer");
  EXPECT_EQ(problem.verify({0, -64}), "offset of buffer 1 is not aligned");
  EXPECT_EQ(problem.verify({0, 64}), "");
  // What has no bytes or no life is nowhere.
  EXPECT_EQ((PlaceProblem{{{64, 0, 2}, {0, 0, 2}}, 64}).verify({0, 0}), "");
  EXPECT_EQ((PlaceProblem{{{64, 0, 2}, {64, 1, 1}}, 64}).verify({0, 0}), "");
  EXPECT_EQ((PlaceProblem{{{64, 0, 2}, {64, 2, 3}}, 64}).verify({0, 0}), "");
  EXPECT_EQ((PlaceProblem{{{64, 0, 2}, {64, 1, 1}}, 64}).getMaxLive(), 64);
  const char *fault = "buffer 1 has a negative size or lifetime";
  auto check = [](int64_t bytes, int64_t begin, int64_t end, int64_t align) {
    return PlaceProblem{{{0, 0, 0}, {bytes, begin, end}}, align}.check();
  };
  EXPECT_EQ(check(0, 3, 3, 1), "");
  EXPECT_EQ(check(-1, 0, 1, 64), fault);
  EXPECT_EQ(check(1, 1, 0, 64), fault);
  EXPECT_EQ(check(1, 0, 1, 0), "expected an alignment of at least 1");
}

/// A few buffers, some of no bytes or no life.
static PlaceProblem makeSmall(std::mt19937_64 &random) {
  PlaceProblem problem;
  problem.alignment = 1 + static_cast<int64_t>(random() % 2) * 3;
  for (uint64_t i = 0, count = random() % 6; i < count; ++i) {
    auto begin = static_cast<int64_t>(random() % 5);
    problem.buffers.push_back({static_cast<int64_t>(random() % 9), begin,
                               begin + static_cast<int64_t>(random() % 4)});
  }
  return problem;
}

static bool isPresent(const PlaceProblem::Buffer &buffer) {
  return buffer.bytes > 0 && buffer.begin < buffer.end;
}

/// Whether some byte is taken twice at some time, from the definition.
static bool overlaps(const PlaceProblem &problem,
                     const std::vector<int64_t> &offsets) {
  std::set<std::pair<int64_t, int64_t>> taken;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const PlaceProblem::Buffer &buffer = problem.buffers[i];
    for (int64_t time = buffer.begin; time < buffer.end; ++time)
      for (int64_t byte = 0; byte < buffer.bytes; ++byte)
        if (!taken.insert({time, offsets[i] + byte}).second)
          return true;
  }
  return false;
}

TEST(Places, OverlapsAreThoseOfTheDefinition) {
  std::mt19937_64 random(3);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    PlaceProblem problem = makeSmall(random);
    ASSERT_EQ(problem.check(), "");
    std::vector<int64_t> offsets;
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      offsets.push_back(static_cast<int64_t>(random() % 4) * problem.alignment);
    bool isFaulty = overlaps(problem, offsets);
    EXPECT_EQ(!problem.verify(offsets).empty(), isFaulty) << "round " << round;
    found += isFaulty;
  }
  EXPECT_GT(found, 500);
  EXPECT_LT(found, 2500);
}

/// The least size of all places at multiples of the alignment.
static int64_t findLeastSize(const PlaceProblem &problem,
                             std::vector<int64_t> &offsets, int64_t bound) {
  if (offsets.size() == problem.buffers.size())
    return 0;
  const PlaceProblem::Buffer &buffer = problem.buffers[offsets.size()];
  int64_t step = problem.alignment;
  int64_t bytes =
      isPresent(buffer) ? (buffer.bytes + step - 1) / step * step : 0;
  int64_t best = bound;
  for (int64_t at = 0; at + bytes < best && (at == 0 || bytes); at += step) {
    offsets.push_back(at);
    PlaceProblem part = problem;
    part.buffers.resize(offsets.size());
    if (!overlaps(part, offsets))
      best = std::min(
          best, std::max(at + bytes, findLeastSize(problem, offsets, best)));
    offsets.pop_back();
  }
  return best;
}

TEST(Places, FewBuffersTakeTheLeastSize) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    PlaceProblem problem = makeSmall(random);
    std::vector<int64_t> offsets = assignPlaces(problem);
    ASSERT_EQ(problem.verify(offsets), "") << "round " << round;
    int64_t size = 0, sum = 0;
    std::vector<int64_t> live(10);
    for (size_t i = 0; i < offsets.size(); ++i) {
      const PlaceProblem::Buffer &buffer = problem.buffers[i];
      int64_t step = problem.alignment;
      int64_t bytes = (buffer.bytes + step - 1) / step * step;
      if (!isPresent(buffer)) {
        EXPECT_EQ(offsets[i], 0) << "round " << round;
        continue;
      }
      size = std::max(size, offsets[i] + bytes);
      sum += bytes;
      for (int64_t time = buffer.begin; time < buffer.end; ++time)
        live[time] += bytes;
    }
    EXPECT_EQ(problem.getMaxLive(), *std::max_element(live.begin(), live.end()))
        << "round " << round;
    std::vector<int64_t> tried;
    EXPECT_EQ(size, findLeastSize(problem, tried, sum + 1))
        << "round " << round;
  }
}

/// A stack of blocks as in a model: short-lived values within, a few long ones
/// across.
static PlaceProblem makeProblem(uint64_t seed) {
  std::mt19937_64 random(seed);
  PlaceProblem problem;
  auto count = static_cast<int64_t>(20 + random() % 200);
  for (int64_t i = 0; i < count; ++i) {
    int64_t length = random() % 8 == 0 ? random() % count : 1 + random() % 5;
    int64_t bytes = int64_t(64) << (random() % 8);
    if (random() % 4 == 0)
      bytes = 1 + random() % 10000;
    problem.buffers.push_back({bytes, i, i + 1 + length});
  }
  return problem;
}

TEST(Places, StaysNearTheMostThatLives) {
  double worst = 1, sum = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    PlaceProblem problem = makeProblem(seed);
    ASSERT_EQ(problem.check(), "");
    std::vector<int64_t> offsets = assignPlaces(problem);
    ASSERT_EQ(problem.verify(offsets), "") << "seed " << seed;
    double ratio = double(problem.getSize(offsets)) / problem.getMaxLive();
    worst = std::max(worst, ratio);
    sum += ratio;
    ASSERT_EQ(offsets, assignPlaces(problem)) << "seed " << seed;
  }
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("mean", std::to_string(sum / 200));
  EXPECT_LE(worst, 1.08);
  EXPECT_LE(sum / 200, 1.02);
}

/// All gradients of a model live until the last one is known, with what makes
/// them and what is made of them before and after.
TEST(Places, PlacesManyThatLiveAtOnce) {
  std::mt19937_64 random(1);
  PlaceProblem problem;
  constexpr int64_t count = 3000;
  for (int64_t i = 0; i < count; ++i) {
    int64_t bytes = int64_t(64) << (random() % 6);
    problem.buffers.push_back({bytes, 2 * i, 2 * count + 2 * i});
    problem.buffers.push_back({2 * bytes, 2 * i - (i > 0), 2 * i + 1});
    problem.buffers.push_back(
        {bytes, 2 * count + 2 * i, 2 * count + 2 * i + 2});
  }
  std::vector<int64_t> offsets = assignPlaces(problem);
  EXPECT_EQ(problem.verify(offsets), "");
  double ratio = double(problem.getSize(offsets)) / problem.getMaxLive();
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(ratio, 1.08);
}
