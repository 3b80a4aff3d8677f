//===- FramePlaces.cpp - Offsets of frames in arenas ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FramePlaces.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/FramePlaces.h"
#include <algorithm>
#include <tuple>
#include <utility>

namespace llmc {

using Frame = FramePlaceProblem::Frame;
using Life = FramePlaceProblem::Life;

static bool isIn(const Frame &frame, int64_t arena) {
  return frame.arenas.empty() ||
         std::find(frame.arenas.begin(), frame.arenas.end(), arena) !=
             frame.arenas.end();
}

/// A bit for each call of a walk during which the frame holds something.
static std::vector<uint64_t> getBits(const Frame &frame, size_t walk,
                                     int64_t numCalls) {
  std::vector<uint64_t> bits((numCalls + 63) / 64, 0);
  const std::vector<int64_t> &calls = frame.calls[walk];
  if (calls.empty())
    return bits;
  auto set = [&](int64_t begin, int64_t end) {
    for (int64_t call = begin; call < end; ++call)
      bits[call / 64] |= uint64_t(1) << (call % 64);
  };
  if (frame.life == Life::OfWalk)
    set(0, numCalls);
  else if (frame.life == Life::BetweenCalls)
    set(calls.front(), calls.back() + 1);
  else
    for (int64_t call : calls)
      set(call, call + 1);
  return bits;
}

namespace {

/// The bits of all walks of each frame, one after the other.
struct Meetings {
  const FramePlaceProblem &problem;
  std::vector<std::vector<uint64_t>> bits;

  explicit Meetings(const FramePlaceProblem &problem) : problem(problem) {
    for (const Frame &frame : problem.frames) {
      bits.emplace_back();
      for (size_t walk = 0; walk < problem.walks.size(); ++walk)
        for (uint64_t word : getBits(frame, walk, problem.walks[walk]))
          bits.back().push_back(word);
    }
  }

  /// Whether the two hold something at once in one arena.
  bool mayMeet(size_t a, size_t b) const {
    const Frame &one = problem.frames[a], &other = problem.frames[b];
    bool shareArena = false;
    for (int64_t arena = 0; arena < problem.numArenas; ++arena)
      shareArena |= isIn(one, arena) && isIn(other, arena);
    if (!shareArena)
      return false;
    if (one.life == Life::Permanent || other.life == Life::Permanent)
      return true;
    for (size_t i = 0; i < bits[a].size(); ++i)
      if (bits[a][i] & bits[b][i])
        return true;
    return false;
  }
};

} // namespace

std::string FramePlaceProblem::check() const {
  auto fault = [](size_t frame, const char *text) {
    return "frame " + std::to_string(frame) + " " + text;
  };
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame &frame = frames[i];
    if (frame.bytes < 0)
      return fault(i, "has a negative size");
    for (int64_t arena : frame.arenas)
      if (arena < 0 || arena >= numArenas)
        return fault(i, "lies in an arena that is not there");
    if (frame.calls.size() != walks.size())
      return fault(i, "needs a list of calls for each walk");
    for (size_t walk = 0; walk < walks.size(); ++walk) {
      int64_t last = -1;
      for (int64_t call : frame.calls[walk]) {
        if (call <= last || call >= walks[walk])
          return fault(i, "has calls that do not ascend or are not there");
        last = call;
      }
    }
  }
  return "";
}

std::string
FramePlaceProblem::verify(const std::vector<int64_t> &offsets) const {
  if (offsets.size() != frames.size())
    return "expected an offset for each frame";
  Meetings meetings(*this);
  for (size_t i = 0; i < frames.size(); ++i) {
    if (offsets[i] < 0)
      return "offset of frame " + std::to_string(i) + " is negative";
    for (size_t k = 0; k < i; ++k)
      if (offsets[i] < offsets[k] + frames[k].bytes &&
          offsets[k] < offsets[i] + frames[i].bytes && meetings.mayMeet(i, k))
        return "frames " + std::to_string(k) + " and " + std::to_string(i) +
               " overlap while both hold something";
  }
  return "";
}

std::vector<int64_t>
FramePlaceProblem::getArenas(const std::vector<int64_t> &offsets) const {
  std::vector<int64_t> ends(numArenas, 0);
  for (size_t i = 0; i < frames.size(); ++i)
    for (int64_t arena = 0; arena < numArenas; ++arena)
      if (isIn(frames[i], arena))
        ends[arena] = std::max(ends[arena], offsets[i] + frames[i].bytes);
  return ends;
}

std::vector<int64_t> placeFrames(const FramePlaceProblem &problem) {
  Meetings meetings(problem);
  std::vector<size_t> order;
  for (size_t i = 0; i < problem.frames.size(); ++i)
    order.push_back(i);
  auto keyOf = [&](size_t i) {
    const Frame &frame = problem.frames[i];
    bool isPermanent = frame.life == Life::Permanent;
    return std::tuple(!isPermanent, !frame.arenas.empty(),
                      isPermanent ? 0 : -frame.bytes, i);
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return keyOf(a) < keyOf(b); });
  std::vector<int64_t> offsets(problem.frames.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    size_t frame = order[i];
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t k = 0; k < i; ++k)
      if (meetings.mayMeet(frame, order[k]))
        taken.push_back({offsets[order[k]],
                         offsets[order[k]] + problem.frames[order[k]].bytes});
    std::sort(taken.begin(), taken.end());
    for (auto [begin, end] : taken) {
      if (begin - offsets[frame] >= problem.frames[frame].bytes)
        break;
      offsets[frame] = std::max(offsets[frame], end);
    }
  }
  return offsets;
}

} // namespace llmc
