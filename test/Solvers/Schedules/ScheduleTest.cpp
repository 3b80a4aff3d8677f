//===- ScheduleTest.cpp - Tables of (device, slot) -> cell ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated tables against closed forms; mutated tables against a second
// statement of what is legal, written over pairs of cells.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Solvers/Schedules/ScheduleCsv.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>
#include <sstream>

using namespace llmc;
using Cell = ScheduleCell;
using Kind = Cell::Kind;

namespace {

/// One chunk on each of `p` stages, `m` microbatches.
ScheduleProblem makeProblem(int64_t p, int64_t m) {
  ScheduleProblem problem;
  problem.numStages = p;
  problem.numMicrobatches = m;
  for (int64_t stage = 0; stage < p; ++stage)
    problem.stageOf.push_back(stage);
  return problem;
}

std::string print(const Schedule &schedule) {
  std::string text;
  for (const auto &row : schedule) {
    for (const Cell &cell : row)
      text += (&cell == &row.front() ? "" : " ") + cell.str();
    text += "\n";
  }
  return text;
}

Schedule parse(std::vector<std::string> rows) {
  Schedule schedule;
  for (const std::string &row : rows) {
    std::istringstream words(row);
    schedule.emplace_back();
    for (std::string word; words >> word;)
      schedule.back().push_back(*Cell::parse(word));
  }
  return schedule;
}

struct Placed {
  Cell cell;
  int64_t stage, slot;
};

/// Whether `a` must be over before `b` begins.
bool mustPrecede(const Cell &a, const Cell &b) {
  if (b.kind == Kind::Update)
    return a.hasMicrobatch();
  if (!a.hasMicrobatch() || !b.hasMicrobatch())
    return false;
  if (a.kind == b.kind && a.chunk == b.chunk && b.kind != Kind::Forward)
    return a.microbatch < b.microbatch;
  if (a.microbatch != b.microbatch)
    return false;
  if (a.kind == Kind::Forward && b.kind == Kind::Forward)
    return a.chunk + 1 == b.chunk;
  if (a.kind == Kind::Forward && b.kind == Kind::Backward)
    return a.chunk == b.chunk;
  return a.kind == Kind::Backward && b.kind == Kind::Backward &&
         a.chunk == b.chunk + 1;
}

/// The second statement: the right cells, once, at home, in order. An update
/// waits for the cells of its own stage.
bool isLegal(const ScheduleProblem &problem, const Schedule &schedule) {
  std::vector<Placed> cells;
  for (size_t stage = 0; stage < schedule.size(); ++stage)
    for (size_t slot = 0; slot < schedule[stage].size(); ++slot)
      if (schedule[stage][slot].kind != Kind::Idle)
        cells.push_back({schedule[stage][slot], int64_t(stage), int64_t(slot)});
  size_t chunks = problem.stageOf.size();
  if (cells.size() != 2 * chunks * problem.numMicrobatches + problem.numStages)
    return false;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Placed &a = cells[i];
    if (a.cell.hasMicrobatch() &&
        (a.cell.chunk >= int64_t(chunks) ||
         a.cell.microbatch >= problem.numMicrobatches ||
         problem.stageOf[a.cell.chunk] != a.stage))
      return false;
    for (size_t j = 0; j < cells.size(); ++j) {
      const Placed &b = cells[j];
      bool isUpdate = b.cell.kind == Kind::Update;
      if (i != j && a.cell == b.cell && (!isUpdate || a.stage == b.stage))
        return false;
      if (mustPrecede(a.cell, b.cell) && (!isUpdate || a.stage == b.stage) &&
          a.slot >= b.slot)
        return false;
    }
  }
  return true;
}

using Generator = Schedule (*)(const ScheduleProblem &);

/// Every table of a generator: legal, m forwards and m backwards on each stage,
/// and as long as the last stage's work between filling and draining.
void checkClosedForms(Generator generate, bool limitsMemory) {
  for (int64_t p : {1, 2, 4, 8})
    for (int64_t m = 1; m <= 32; ++m) {
      SCOPED_TRACE("p = " + std::to_string(p) + ", m = " + std::to_string(m));
      ScheduleProblem problem = makeProblem(p, m);
      Schedule schedule = generate(problem);
      ASSERT_EQ(checkSchedule(problem, schedule, true), "");
      ASSERT_TRUE(isLegal(problem, schedule));
      for (const auto &row : schedule) {
        // 2 m slots of work, p - 1 to fill, p - 1 to drain, one to update.
        ASSERT_EQ(int64_t(row.size()), 2 * m + 2 * (p - 1) + 1);
        ASSERT_EQ(row.back().kind, Kind::Update);
      }
      std::vector<int64_t> inFlight = getInFlight(problem, schedule);
      for (int64_t stage = 0; stage < p; ++stage)
        ASSERT_EQ(inFlight[stage], limitsMemory ? std::min(p - stage, m) : m)
            << "stage " << stage;
    }
}

