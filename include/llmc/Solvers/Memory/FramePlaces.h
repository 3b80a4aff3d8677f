//===- FramePlaces.h - Offsets of frames in arenas --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame holds what several calls of a walk use, and has one offset in all
// arenas in which it lies (one for each stage). Frames may share bytes unless
// they hold something during one call of some walk.
//
//   calls of a walk      0 1 2 3 4
//   A, for each call     x . . . x      B may lie on A
//   B, from first to     . x = x .      C meets both
//   last; C, always      = = x = =
//
// Test: test/Solvers/Memory/FramePlacesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_MEMORY_FRAMEPLACES_H
#define LLMC_SOLVERS_MEMORY_FRAMEPLACES_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct FramePlaceProblem {
  /// How long what a call leaves in a frame is there.
  enum class Life {
    /// During the calls that use the frame.
    OfCall,
    /// From the first of these in a walk to the last.
    BetweenCalls,
    /// In all of a walk that uses the frame.
    OfWalk,
    /// Forever.
    Permanent,
  };
  struct Frame {
    int64_t bytes = 0;
    Life life = Life::OfCall;
    /// Empty: all.
    std::vector<int64_t> arenas;
    /// For each walk the calls that use the frame, ascending.
    std::vector<std::vector<int64_t>> calls;
  };
  std::vector<Frame> frames;
  int64_t numArenas = 1;
  /// The number of calls of each walk.
  std::vector<int64_t> walks;

  std::string check() const;
  /// Empty when there is an offset of at least 0 for each frame, and frames
  /// that hold something at once in one arena are apart.
  std::string verify(const std::vector<int64_t> &offsets) const;
  /// The end of the last frame in each arena.
  std::vector<int64_t> getArenas(const std::vector<int64_t> &offsets) const;
};

/// Permanent frames first, then what all arenas have, since its one offset is
/// free in all of them, then the largest; each at the least offset where it
/// meets nothing. Assumes a checked problem; the same problem gives the same
/// offsets.
std::vector<int64_t> placeFrames(const FramePlaceProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_MEMORY_FRAMEPLACES_H
