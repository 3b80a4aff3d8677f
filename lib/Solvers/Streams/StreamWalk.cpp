//===- StreamWalk.cpp - What a device runs, instruction by instruction ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Solvers/Streams/StreamOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "StreamWalk.h"

namespace llmc::streams {

namespace {

/// Last accesses of a slot of a buffer: items of each stream.
struct History {
  int32_t writer = -1;
  std::map<int32_t, int32_t> readers;
};

} // namespace

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

std::vector<Walk> expandWalks(const StreamOrderProblem &problem,
                              const std::vector<Edge> &edges) {
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

} // namespace llmc::streams