TEST(Schedule, OneForwardOneBackwardHoldsAtMostTheStagesAfter) {
  checkClosedForms(schedule1F1B, true);
}

TEST(Schedule, GPipeHoldsAllMicrobatches) {
  checkClosedForms(scheduleGPipe, false);
}

TEST(Schedule, TablesAsInTheBooks) {
  ScheduleProblem problem = makeProblem(2, 2);
  EXPECT_EQ(print(schedule1F1B(problem)), "F0.0 F0.1 . B0.0 . B0.1 U\n"
                                          ". F1.0 B1.0 F1.1 B1.1 . U\n");
  EXPECT_EQ(print(scheduleGPipe(problem)), "F0.0 F0.1 . . B0.0 B0.1 U\n"
                                           ". F1.0 F1.1 B1.0 B1.1 . U\n");
  EXPECT_EQ(print(scheduleForward(problem)), "F0.0 F0.1 .\n. F1.0 F1.1\n");
  EXPECT_EQ(checkSchedule(problem, scheduleForward(problem), false), "");
}

TEST(Schedule, SeveralChunksOnAStage) {
  ScheduleProblem problem = makeProblem(2, 3);
  problem.stageOf = {0, 1, 0, 1};
  EXPECT_EQ(checkSchedule(problem, scheduleGPipe(problem), true), "");
  EXPECT_EQ(checkSchedule(problem, scheduleForward(problem), false), "");
}

/// v chunks on each of p stages.
ScheduleProblem makeInterleaved(int64_t p, int64_t v, int64_t m) {
  ScheduleProblem problem = makeProblem(p, m);
  problem.stageOf.clear();
  for (int64_t chunk = 0; chunk < v * p; ++chunk)
    problem.stageOf.push_back(getStageOfChunk(chunk, p));
  return problem;
}

/// The greatest number of forwards of a stage, over all its chunks, that wait
/// for their backward.
int64_t getMostWaiting(const std::vector<Cell> &row) {
  int64_t most = 0, now = 0;
  for (const Cell &cell : row) {
    now += cell.kind == Kind::Forward;
    most = std::max(most, now);
    now -= cell.kind == Kind::Backward;
  }
  return most;
}

// Section 2.2 of 2104.04473: 2 v m slots of work on each stage, p - 1 to fill
// and p - 1 to drain, each of a chunk, so 1/v of a stage without interleaving.
TEST(Schedule, InterleavedFillsAndDrainsInTheTimeOfAChunk) {
  for (int64_t p : {1, 2, 3, 4, 8})
    for (int64_t v : {1, 2, 3, 4})
      for (int64_t m = p; m <= 4 * p; m += p) {
        SCOPED_TRACE("p = " + std::to_string(p) + ", v = " + std::to_string(v) +
                     ", m = " + std::to_string(m));
        ScheduleProblem problem = makeInterleaved(p, v, m);
        Schedule schedule = scheduleInterleaved(problem);
        ASSERT_EQ(checkSchedule(problem, schedule, true), "");
        ASSERT_TRUE(isLegal(problem, schedule));
        for (int64_t stage = 0; stage < p; ++stage) {
          ASSERT_EQ(int64_t(schedule[stage].size()),
                    2 * v * m + 2 * (p - 1) + 1);
          int64_t ahead = 2 * (p - stage - 1) + (v - 1) * p;
          ASSERT_EQ(getMostWaiting(schedule[stage]),
                    std::min(ahead + 1, v * m));
        }
      }
}

TEST(Schedule, InterleavedGoesByRoundsOfTheStages) {
  ScheduleProblem problem = makeInterleaved(2, 2, 2);
  EXPECT_EQ(print(scheduleInterleaved(problem)),
            "F0.0 F0.1 F2.0 F2.1 . B2.0 . B2.1 B0.0 B0.1 U\n"
            ". F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 B1.0 B1.1 . U\n");
}

