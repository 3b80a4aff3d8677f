//===- PlanVerifyTableTest.cpp - Schedule tables --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

static void breakIn(Plan &plan, void (*breakIt)(Plan &plan, Entry &entry)) {
  breakIt(plan, plan.entries[0]);
}

#define EXPECT_REFUSED(text, ...)                                              \
  EXPECT_MISMATCH(text, verifyBroken([](Plan &plan) {                          \
                    breakIn(plan, [](Plan & plan, Entry & entry) __VA_ARGS__); \
                  }))

// Cell (row, stage) is table[2 * row + stage].
TEST(PlanVerifyTable, MissingAndDoubleCells) {
  EXPECT_REFUSED("forward of chunk 0 lacks microbatch 2",
                 { entry.table[8] = Cell(); });
  EXPECT_REFUSED("backward of chunk 1 lacks microbatch 0",
                 { entry.table[5] = Cell(); });
  EXPECT_REFUSED("forward of chunk 0 and microbatch 0 occurs in rows 0 and 1",
                 { entry.table[2] = entry.table[0]; });
  EXPECT_REFUSED("chunk 1 has no forward", {
    for (Cell &cell : entry.table) {
      if (cell.program == findProgram(plan, "c1.F")) {
        cell = Cell();
      }
    }
  });
}

/// One string for each row: a cell of each stage, F or B, microbatch.
static void setTable(Plan &plan, const std::vector<std::string> &rows) {
  auto &table = plan.entries[0].table;
  table.clear();
  for (const std::string &row : rows) {
    for (int stage = 0; stage < 2; ++stage) {
      std::string cell = row.substr(3 * stage, 2);
      std::string name = (stage ? "c1." : "c0.") + cell.substr(0, 1);
      table.push_back(
          cell == ". " ? Cell() : Cell{findProgram(plan, name), cell[1] - '0'});
    }
  }
}

TEST(PlanVerifyTable, AllForwardFirst) {
  Plan plan = makeSamplePlan();
  setTable(plan, {"F0 . ", "F1 F0", "F2 F1", ".  F2", ".  B0", "B0 B1", "B1 B2",
                  "B2 . "});
  // Two slots do not suffice for three microbatches.
  EXPECT_THAT(verifyPlan(plan).message(),
              HasSubstr("expected frame 'act0' to have a slot for each of 3 "
                        "microbatches in flight, got 2"));
}

TEST(PlanVerifyTable, WrongOrder) {
  EXPECT_REFUSED("forward of chunk 0 (row 0) must come before forward of chunk "
                 "1 (row 0), microbatch 0",
                 {
                   setTable(plan, {"F0 F0", ".  B0", "B0 . ", "F1 . ", ".  F1",
                                   ".  B1", "B1 . ", "F2 . ", ".  F2", ".  B2",
                                   "B2 . "});
                 });
  EXPECT_REFUSED(
      "forward of chunk 1 (row 2) must come before backward of chunk "
      "1 (row 1), microbatch 0",
      {
        setTable(plan, {"F0 . ", ".  B0", "B0 F0", "F1 . ", ".  F1", ".  B1",
                        "B1 . ", "F2 . ", ".  F2", ".  B2", "B2 . "});
      });
  EXPECT_REFUSED("backward of chunk 1 (row 2) must come before backward of "
                 "chunk 0 (row 2), microbatch 0",
                 {
                   setTable(plan, {"F0 . ", ".  F0", "B0 B0", "F1 . ", ".  F1",
                                   ".  B1", "B1 . ", "F2 . ", ".  F2", ".  B2",
                                   "B2 . "});
                 });
}

TEST(PlanVerifyTable, BackwardsKeepTheOrderOfMicrobatches) {
  std::vector<std::string> rows = {"F0 . ", "F1 F0", ".  F1", ".  B1", "B1 B0",
                                   "B0 . ", "F2 . ", ".  F2", ".  B2", "B2 . "};
  Plan plan = makeSamplePlan();
  setTable(plan, rows);
  EXPECT_THAT(
      verifyPlan(plan).message(),
      HasSubstr("backward of chunk 0 leaves the order of microbatches"));
  plan.entries[0].reorder = true;
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

TEST(PlanVerifyTable, ChunkOnTwoStages) {
  EXPECT_REFUSED("chunk 0 runs on stages 0 and 1", {
    entry.table[1] = entry.table[8];
    entry.table[8] = Cell();
  });
}

TEST(PlanVerifyTable, WrongPrograms) {
  EXPECT_REFUSED("expected the table to hold forward and backward programs",
                 { entry.table[1] = {findProgram(plan, "u"), 0}; });
  EXPECT_REFUSED("of chunks below 1", { entry.numChunks = 1; });
  EXPECT_REFUSED("chunk 2 has no forward", { entry.numChunks = 3; });
  EXPECT_REFUSED("has a backward in an entry that does not train",
                 { entry.kind = EntryKind::evaluate; });
  EXPECT_REFUSED(
      "to have one backward, or backward_input and backward_weight", {
        plan.programs[findProgram(plan, "c0.B")].phase = Phase::backwardInput;
      });
}
