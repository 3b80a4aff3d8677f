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
// Test: test/Analysis/StreamOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/StreamOrder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace llmc {

namespace {

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

private:
  int64_t slotOf(int32_t frame, int32_t call) const {
    return problem.walks[number][call].microbatch % problem.slots[frame];
  }
  int32_t programOf(const Item &item) const {
    return problem.walks[number][item.call].program;
  }
  void expand(const Cells &cells, const std::set<Place> &present);

  const StreamOrderProblem &problem;
  size_t number;
  std::vector<Item> items;
};

/// Last accesses of a slot of a buffer: items of each stream.
struct History {
  int32_t writer = -1;
  std::map<int32_t, int32_t> readers;
};

} // namespace

static void join(Clock &clock, const Clock &other) {
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

static int64_t slotOfCall(const StreamOrderProblem &problem, int32_t frame,
                          int64_t microbatch) {
  return microbatch % problem.slots[frame];
}

void Cells::number(const StreamOrderProblem &problem) {
  if (problem.places.empty()) {
    for (auto &[key, list] : cells)
      list.push_back(numCells++);
    return;
  }
  std::vector<int64_t> ends;
  auto rangeOf = [&](const std::pair<int32_t, int64_t> &key) {
    const StreamOrderProblem::Place &place = problem.places[key.first];
    int64_t begin = place.begin + key.second * place.stride;
    return std::pair(begin, begin + place.bytes);
  };
  for (const auto &[key, list] : cells) {
    auto [begin, end] = rangeOf(key);
    ends.push_back(begin);
    ends.push_back(end);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  auto numberOf = [&](int64_t end) {
    return static_cast<int32_t>(
        std::lower_bound(ends.begin(), ends.end(), end) - ends.begin());
  };
  for (auto &[key, list] : cells) {
    auto [begin, end] = rangeOf(key);
    for (int32_t cell = numberOf(begin); cell < numberOf(end); ++cell)
      list.push_back(cell);
  }
  numCells = static_cast<int32_t>(ends.size());
}

void Cells::findShared(const StreamOrderProblem &problem, size_t walk) {
  std::vector<int32_t> streamOf(numCells, -1);
  shared.assign(numCells, false);
  for (const auto &call : problem.walks[walk])
    for (const auto &instruction : problem.programs[call.program])
      for (const auto &access : instruction.accesses) {
        int64_t slot = slotOfCall(problem, problem.frameOf[access.buffer],
                                  call.microbatch);
        for (int32_t cell : get(access.buffer, slot)) {
          if (streamOf[cell] >= 0 && streamOf[cell] != instruction.stream)
            shared[cell] = true;
          streamOf[cell] = instruction.stream;
        }
      }
}

Cells::Cells(const StreamOrderProblem &problem, size_t walk) {
  for (const auto &call : problem.walks[walk])
    for (const auto &instruction : problem.programs[call.program])
      for (const auto &access : instruction.accesses)
        cells[{access.buffer,
               slotOfCall(problem, problem.frameOf[access.buffer],
                          call.microbatch)}];
  number(problem);
  findShared(problem, walk);
}

void Cells::findPresent(const StreamOrderProblem &problem, size_t walk,
                        std::set<Place> &present) const {
  for (const auto &call : problem.walks[walk]) {
    const auto &program = problem.programs[call.program];
    for (size_t i = 0; i < program.size(); ++i)
      for (const auto &access : program[i].accesses) {
        int64_t slot = slotOfCall(problem, problem.frameOf[access.buffer],
                                  call.microbatch);
        for (int32_t cell : get(access.buffer, slot))
          if (shared[cell])
            present.insert({call.program, static_cast<int32_t>(i)});
      }
  }
}

Walk::Walk(const StreamOrderProblem &problem, size_t number, const Cells &cells,
           const std::set<Place> &present)
    : problem(problem), number(number) {
  expand(cells, present);
}

void Walk::expand(const Cells &cells, const std::set<Place> &present) {
  std::vector<int32_t> counts(problem.numStreams, 0);
  std::map<int32_t, History> histories;
  const auto &calls = problem.walks[number];
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto &program = problem.programs[calls[call].program];
    for (size_t i = 0; i < program.size(); ++i) {
      if (!present.count({calls[call].program, static_cast<int32_t>(i)}))
        continue;
      Item item{static_cast<int32_t>(call),
                static_cast<int32_t>(i),
                program[i].stream,
                ++counts[program[i].stream],
                {}};
      auto index = static_cast<int32_t>(items.size());
      // Reads see the state before the instruction's own writes.
      for (bool writes : {false, true})
        for (const auto &access : program[i].accesses) {
          if (access.writes != writes)
            continue;
          int32_t frame = problem.frameOf[access.buffer];
          for (int32_t cell :
               cells.get(access.buffer, slotOf(frame, item.call))) {
            if (!cells.isShared(cell))
              continue;
            History &history = histories[cell];
            auto follow = [&](int32_t other) {
              if (other >= 0 && other != index &&
                  items[other].stream != item.stream)
                item.after.push_back({other, frame});
            };
            follow(history.writer);
            if (!writes) {
              history.readers[item.stream] = index;
              continue;
            }
            for (const auto &[stream, reader] : history.readers)
              follow(reader);
            history.readers.clear();
            history.writer = index;
          }
        }
      std::sort(item.after.begin(), item.after.end());
      item.after.erase(std::unique(item.after.begin(), item.after.end()),
                       item.after.end());
      items.push_back(std::move(item));
    }
  }
}

void Walk::collect(
    std::set<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>> &edges)
    const {
  std::vector<Clock> clocks(problem.numStreams, Clock(problem.numStreams, 0));
  std::vector<Clock> clockOf(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &item = items[i];
    Clock &clock = clocks[item.stream];
    // The latest first: what it knows may make the others superfluous.
    for (auto after = item.after.rbegin(); after != item.after.rend();
         ++after) {
      const Item &before = items[after->first];
      if (clock[before.stream] >= before.count)
        continue;
      join(clock, clockOf[after->first]);
      edges.insert({programOf(before), before.instruction, programOf(item),
                    item.instruction, after->second});
    }
    clock[item.stream] = item.count;
    clockOf[i] = clock;
  }
}

bool Walk::startsUnsignalled(const Edge &edge) const {
  std::set<int64_t> signalled;
  const auto &calls = problem.walks[number];
  for (size_t call = 0; call < calls.size(); ++call) {
    int64_t slot = slotOf(edge.frame, static_cast<int32_t>(call));
    bool isFrom = calls[call].program == edge.fromProgram;
    bool isTo = calls[call].program == edge.toProgram;
    bool isInside = isFrom && isTo && edge.fromInstruction < edge.toInstruction;
    if (isTo && !isInside && !signalled.count(slot))
      return true;
    if (isFrom)
      signalled.insert(slot);
  }
  return false;
}

std::string Walk::verify(const std::vector<Edge> &edges) const {
  using Event = std::tuple<int32_t, int64_t, int32_t>;
  std::map<Place, std::set<std::pair<int32_t, int32_t>>> signals, waits;
  for (const Edge &edge : edges) {
    signals[{edge.fromProgram, edge.fromInstruction}].insert(
        {edge.frame, edge.event});
    waits[{edge.toProgram, edge.toInstruction}].insert(
        {edge.frame, edge.event});
  }
  std::vector<Clock> clocks(problem.numStreams, Clock(problem.numStreams, 0));
  std::map<Event, Clock> latest;
  for (const Item &item : items) {
    Place place(programOf(item), item.instruction);
    Clock &clock = clocks[item.stream];
    if (auto found = waits.find(place); found != waits.end())
      for (auto [frame, event] : found->second) {
        auto signal = latest.find({frame, slotOf(frame, item.call), event});
        if (signal != latest.end())
          join(clock, signal->second);
        else if (event != 0)
          return "a wait has no signal before it";
      }
    for (auto [before, frame] : item.after)
      if (clock[items[before].stream] < items[before].count)
        return "instruction " + std::to_string(item.instruction) +
               " of program " + std::to_string(place.first) +
               " is not ordered after instruction " +
               std::to_string(items[before].instruction) + " of program " +
               std::to_string(programOf(items[before]));
    clock[item.stream] = item.count;
    if (auto found = signals.find(place); found != signals.end())
      for (auto [frame, event] : found->second)
        latest[{frame, slotOf(frame, item.call), event}] = clock;
  }
  return "";
}

/// The walks of what some walk needs to see, ends of `edges` included.
static std::vector<Walk> expandWalks(const StreamOrderProblem &problem,
                                     const std::vector<Edge> &edges = {}) {
  std::set<Place> present;
  for (const Edge &edge : edges) {
    present.insert({edge.fromProgram, edge.fromInstruction});
    present.insert({edge.toProgram, edge.toInstruction});
  }
  std::vector<Cells> cells;
  for (size_t i = 0; i < problem.walks.size(); ++i) {
    cells.emplace_back(problem, i);
    cells.back().findPresent(problem, i, present);
  }
  std::vector<Walk> walks;
  for (size_t i = 0; i < problem.walks.size(); ++i)
    walks.emplace_back(problem, i, cells[i], present);
  return walks;
}

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

/// Whether the program of `b` is first called behind that of `a`, or `b` stands
/// behind `a` in one program.
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

/// A slot is free behind one place: where its buffers are used last by one
/// stream, reuse waits for the last of these uses.
///
///   F: read tokens; ...; read targets    copy tokens, copy targets: both wait
///                                        for the read of targets
static std::string joinReuse(const StreamOrderProblem &problem,
                             const std::vector<Walk> &walks,
                             std::vector<Edge> &edges,
                             std::vector<StreamOrderResult::Join> &joins) {
  std::map<int32_t, Place> free;
  std::map<int32_t, std::set<int32_t>> streams;
  std::vector<bool> isReuse;
  for (const Edge &edge : edges) {
    isReuse.push_back(startsUnsignalled(walks, edge));
    if (!isReuse.back())
      continue;
    Place from(edge.fromProgram, edge.fromInstruction);
    streams[edge.frame].insert(
        problem.programs[from.first][from.second].stream);
    Place &last = free.insert({edge.frame, from}).first->second;
    if (isLater(problem, last, from))
      last = from;
  }
  for (const auto &[frame, set] : streams)
    if (set.size() > 1)
      joins.push_back({frame, free.at(frame).first, {set.begin(), set.end()}});
  if (!joins.empty())
    return "a slot of frame " + std::to_string(joins.front().frame) +
           " is free only after two instructions that are not ordered";
  for (size_t i = 0; i < edges.size(); ++i)
    if (isReuse[i])
      std::tie(edges[i].fromProgram, edges[i].fromInstruction) =
          free.at(edges[i].frame);
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

/// From the last to the first.
static void dropSuperfluous(const std::vector<Walk> &walks,
                            std::vector<Edge> &edges) {
  for (size_t i = edges.size(); i-- > 0;) {
    std::vector<Edge> fewer = edges;
    fewer.erase(fewer.begin() + i);
    if (verifyWalks(walks, fewer).empty())
      edges = std::move(fewer);
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