TEST(Schedule, Names) {
  Schedule schedule;
  for (std::string_view name : getScheduleNames()) {
    ASSERT_EQ(makeSchedule(name, makeProblem(2, 2), schedule), "");
    EXPECT_EQ(checkSchedule(makeProblem(2, 2), schedule, true), "");
  }
  EXPECT_EQ(makeSchedule("zigzag", makeProblem(2, 2), schedule),
            "expected a schedule out of 1f1b, gpipe, interleaved, got "
            "'zigzag'");
}

TEST(Schedule, GeneratorsSayWhatTheyExpect) {
  Schedule schedule;
  EXPECT_EQ(makeSchedule("1f1b", makeInterleaved(2, 2, 2), schedule),
            "expected one chunk on each stage for the schedule '1f1b', got 4 "
            "on 2 stages; 'interleaved' takes several");
  EXPECT_EQ(makeSchedule("interleaved", makeInterleaved(2, 2, 3), schedule),
            "expected a number of microbatches that the 2 stages divide for "
            "the schedule 'interleaved', got 3");
  ScheduleProblem uneven = makeInterleaved(2, 2, 2);
  uneven.stageOf.pop_back();
  EXPECT_EQ(makeSchedule("interleaved", uneven, schedule),
            "expected as many chunks on each stage for the schedule "
            "'interleaved', got 3 on 2 stages");
  EXPECT_EQ(makeSchedule("gpipe", uneven, schedule), "");
}

TEST(Schedule, ReasonsNameTheCell) {
  ScheduleProblem problem = makeProblem(2, 2);
  auto reason = [&](std::vector<std::string> rows) {
    return checkSchedule(problem, parse(std::move(rows)), true);
  };
  EXPECT_EQ(reason({"F0.0 B0.0 F0.1 B0.1 U"}), "expected 2 rows, got 1");
  EXPECT_EQ(reason({"F1.0 F0.1 . B0.0 . B0.1 U", ". F0.0 B1.0 F1.1 B1.1 . U"}),
            "cell F1.0 stands on stage 0, its chunk lives on stage 1");
  EXPECT_EQ(
      reason({"F0.0 F0.1 F0.1 B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"}),
      "cell F0.1 stands twice");
  EXPECT_EQ(reason({"F0.0 F0.2 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"}),
            "cell F0.2 names a chunk or microbatch that does not exist");
  EXPECT_EQ(reason({"F0.0 F0.1 . B0.0 . . U", ". F1.0 B1.0 F1.1 B1.1 . U"}),
            "cell B0.1 is missing");
  EXPECT_EQ(reason({"F0.0 F0.1 . B0.0 . B0.1 U", "F1.0 . B1.0 F1.1 B1.1 . U"}),
            "cell F1.0 stands before F0.0, on which it depends");
  EXPECT_EQ(reason({"F0.0 F0.1 B0.0 . . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"}),
            "cell B0.0 stands before B1.0, on which it depends");
  EXPECT_EQ(
      reason({"F0.0 F0.1 . . . B0.1 B0.0 U", ". F1.0 B1.0 F1.1 B1.1 . . U"}),
      "cell B0.1 stands before microbatch 0");
}

TEST(Schedule, CellsOutsideTheTableDoNotExist) {
  ScheduleProblem problem = makeProblem(2, 2);
  auto reason = [&](int32_t chunk, int32_t microbatch) {
    Schedule schedule =
        parse({"F0.0 F0.1 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"});
    schedule[1][3].chunk = chunk;
    schedule[1][3].microbatch = microbatch;
    return checkSchedule(problem, schedule, true);
  };
  std::string fault = " names a chunk or microbatch that does not exist";
  EXPECT_EQ(reason(1, 1), "");
  EXPECT_EQ(reason(-1, 1), "cell F-1.1" + fault);
  EXPECT_EQ(reason(2, 1), "cell F2.1" + fault);
  EXPECT_EQ(reason(1, -1), "cell F1.-1" + fault);
  EXPECT_EQ(reason(1, 2), "cell F1.2" + fault);
  EXPECT_EQ(reason(1, 0), "cell F1.0 stands twice");
}

