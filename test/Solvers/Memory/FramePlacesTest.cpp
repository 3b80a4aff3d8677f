//===- FramePlacesTest.cpp - Tests of offsets of frames -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/FramePlaces.h"
#include "gtest/gtest.h"
#include <random>

using namespace llmc;
using Life = FramePlaceProblem::Life;

namespace {

/// The example of FramePlaces.h, in frames of 64 bytes.
FramePlaceProblem makeExampleFrames() {
  return {{{64, Life::OfCall, {}, {{0, 4}}},
           {64, Life::BetweenCalls, {}, {{1, 3}}},
           {64, Life::OfWalk, {}, {{2}}}},
          1,
          {5}};
}

TEST(FramePlaces, SharesBytesOfFramesThatNeverMeet) {
  FramePlaceProblem problem = makeExampleFrames();
  EXPECT_EQ(problem.check(), "");
  std::vector<int64_t> offsets = placeFrames(problem);
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 0, 64}));
  EXPECT_EQ(problem.verify(offsets), "");
  EXPECT_EQ(problem.getArenas(offsets), std::vector<int64_t>{128});
}

TEST(FramePlaces, FindsOverlaps) {
  FramePlaceProblem problem = makeExampleFrames();
  EXPECT_EQ(problem.verify({0, 0}), "expected an offset for each frame");
  EXPECT_EQ(problem.verify({0, 0, -64}), "offset of frame 2 is negative");
  EXPECT_EQ(problem.verify({0, 64, 0}),
            "frames 0 and 2 overlap while both hold something");
  EXPECT_EQ(problem.verify({64, 0, 63}),
            "frames 0 and 2 overlap while both hold something");
  // What is there from call 1 to 3 is there in call 2.
  problem.frames[0].calls = {{2}};
  EXPECT_EQ(problem.verify({0, 0, 64}),
            "frames 0 and 1 overlap while both hold something");
}

TEST(FramePlaces, FindsFaultsOfProblems) {
  auto check = [](FramePlaceProblem::Frame frame) {
    return FramePlaceProblem{{std::move(frame)}, 2, {3}}.check();
  };
  EXPECT_EQ(check({0, Life::OfCall, {0, 1}, {{0, 2}}}), "");
  EXPECT_EQ(check({-1, Life::OfCall, {}, {{}}}), "frame 0 has a negative size");
  EXPECT_EQ(check({1, Life::OfCall, {2}, {{}}}),
            "frame 0 lies in an arena that is not there");
  EXPECT_EQ(check({1, Life::OfCall, {-1}, {{}}}),
            "frame 0 lies in an arena that is not there");
  EXPECT_EQ(check({1, Life::OfCall, {}, {}}),
            "frame 0 needs a list of calls for each walk");
  const char *fault = "frame 0 has calls that do not ascend or are not there";
  EXPECT_EQ(check({1, Life::OfCall, {}, {{1, 1}}}), fault);
  EXPECT_EQ(check({1, Life::OfCall, {}, {{3}}}), fault);
  EXPECT_EQ(check({1, Life::OfCall, {}, {{-1}}}), fault);
}

TEST(FramePlaces, PermanentFramesComeFirstAndMeetAll) {
  FramePlaceProblem problem{
      {{256, Life::OfCall, {}, {{0}}}, {64, Life::Permanent, {}, {{}}}},
      1,
      {1}};
  std::vector<int64_t> offsets = placeFrames(problem);
  EXPECT_EQ(offsets, (std::vector<int64_t>{64, 0}));
  EXPECT_NE(problem.verify({0, 0}), "");
}

TEST(FramePlaces, FramesOfSeveralArenasAreApart) {
  FramePlaceProblem problem{{{64, Life::OfWalk, {0}, {{0}, {}}},
                             {128, Life::OfWalk, {1}, {{}, {0}}},
                             {32, Life::OfWalk, {}, {{0}, {0}}}},
                            2,
                            {1, 1}};
  std::vector<int64_t> offsets = placeFrames(problem);
  EXPECT_EQ(offsets, (std::vector<int64_t>{32, 32, 0}))
      << "what both arenas have is placed first";
  EXPECT_EQ(problem.getArenas(offsets), (std::vector<int64_t>{96, 160}));
  EXPECT_EQ(problem.verify({0, 0, 128}), "");
}

