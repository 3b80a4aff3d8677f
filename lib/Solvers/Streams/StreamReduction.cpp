//===- StreamReduction.cpp - Which waits are superfluous ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each run of a wait knows the run of the signal for which it waits, and each
// item its clock with all edges. Without an edge, clocks are the same up to its
// first wait; from there they are computed again until a conflict is unordered,
// which is soon where the edge is needed.
//
// Test: test/Solvers/Streams/StreamOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "StreamWalk.h"

namespace llmc::streams {

namespace {

/// The edges of one walk as pairs of items.
class WalkEdges {
public:
  WalkEdges(const Walk &walk, const std::vector<Edge> &edges);

  /// Whether all conflicts are ordered without `edge`; then it is dropped if
  /// `drop` is called.
  bool isOrderedWithout(int32_t edge);
  void drop(int32_t edge);

private:
  void findRuns(const std::vector<Edge> &edges);
  /// The clock of item `i` without `edge`; false when a conflict is unordered.
  bool advance(size_t i, int32_t edge, Clock &clock) const;
  const Clock &clockAt(int32_t item) const {
    return item >= first ? changed[item] : clocks[item];
  }

  const Walk &walk;
  /// The item before on the same stream, or -1.
  std::vector<int32_t> previous;
  /// Of each item: edges that wait there, and the items that signal.
  std::vector<std::vector<std::pair<int32_t, int32_t>>> waits;
  /// Of each edge: the first item that waits for a signal, or none (-1).
  std::vector<int32_t> firstWait;
  std::vector<bool> isDropped;
  std::vector<Clock> clocks, changed;
  int32_t first = 0;
};

} // namespace

WalkEdges::WalkEdges(const Walk &walk, const std::vector<Edge> &edges)
    : walk(walk), firstWait(edges.size(), -1), isDropped(edges.size(), false) {
  const std::vector<Item> &items = walk.getItems();
  std::vector<int32_t> last(walk.getProblem().numStreams, -1);
  for (size_t i = 0; i < items.size(); ++i) {
    previous.push_back(last[items[i].stream]);
    last[items[i].stream] = static_cast<int32_t>(i);
  }
  waits.resize(items.size());
  findRuns(edges);
  clocks.assign(items.size(), {});
  first = static_cast<int32_t>(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    advance(i, -1, clocks[i]);
  changed = clocks;
}

void WalkEdges::findRuns(const std::vector<Edge> &edges) {
  std::map<Place, std::vector<int32_t>> starts, ends;
  for (size_t e = 0; e < edges.size(); ++e) {
    starts[{edges[e].fromProgram, edges[e].fromInstruction}].push_back(e);
    ends[{edges[e].toProgram, edges[e].toInstruction}].push_back(e);
  }
  // Of each edge and slot, the latest signal.
  std::map<std::pair<int32_t, int64_t>, int32_t> latest;
  const std::vector<Item> &items = walk.getItems();
  for (size_t i = 0; i < items.size(); ++i) {
    Place place(walk.programOf(items[i]), items[i].instruction);
    auto slotOf = [&](int32_t edge) {
      return walk.slotOf(edges[edge].frame, items[i].call);
    };
    if (auto list = ends.find(place); list != ends.end())
      for (int32_t edge : list->second) {
        auto signal = latest.find({edge, slotOf(edge)});
        if (signal == latest.end())
          continue;
        waits[i].push_back({edge, signal->second});
        if (firstWait[edge] < 0)
          firstWait[edge] = static_cast<int32_t>(i);
      }
    if (auto list = starts.find(place); list != starts.end())
      for (int32_t edge : list->second)
        latest[{edge, slotOf(edge)}] = static_cast<int32_t>(i);
  }
}

bool WalkEdges::advance(size_t i, int32_t edge, Clock &clock) const {
  const std::vector<Item> &items = walk.getItems();
  if (previous[i] < 0)
    clock.assign(walk.getProblem().numStreams, 0);
  else
    clock = clockAt(previous[i]);
  for (auto [other, signal] : waits[i])
    if (other != edge && !isDropped[other])
      join(clock, clockAt(signal));
  for (auto [before, frame] : items[i].after)
    if (clock[items[before].stream] < items[before].count)
      return false;
  clock[items[i].stream] = items[i].count;
  return true;
}

bool WalkEdges::isOrderedWithout(int32_t edge) {
  first = firstWait[edge];
  if (first < 0)
    first = static_cast<int32_t>(clocks.size());
  for (size_t i = first; i < clocks.size(); ++i)
    if (!advance(i, edge, changed[i]))
      return false;
  return true;
}

/// The clocks of the last question stay.
void WalkEdges::drop(int32_t edge) {
  isDropped[edge] = true;
  for (size_t i = first; i < clocks.size(); ++i)
    clocks[i] = changed[i];
}

void dropSuperfluous(const std::vector<Walk> &walks, std::vector<Edge> &edges) {
  std::vector<WalkEdges> all;
  all.reserve(walks.size());
  for (const Walk &walk : walks)
    all.emplace_back(walk, edges);
  std::vector<bool> isNeeded(edges.size(), true);
  for (size_t e = edges.size(); e-- > 0;) {
    auto edge = static_cast<int32_t>(e);
    isNeeded[e] = !std::all_of(all.begin(), all.end(), [&](WalkEdges &each) {
      return each.isOrderedWithout(edge);
    });
    if (!isNeeded[e])
      for (WalkEdges &each : all)
        each.drop(edge);
  }
  std::vector<Edge> left;
  for (size_t e = 0; e < edges.size(); ++e)
    if (isNeeded[e])
      left.push_back(edges[e]);
  edges = std::move(left);
}

} // namespace llmc::streams
