//===- Schedule.cpp - Tables of (device, slot) -> cell --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generators give each stage its order of work; `layOut` puts the orders into
// slots of time, each cell as early as its dependencies allow.
//
// Test: test/Solvers/Schedules/ScheduleTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llmc;
using Cell = ScheduleCell;
using Kind = ScheduleCell::Kind;

namespace {
/// Slot in which each cell runs, or -1.
class Times {
public:
  int64_t get(Kind kind, int64_t chunk, int64_t microbatch) const {
    auto it = slots.find({static_cast<int>(kind), chunk, microbatch});
    return it == slots.end() ? -1 : it->second;
  }
  void set(const Cell &cell, int64_t slot) {
    slots[{static_cast<int>(cell.kind), cell.chunk, cell.microbatch}] = slot;
  }

private:
  std::map<std::tuple<int, int64_t, int64_t>, int64_t> slots;
};
} // namespace

/// What must have run before `cell`.
static std::vector<Cell> dependenciesOf(const Cell &cell, int64_t numChunks) {
  std::vector<Cell> needed;
  auto at = [&](Kind kind, int64_t chunk) {
    needed.push_back({kind, static_cast<int32_t>(chunk), cell.microbatch});
  };
  if (cell.kind == Kind::Forward && cell.chunk > 0)
    at(Kind::Forward, cell.chunk - 1);
  if (cell.kind == Kind::Backward) {
    at(Kind::Forward, cell.chunk);
    if (cell.chunk + 1 < numChunks && !isSeeded(Fault::backwardDoesNotWait))
      at(Kind::Backward, cell.chunk + 1);
  }
  if (cell.kind == Kind::BackwardWeight)
    at(Kind::Backward, cell.chunk);
  return needed;
}

/// Puts each stage's order into slots, as early as dependencies allow. An order
/// that cannot be reached leaves the rest out, which the check reports.
static Schedule layOut(const ScheduleProblem &problem,
                       const std::vector<std::vector<Cell>> &orders) {
  Schedule schedule(problem.numStages);
  std::vector<size_t> next(problem.numStages, 0);
  Times times;
  auto numChunks = static_cast<int64_t>(problem.stageOf.size());
  bool isMoving = true;
  for (int64_t slot = 0; isMoving; ++slot) {
    isMoving = false;
    std::vector<std::pair<int64_t, Cell>> run;
    for (int64_t stage = 0; stage < problem.numStages; ++stage) {
      if (next[stage] == orders[stage].size())
        continue;
      const Cell &cell = orders[stage][next[stage]];
      bool isReady = true;
      for (const Cell &needed : dependenciesOf(cell, numChunks))
        isReady &= times.get(needed.kind, needed.chunk, needed.microbatch) >= 0;
      if (isReady)
        run.push_back({stage, cell});
    }
    for (auto &row : schedule)
      row.emplace_back();
    for (auto &[stage, cell] : run) {
      schedule[stage].back() = cell;
      times.set(cell, slot);
      ++next[stage];
      isMoving = true;
    }
  }
  for (auto &row : schedule)
    row.pop_back();
  return schedule;
}

/// Appends a last slot in which every stage updates.
static Schedule withUpdate(Schedule schedule) {
  for (auto &row : schedule)
    row.push_back({Kind::Update, 0, 0});
  return schedule;
}

static Cell makeCell(Kind kind, int64_t chunk, int64_t microbatch) {
  return {kind, static_cast<int32_t>(chunk), static_cast<int32_t>(microbatch)};
}

const std::vector<std::string_view> &llmc::getScheduleNames() {
  static const std::vector<std::string_view> names = {"1f1b", "gpipe",
                                                      "interleaved"};
  return names;
}

Schedule llmc::scheduleGPipe(const ScheduleProblem &problem) {
  std::vector<std::vector<Cell>> orders(problem.numStages);
  for (size_t chunk = 0; chunk < problem.stageOf.size(); ++chunk)
    for (int64_t m = 0; m < problem.numMicrobatches; ++m)
      orders[problem.stageOf[chunk]].push_back(
          makeCell(Kind::Forward, chunk, m));
  for (auto chunk = static_cast<int64_t>(problem.stageOf.size()); chunk-- > 0;)
    for (int64_t m = 0; m < problem.numMicrobatches; ++m)
      orders[problem.stageOf[chunk]].push_back(
          makeCell(Kind::Backward, chunk, m));
  return withUpdate(layOut(problem, orders));
}