TEST(FramePlaces, FramesWithoutACommonArenaNeverMeet) {
  FramePlaceProblem problem{
      {{64, Life::Permanent, {0}, {}}, {64, Life::Permanent, {1}, {}}}, 2, {}};
  EXPECT_EQ(placeFrames(problem), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(problem.verify({0, 0}), "");
}

TEST(FramePlaces, TheLargestIsPlacedFirst) {
  FramePlaceProblem problem{
      {{64, Life::OfCall, {}, {{0}}}, {128, Life::OfCall, {}, {{0}}}}, 1, {1}};
  EXPECT_EQ(placeFrames(problem), (std::vector<int64_t>{128, 0}));
}

TEST(FramePlaces, WalksAreApart) {
  FramePlaceProblem problem{
      {{64, Life::OfWalk, {}, {{0}, {}}}, {64, Life::OfWalk, {}, {{}, {0}}}},
      1,
      {1, 1}};
  EXPECT_EQ(placeFrames(problem), (std::vector<int64_t>{0, 0}));
}

/// Frames of all kinds, in up to 3 arenas and walks of up to 100 calls.
FramePlaceProblem makeProblem(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  };
  FramePlaceProblem problem;
  problem.numArenas = 1 + below(3);
  for (int64_t i = 1 + below(4); i > 0; --i)
    problem.walks.push_back(1 + below(100));
  for (int64_t i = 1 + below(30); i > 0; --i) {
    FramePlaceProblem::Frame frame;
    frame.bytes = 64 * below(20);
    frame.life = Life(below(4));
    for (int64_t arena = 0; arena < problem.numArenas; ++arena)
      if (below(3) == 0)
        frame.arenas.push_back(arena);
    for (int64_t calls : problem.walks) {
      frame.calls.emplace_back();
      for (int64_t call = 0; call < calls; ++call)
        if (below(20) == 0)
          frame.calls.back().push_back(call);
    }
    problem.frames.push_back(std::move(frame));
  }
  return problem;
}

/// The bytes of the frames that hold something during a call, at most.
int64_t getMaxLive(const FramePlaceProblem &problem, int64_t arena) {
  int64_t most = 0;
  for (size_t walk = 0; walk < problem.walks.size(); ++walk)
    for (int64_t call = 0; call < problem.walks[walk]; ++call) {
      int64_t live = 0;
      for (const FramePlaceProblem::Frame &frame : problem.frames) {
        const std::vector<int64_t> &calls = frame.calls[walk];
        bool isHere = frame.arenas.empty();
        for (int64_t each : frame.arenas)
          isHere |= each == arena;
        bool uses = false;
        for (int64_t each : calls)
          uses |= each == call;
        bool between =
            !calls.empty() && calls.front() <= call && call <= calls.back();
        bool holds = frame.life == Life::Permanent ||
                     (frame.life == Life::OfWalk && !calls.empty()) ||
                     (frame.life == Life::BetweenCalls && between) || uses;
        live += isHere && holds ? frame.bytes : 0;
      }
      most = std::max(most, live);
    }
  return most;
}

TEST(FramePlaces, IsLegalAndWithinTheSum) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    FramePlaceProblem problem = makeProblem(seed);
    ASSERT_EQ(problem.check(), "") << seed;
    std::vector<int64_t> offsets = placeFrames(problem);
    ASSERT_EQ(problem.verify(offsets), "") << seed;
    int64_t sum = 0;
    for (const FramePlaceProblem::Frame &frame : problem.frames)
      sum += frame.bytes;
    std::vector<int64_t> arenas = problem.getArenas(offsets);
    for (int64_t arena = 0; arena < problem.numArenas; ++arena) {
      EXPECT_LE(arenas[arena], sum) << seed;
      EXPECT_GE(arenas[arena], getMaxLive(problem, arena)) << seed;
    }
  }
}

} // namespace