TEST(Schedule, CellsAreWordsOfALetterAndTwoNumbers) {
  for (const char *word : {".", "U", "F0.0", "B12.3", "W1.2147483647"}) {
    std::optional<Cell> cell = Cell::parse(word);
    ASSERT_TRUE(cell) << word;
    EXPECT_EQ(cell->str(), word);
  }
  for (const char *word :
       {"", "X0.0", "F", "F0", "F.", "F.0", "F0.", "F0.0.0", "F-1.0", "F0.-1",
        "F0.1x", "F2147483648.0", "F0.2147483648", "U0", "U0.0", ".0"})
    EXPECT_FALSE(Cell::parse(word)) << word;
}

TEST(Schedule, WeightCellsFollowTheirBackwards) {
  ScheduleProblem problem = makeProblem(1, 2);
  auto reason = [&](std::string row) {
    return checkSchedule(problem, parse({std::move(row)}), true);
  };
  EXPECT_EQ(reason("F0.0 B0.0 W0.0 F0.1 B0.1 W0.1 U"), "");
  EXPECT_EQ(reason("F0.0 B0.0 F0.1 B0.1 W0.0 W0.1 U"), "");
  EXPECT_EQ(reason("F0.0 B0.0 F0.1 B0.1 W0.0 U"), "cell W0.1 is missing");
  EXPECT_EQ(reason("F0.0 W0.0 B0.0 F0.1 B0.1 W0.1 U"),
            "cell W0.0 stands before B0.0, on which it depends");
  EXPECT_EQ(reason("F0.0 B0.0 F0.1 B0.1 W0.1 W0.0 U"),
            "cell W0.1 stands before microbatch 0");
  EXPECT_EQ(reason("F0.0 B0.0 F0.1 B0.1 W0.0 W1.0 W0.1 U"),
            "cell W1.0 names a chunk or microbatch that does not exist");
  // Activations are there until the last of them has been read.
  auto inFlight = [&](std::string row) {
    return getInFlight(problem, parse({std::move(row)}))[0];
  };
  EXPECT_EQ(inFlight("F0.0 B0.0 F0.1 B0.1 U"), 1);
  EXPECT_EQ(inFlight("F0.0 B0.0 W0.0 F0.1 B0.1 W0.1 U"), 1);
  EXPECT_EQ(inFlight("F0.0 B0.0 F0.1 W0.0 B0.1 W0.1 U"), 2);
}

TEST(Schedule, UpdatesEndEachStage) {
  ScheduleProblem problem = makeProblem(1, 1);
  auto reason = [&](std::string row, bool hasBackward = true) {
    return checkSchedule(problem, parse({std::move(row)}), hasBackward);
  };
  EXPECT_EQ(reason("F0.0 B0.0 U"), "");
  EXPECT_EQ(reason("F0.0 B0.0"), "expected one update on stage 0, got 0");
  EXPECT_EQ(reason("F0.0 B0.0 U U"), "expected one update on stage 0, got 2");
  EXPECT_EQ(reason("F0.0 U B0.0"),
            "cell B0.0 stands after the update of stage 0");
  EXPECT_EQ(reason("F0.0 U", false), "expected no update on stage 0, got 1");
}

TEST(Schedule, EntriesHaveForwardsAlone) {
  ScheduleProblem problem = makeProblem(2, 1);
  auto reason = [&](std::vector<std::string> rows) {
    return checkSchedule(problem, parse(std::move(rows)), false);
  };
  std::string fault =
      "expected forwards alone where there is no backward, got cell ";
  EXPECT_EQ(reason({"F0.0 .", ". F1.0"}), "");
  EXPECT_EQ(reason({"F0.0 . .", ". F1.0 B1.0"}), fault + "B1.0");
  EXPECT_EQ(reason({"F0.0 . . B0.0", ". F1.0 B1.0 ."}), fault + "B0.0");
  EXPECT_EQ(reason({"F0.0 . W0.0", ". F1.0 ."}), fault + "W0.0");
}

/// One random change of a table.
void mutate(Schedule &schedule, std::mt19937 &engine) {
  auto pick = [&](size_t n) { return engine() % n; };
  size_t stage = pick(schedule.size()), slot = pick(schedule[0].size());
  Cell &cell = schedule[stage][slot];
  Cell &other = schedule[pick(schedule.size())][pick(schedule[0].size())];
  switch (pick(5)) {
  case 0:
    std::swap(cell, other);
    break;
  case 1:
    std::swap(cell, schedule[stage][pick(schedule[0].size())]);
    break;
  case 2:
    cell = Cell();
    break;
  case 3:
    other = cell;
    break;
  default:
    if (cell.hasMicrobatch())
      cell.microbatch = static_cast<int32_t>(pick(5));
  }
}

