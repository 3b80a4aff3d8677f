//===- StreamWalk.h - What a device runs, instruction by instruction ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walks of a StreamOrderProblem with their conflicts: for each instruction
// the ones of other streams that must come before it. Instructions that touch
// only what one stream touches are left out.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_STREAMWALK_H
#define LLMC_LIB_ANALYSIS_STREAMWALK_H

#include "llmc/Solvers/Streams/StreamOrder.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace llmc::streams {

using Clock = std::vector<int32_t>;
using Edge = StreamOrder::Edge;
/// Program and instruction.
using Place = std::pair<int32_t, int32_t>;

/// An instruction in a walk.
struct Item {
  int32_t call;
  int32_t instruction;
  int32_t stream;
  /// In its stream, from 1.
  int32_t count;
  /// Items of other streams that must come before, with the buffer's frame.
  std::vector<std::pair<int32_t, int32_t>> after;
};

/// What accesses meet in: a buffer's slot, or where buffers have places, the
/// bytes between two ends of slots.
class Cells {
public:
  Cells(const StreamOrderProblem &problem, size_t walk);

  const std::vector<int32_t> &get(int32_t buffer, int64_t slot) const {
    return cells.find({buffer, slot})->second;
  }
  /// Several streams touch it.
  bool isShared(int32_t cell) const { return shared[cell]; }
  /// Adds the instructions that touch what several streams touch.
  void findPresent(const StreamOrderProblem &problem, size_t walk,
                   std::set<Place> &present) const;

private:
  void number(const StreamOrderProblem &problem);
  void findShared(const StreamOrderProblem &problem, size_t walk);

  std::map<std::pair<int32_t, int64_t>, std::vector<int32_t>> cells;
  std::vector<bool> shared;
  int32_t numCells = 0;
};

/// The items of one walk that touch what several streams touch.
class Walk {
public:
  Walk(const StreamOrderProblem &problem, size_t number, const Cells &cells,
       const std::set<Place> &present);

  /// Adds what some run needs to `edges` (events are not yet set).
  void collect(std::set<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>>
                   &edges) const;
  /// Whether a run of the edge's end has no run of its start before it.
  bool startsUnsignalled(const Edge &edge) const;
  /// The first unordered conflict or missing signal, or "".
  std::string verify(const std::vector<Edge> &edges) const;

  const std::vector<Item> &getItems() const { return items; }
  int32_t programOf(const Item &item) const {
    return problem.walks[number][item.call].program;
  }
  int64_t slotOf(int32_t frame, int32_t call) const {
    return problem.walks[number][call].microbatch % problem.slots[frame];
  }
  const StreamOrderProblem &getProblem() const { return problem; }

private:
  void expand(const Cells &cells, const std::set<Place> &present);

  const StreamOrderProblem &problem;
  size_t number;
  std::vector<Item> items;
};

inline void join(Clock &clock, const Clock &other) {
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

/// The walks of what some walk needs to see, ends of `edges` included.
std::vector<Walk> expandWalks(const StreamOrderProblem &problem,
                              const std::vector<Edge> &edges = {});

/// Drops edges that are superfluous, one after the other, from the last to the
/// first. All of them together order the walks.
void dropSuperfluous(const std::vector<Walk> &walks, std::vector<Edge> &edges);

} // namespace llmc::streams

#endif // LLMC_LIB_ANALYSIS_STREAMWALK_H