Schedule llmc::schedule1F1B(const ScheduleProblem &problem) {
  std::vector<std::vector<Cell>> orders(problem.numStages);
  int64_t m = problem.numMicrobatches;
  for (size_t chunk = 0; chunk < problem.stageOf.size(); ++chunk) {
    int64_t stage = problem.stageOf[chunk];
    int64_t ahead = std::min(problem.numStages - stage - 1, m);
    auto &order = orders[stage];
    for (int64_t i = 0; i < ahead; ++i)
      order.push_back(makeCell(Kind::Forward, chunk, i));
    for (int64_t i = 0; i < m; ++i) {
      if (ahead + i < m)
        order.push_back(makeCell(Kind::Forward, chunk, ahead + i));
      order.push_back(makeCell(Kind::Backward, chunk, i));
    }
  }
  return withUpdate(layOut(problem, orders));
}

Schedule llmc::scheduleForward(const ScheduleProblem &problem) {
  std::vector<std::vector<Cell>> orders(problem.numStages);
  for (size_t chunk = 0; chunk < problem.stageOf.size(); ++chunk)
    for (int64_t m = 0; m < problem.numMicrobatches; ++m)
      orders[problem.stageOf[chunk]].push_back(
          makeCell(Kind::Forward, chunk, m));
  return layOut(problem, orders);
}

Schedule llmc::scheduleInterleaved(const ScheduleProblem &problem) {
  int64_t p = problem.numStages, m = problem.numMicrobatches;
  int64_t v = static_cast<int64_t>(problem.stageOf.size()) / p, all = m * v;
  std::vector<std::vector<Cell>> orders(p);
  for (int64_t stage = 0; stage < p; ++stage) {
    // The k-th forward or backward of the stage: rounds of p microbatches, in
    // each all chunks in turn.
    auto cell = [&](Kind kind, int64_t k) {
      int64_t turn = k % (p * v) / p;
      int64_t chunk = kind == Kind::Forward ? turn : v - 1 - turn;
      return makeCell(kind, chunk * p + stage, k / (p * v) * p + k % p);
    };
    int64_t ahead = std::min(2 * (p - stage - 1) + (v - 1) * p, all);
    for (int64_t k = 0; k < ahead; ++k)
      orders[stage].push_back(cell(Kind::Forward, k));
    for (int64_t k = 0; k < all; ++k) {
      if (ahead + k < all)
        orders[stage].push_back(cell(Kind::Forward, ahead + k));
      orders[stage].push_back(cell(Kind::Backward, k));
    }
  }
  return withUpdate(layOut(problem, orders));
}

std::string llmc::makeSchedule(std::string_view name,
                               const ScheduleProblem &problem,
                               Schedule &schedule) {
  auto numChunks = static_cast<int64_t>(problem.stageOf.size());
  int64_t p = problem.numStages, m = problem.numMicrobatches;
  if (name == "gpipe") {
    schedule = scheduleGPipe(problem);
  } else if (name == "1f1b") {
    if (numChunks != p)
      return "expected one chunk on each stage for the schedule '1f1b', got " +
             std::to_string(numChunks) + " on " + std::to_string(p) +
             " stages; 'interleaved' takes several";
    schedule = schedule1F1B(problem);
  } else if (name == "interleaved") {
    if (numChunks % p)
      return "expected as many chunks on each stage for the schedule "
             "'interleaved', got " +
             std::to_string(numChunks) + " on " + std::to_string(p) + " stages";
    if (m % p)
      return "expected a number of microbatches that the " + std::to_string(p) +
             " stages divide for the schedule 'interleaved', got " +
             std::to_string(m);
    schedule = scheduleInterleaved(problem);
  } else {
    std::string names;
    for (std::string_view known : getScheduleNames())
      names += (names.empty() ? "" : ", ") + std::string(known);
    return "expected a schedule out of " + names + ", got '" +
           std::string(name) + "'";
  }
  return "";
}

/// Whether backward is cut into two cells.
static bool hasWeightCells(const Schedule &schedule) {
  for (const auto &row : schedule)
    for (const Cell &cell : row)
      if (cell.kind == Kind::BackwardWeight)
        return true;
  return false;
}