TEST(Schedule, MutationsAreRefusedExactlyWhenIllegal) {
  std::mt19937 engine(7);
  int numRefused = 0, numLegal = 0;
  for (Generator generate : {&schedule1F1B, &scheduleGPipe})
    for (int i = 0; i < 500; ++i) {
      ScheduleProblem problem = makeProblem(1 + i % 4, 1 + i % 5);
      Schedule schedule = generate(problem);
      mutate(schedule, engine);
      std::string reason = checkSchedule(problem, schedule, true);
      EXPECT_EQ(reason.empty(), isLegal(problem, schedule)) << reason << "\n"
                                                            << print(schedule);
      (reason.empty() ? numLegal : numRefused) += 1;
    }
  EXPECT_GT(numRefused, 300);
  EXPECT_GT(numLegal, 100);
}

TEST(ScheduleCsv, ReadsWhatItWrites) {
  for (int64_t p : {1, 2, 4})
    for (int64_t m : {1, 3, 8}) {
      Schedule schedule = schedule1F1B(makeProblem(p, m)), read;
      EXPECT_EQ(readScheduleCsv(writeScheduleCsv(schedule), read), "");
      EXPECT_EQ(print(read), print(schedule));
    }
}

TEST(ScheduleCsv, LeavesOutWhatIsIdle) {
  Schedule schedule;
  EXPECT_EQ(readScheduleCsv("# two stages\n\nF0.0, , , B0.0,U\r\n"
                            ",F1.0 , B1.0 # drained\n",
                            schedule),
            "");
  EXPECT_EQ(print(schedule), "F0.0 . . B0.0 U\n. F1.0 B1.0 . .\n");
}

TEST(ScheduleCsv, ReasonsNameThePlace) {
  Schedule schedule;
  auto reason = [&](std::string_view text) {
    return readScheduleCsv(text, schedule);
  };
  EXPECT_EQ(reason("F0.0,B0.0\n F0.0, G1.0,U\n"),
            "line 2, column 8: expected a cell such as F0.1, B0.1, W0.1, U or "
            "'.', got 'G1.0'");
  EXPECT_EQ(reason("# nothing\n"),
            "expected a line for each pipeline stage, got none");
}

/// A change of the text that leaves no legal table.
std::string breakText(const Schedule &legal, std::mt19937 &engine) {
  auto pick = [&](size_t n) { return engine() % n; };
  static const char *const broken[] = {"F0",   "0.0",       "F-1.0", "X0.0",
                                       "F9.9", "B0.0 F0.0", "U0.0"};
  while (true) {
    Schedule schedule = legal;
    size_t stage = pick(schedule.size()), slot = pick(schedule[0].size());
    Cell &cell = schedule[stage][slot];
    switch (pick(4)) {
    case 0: { // A word that is no cell, or names what there is not.
      std::string text;
      for (size_t s = 0; s < schedule.size(); ++s) {
        if (s == stage)
          text += std::string(broken[pick(7)]) + ",";
        text += writeScheduleCsv({schedule[s]});
      }
      return text;
    }
    case 1: // A cell is missing.
      if (cell.kind == Kind::Idle)
        continue;
      cell = Cell();
      break;
    case 2: // A cell stands twice, over another or over nothing.
      if (cell.kind == Kind::Idle)
        continue;
      schedule[stage][(slot + 1) % schedule[stage].size()] = cell;
      break;
    default: // A stage too few or too many.
      if (pick(2) && schedule.size() > 1)
        schedule.pop_back();
      else
        schedule.push_back(schedule.front());
    }
    return writeScheduleCsv(schedule);
  }
}

TEST(ScheduleCsv, AHundredBrokenTablesAreRefusedWithTheReason) {
  std::mt19937 engine(11);
  for (int i = 0; i < 100; ++i) {
    ScheduleProblem problem = makeProblem(1 + i % 4, 2 + i % 3);
    Schedule legal = i % 2 ? schedule1F1B(problem) : scheduleGPipe(problem);
    std::string text = breakText(legal, engine);
    Schedule schedule;
    std::string reason = readScheduleCsv(text, schedule);
    if (reason.empty())
      reason = checkSchedule(problem, schedule, true);
    EXPECT_TRUE(reason.find("expected") != std::string::npos ||
                reason.find("cell") != std::string::npos)
        << reason << "\n"
        << text;
  }
}

} // namespace
