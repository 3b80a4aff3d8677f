//===- StreamOrder.cpp - Reduced waits between streams --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walks are expanded, without what touches buffers of one stream alone.
// Going through them in order with vector clocks, an access that its stream
// does not know to be ordered needs an edge: this is the transitive reduction
// of each walk. Edges of the programs are the union over their runs; as an edge
// holds in every run, some may have become superfluous, and are dropped.
//
// Test: test/Solvers/Streams/StreamOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "StreamWalk.h"

#include <numeric>
#include <optional>

namespace llmc {

using namespace streams;

static std::string verifyWalks(const std::vector<Walk> &walks,
                               const std::vector<Edge> &edges) {
  for (const Walk &walk : walks)
    if (std::string error = walk.verify(edges); !error.empty())
      return error;
  return "";
}

std::string StreamOrderProblem::check() const {
  for (int64_t count : slots)
    if (count < 1)
      return "expected at least one slot";
  for (int32_t frame : frameOf)
    if (frame < 0 || frame >= static_cast<int32_t>(slots.size()))
      return "a buffer is in a frame that is not there";
  for (const Program &program : programs)
    for (const Instruction &instruction : program) {
      if (instruction.stream < 0 || instruction.stream >= numStreams)
        return "an instruction is on a stream that is not there";
      for (const Access &access : instruction.accesses)
        if (access.buffer < 0 ||
            access.buffer >= static_cast<int32_t>(frameOf.size()))
          return "an instruction touches a buffer that is not there";
    }
  for (const auto &walk : walks)
    for (const Call &call : walk)
      if (call.program < 0 || call.microbatch < 0 ||
          call.program >= static_cast<int32_t>(programs.size()))
        return "a walk calls a program that is not there";
  return "";
}

std::string StreamOrderProblem::verify(const StreamOrder &order) const {
  return verifyWalks(expandWalks(*this, order.edges), order.edges);
}

/// Whether the program of `b` is first called after that of `a`, or `b` stands
/// after `a` in one program.
static bool isLater(const StreamOrderProblem &problem, Place a, Place b) {
  if (a.first == b.first)
    return a.second < b.second;
  for (const auto &walk : problem.walks) {
    std::optional<size_t> first, second;
    for (size_t call = walk.size(); call-- > 0;) {
      if (walk[call].program == a.first)
        first = call;
      if (walk[call].program == b.first)
        second = call;
    }
    if (first && second)
      return *first < *second;
  }
  return false;
}

static bool startsUnsignalled(const std::vector<Walk> &walks,
                              const Edge &edge) {
  return std::any_of(walks.begin(), walks.end(), [&](const Walk &walk) {
    return walk.startsUnsignalled(edge);
  });
}

/// A number for each program, equal for those that run on one stage.
static std::vector<int32_t> findStages(const StreamOrderProblem &problem) {
  std::vector<int32_t> stages(problem.programs.size());
  std::iota(stages.begin(), stages.end(), 0);
  for (const auto &walk : problem.walks)
    for (const auto &call : walk) {
      int32_t old = stages[call.program], now = stages[walk.front().program];
      std::replace(stages.begin(), stages.end(), old, now);
    }
  return stages;
}

/// On each stage a slot is free after one place: where its buffers are used
/// last by one stream, reuse waits for the last of these uses.
///
///   F: read tokens; ...; read targets    copy tokens, copy targets: both wait
///                                        for the read of targets
static std::string joinReuse(const StreamOrderProblem &problem,
                             const std::vector<Walk> &walks,
                             std::vector<Edge> &edges,
                             std::vector<StreamOrderResult::Join> &joins) {
  using Key = std::pair<int32_t, int32_t>;
  std::vector<int32_t> stages = findStages(problem);
  auto keyOf = [&](const Edge &edge) {
    return Key(edge.frame, stages[edge.toProgram]);
  };
  std::map<Key, Place> free;
  std::map<Key, std::set<int32_t>> streams;
  std::vector<bool> isReuse;
  for (const Edge &edge : edges) {
    isReuse.push_back(startsUnsignalled(walks, edge));
    if (!isReuse.back())
      continue;
    Place from(edge.fromProgram, edge.fromInstruction);
    streams[keyOf(edge)].insert(
        problem.programs[from.first][from.second].stream);
    Place &last = free.insert({keyOf(edge), from}).first->second;
    if (isLater(problem, last, from))
      last = from;
  }
  for (const auto &[key, set] : streams)
    if (set.size() > 1)
      joins.push_back(
          {key.first, free.at(key).first, {set.begin(), set.end()}});
  if (!joins.empty())
    return "a slot of frame " + std::to_string(joins.front().frame) +
           " is free only after two instructions that are not ordered";
  for (size_t i = 0; i < edges.size(); ++i)
    if (isReuse[i])
      std::tie(edges[i].fromProgram, edges[i].fromInstruction) =
          free.at(keyOf(edges[i]));
  return "";
}

/// Numbers the events: `free` where the first runs have no signal, else one
/// for each place that signals in a frame.
static void nameEvents(const std::vector<Walk> &walks, StreamOrder &order) {
  std::map<std::tuple<int32_t, int32_t, int32_t>, int32_t> events;
  for (Edge &edge : order.edges) {
    edge.event = 0;
    if (startsUnsignalled(walks, edge))
      continue;
    int32_t &numEvents = order.numEvents[edge.frame];
    auto [event, isNew] = events.insert(
        {{edge.frame, edge.fromProgram, edge.fromInstruction}, numEvents});
    numEvents += isNew;
    edge.event = event->second;
  }
}

StreamOrderResult reduceWaits(const StreamOrderProblem &problem) {
  StreamOrderResult result;
  std::vector<Walk> walks = expandWalks(problem);
  std::set<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>> needed;
  for (const Walk &walk : walks)
    walk.collect(needed);
  StreamOrder &order = result.order;
  for (auto [fromProgram, from, toProgram, to, frame] : needed)
    order.edges.push_back({fromProgram, from, toProgram, to, frame, 0});
  auto number = [&]() {
    order.numEvents.assign(problem.slots.size(), 1);
    nameEvents(walks, order);
    result.error = verifyWalks(walks, order.edges);
  };
  result.error = joinReuse(problem, walks, order.edges, result.joins);
  if (!result.error.empty())
    return result;
  number();
  if (!result.error.empty())
    return result;
  dropSuperfluous(walks, order.edges);
  number();
  return result;
}

StreamOrder pruneWaits(const StreamOrderProblem &problem, StreamOrder order) {
  dropSuperfluous(expandWalks(problem, order.edges), order.edges);
  return order;
}

} // namespace llmc