/// Fills `times`; the reason when a cell stands twice or on a foreign stage.
static std::string readTimes(const ScheduleProblem &problem,
                             const Schedule &schedule, Times &times) {
  for (size_t stage = 0; stage < schedule.size(); ++stage)
    for (size_t slot = 0; slot < schedule[stage].size(); ++slot) {
      const Cell &cell = schedule[stage][slot];
      if (!cell.hasMicrobatch())
        continue;
      if (cell.chunk < 0 ||
          cell.chunk >= static_cast<int64_t>(problem.stageOf.size()) ||
          cell.microbatch < 0 || cell.microbatch >= problem.numMicrobatches)
        return "cell " + cell.str() +
               " names a chunk or microbatch that does "
               "not exist";
      if (problem.stageOf[cell.chunk] != static_cast<int64_t>(stage))
        return "cell " + cell.str() + " stands on stage " +
               std::to_string(stage) + ", its chunk lives on stage " +
               std::to_string(problem.stageOf[cell.chunk]);
      if (times.get(cell.kind, cell.chunk, cell.microbatch) >= 0)
        return "cell " + cell.str() + " stands twice";
      times.set(cell, slot);
    }
  return "";
}

/// An entry without backward has forwards, and no other work on a microbatch.
static std::string checkForwardsAlone(const Schedule &schedule) {
  for (const auto &row : schedule)
    for (const Cell &cell : row)
      if (cell.hasMicrobatch() && cell.kind != Kind::Forward)
        return "expected forwards alone where there is no backward, got cell " +
               cell.str();
  return "";
}

/// A step ends with one update on each stage; an entry has none.
static std::string checkUpdates(const Schedule &schedule, bool hasBackward) {
  for (size_t stage = 0; stage < schedule.size(); ++stage) {
    const std::vector<Cell> &row = schedule[stage];
    int64_t count = std::count_if(row.begin(), row.end(), [](const Cell &cell) {
      return cell.kind == Kind::Update;
    });
    if (count != (hasBackward ? 1 : 0))
      return std::string("expected ") + (hasBackward ? "one" : "no") +
             " update on stage " + std::to_string(stage) + ", got " +
             std::to_string(count);
    bool isOver = false;
    for (const Cell &cell : row) {
      if (isOver && cell.hasMicrobatch())
        return "cell " + cell.str() + " stands after the update of stage " +
               std::to_string(stage);
      isOver |= cell.kind == Kind::Update;
    }
  }
  return "";
}

std::string llmc::checkSchedule(const ScheduleProblem &problem,
                                const Schedule &schedule, bool hasBackward) {
  if (static_cast<int64_t>(schedule.size()) != problem.numStages)
    return "expected " + std::to_string(problem.numStages) + " rows, got " +
           std::to_string(schedule.size());
  Times times;
  if (std::string reason = readTimes(problem, schedule, times); !reason.empty())
    return reason;
  if (!hasBackward)
    if (std::string reason = checkForwardsAlone(schedule); !reason.empty())
      return reason;
  auto numChunks = static_cast<int64_t>(problem.stageOf.size());
  std::vector<Kind> kinds = {Kind::Forward};
  if (hasBackward)
    kinds.push_back(Kind::Backward);
  if (hasWeightCells(schedule))
    kinds.push_back(Kind::BackwardWeight);
  for (Kind kind : kinds)
    for (int64_t chunk = 0; chunk < numChunks; ++chunk)
      for (int64_t m = 0; m < problem.numMicrobatches; ++m) {
        Cell cell = makeCell(kind, chunk, m);
        int64_t slot = times.get(kind, chunk, m);
        if (slot < 0)
          return "cell " + cell.str() + " is missing";
        for (const Cell &needed : dependenciesOf(cell, numChunks))
          if (times.get(needed.kind, needed.chunk, needed.microbatch) >= slot)
            return "cell " + cell.str() + " stands before " + needed.str() +
                   ", on which it depends";
        if (kind != Kind::Forward && m > 0 &&
            times.get(kind, chunk, m - 1) > slot)
          return "cell " + cell.str() + " stands before microbatch " +
                 std::to_string(m - 1);
      }
  return checkUpdates(schedule, hasBackward);
}

std::vector<int64_t> llmc::getInFlight(const ScheduleProblem &problem,
                                       const Schedule &schedule) {
  std::vector<rt::InFlight<int64_t>> chunks(problem.stageOf.size());
  for (const auto &row : schedule)
    for (size_t slot = 0; slot < row.size(); ++slot)
      if (row[slot].hasMicrobatch())
        chunks[row[slot].chunk].touch(row[slot].microbatch,
                                      static_cast<int64_t>(slot));
  std::vector<int64_t> most;
  for (const rt::InFlight<int64_t> &chunk : chunks)
    most.push_back(chunk.most());
  return most;
}
