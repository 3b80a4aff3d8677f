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

namespace {
/// F, B, I (backward_input) and W (backward_weight) of chunks 0 and 1; the
/// programs do nothing, so that only the table is looked at.
struct Tables {
  Plan plan;

  explicit Tables(EntryKind kind = EntryKind::train, int32_t microbatches = 1) {
    plan.mesh = Mesh{{{"pipe", 2}}, 0};
    plan.arenas = {0, 0};
    const std::pair<char, Phase> phases[] = {
        {'F', Phase::forward},       {'B', Phase::backward},
        {'I', Phase::backwardInput}, {'W', Phase::backwardWeight},
        {'U', Phase::update},        {'O', Phase::other}};
    for (int32_t chunk : {0, 1}) {
      for (auto [letter, phase] : phases) {
        Program program;
        program.name = std::string(1, letter) + std::to_string(chunk);
        program.phase = phase;
        program.chunk = chunk;
        plan.programs.push_back(program);
      }
    }
    Entry entry;
    entry.name = "e";
    entry.kind = kind;
    entry.numMicrobatches = microbatches;
    entry.numChunks = 2;
    entry.prologue = entry.epilogue = {-1, -1};
    plan.entries = {entry};
  }
  /// Rows of two cells, "F0 I1": microbatches of the chunk of each stage.
  std::string verify(const std::vector<std::string> &rows) {
    plan.entries[0].table.clear();
    for (const std::string &row : rows) {
      for (size_t stage : {0, 1}) {
        std::string cell = row.substr(3 * stage, 2);
        int32_t program =
            cell[0] == '.'
                ? -1
                : findProgram(plan, cell.substr(0, 1) + std::to_string(stage));
        plan.entries[0].table.push_back(
            {program, program < 0 ? 0 : cell[1] - '0'});
      }
    }
    return verifyPlan(plan).message();
  }
};
} // namespace

TEST(PlanVerifyTable, BackwardsInOneOrInTwo) {
  Tables tables;
  std::string one = "entry 'e': expected chunk 0 to have one backward, or "
                    "backward_input and backward_weight";
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "B0 . "}), "");
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  I0", "I0 W0", "W0 . "}), "");
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "I0 . ", "W0 . "}), "");
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "I0 . "}), one);
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "W0 . "}), one);
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0"}), one);
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "B0 . ", "I0 . "}), one);
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  B0", "B0 . ", "W0 . "}), one);
}

TEST(PlanVerifyTable, OrderOfPhases) {
  Tables tables;
  auto before = [](const std::string &first, const std::string &second) {
    return "entry 'e': " + first + " must come before " + second +
           ", microbatch 0";
  };
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", ".  I0", "W0 W0", "I0 . "}),
            before("backward_input of chunk 0 (row 4)",
                   "backward_weight of chunk 0 (row 3)"));
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", "I0 . ", "W0 I0", ".  W0"}),
            before("backward_input of chunk 1 (row 3)",
                   "backward_input of chunk 0 (row 2)"));
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", "I0 . ", "W0 B0"}),
            before("backward of chunk 1 (row 3)",
                   "backward_input of chunk 0 (row 2)"));
  EXPECT_EQ(tables.verify({"F0 . ", ".  F0", "B0 . ", ".  I0", ".  W0"}),
            before("backward_input of chunk 1 (row 3)",
                   "backward of chunk 0 (row 2)"));
  EXPECT_EQ(tables.verify({"I0 . ", "F0 . ", "W0 F0", ".  B0"}),
            before("forward of chunk 0 (row 1)",
                   "backward_input of chunk 0 (row 0)"));
  EXPECT_EQ(tables.verify({".  F0", "F0 . ", ".  B0", "B0 . "}),
            before("forward of chunk 0 (row 1)", "forward of chunk 1 (row 0)"));
}

TEST(PlanVerifyTable, ProgramsOfATable) {
  auto verify = [](const char *cell, void (*edit)(Plan &plan)) {
    Tables tables;
    edit(tables.plan);
    return tables.verify(
        {"F0 . ", ".  F0", ".  B0", "B0 . ", std::string(cell) + " . "});
  };
  auto nothing = [](Plan &) {};
  std::string text = "entry 'e': expected the table to hold forward and "
                     "backward programs of chunks below 2, got ";
  EXPECT_EQ(verify("U0", nothing), text + "'U0' (update, chunk 0)");
  EXPECT_EQ(verify("O0", nothing), text + "'O0' (other, chunk 0)");
  EXPECT_EQ(verify(". ", [](Plan &plan) { plan.programs[0].chunk = 2; }),
            text + "'F0' (forward, chunk 2)");
  EXPECT_EQ(verify(". ", [](Plan &plan) { plan.programs[0].chunk = -1; }),
            text + "'F0' (forward, chunk -1)");
  EXPECT_EQ(verify(". ", nothing), "");
}

TEST(PlanVerifyTable, OnlyTrainingHasBackwards) {
  for (EntryKind kind : {EntryKind::evaluate, EntryKind::forward}) {
    EXPECT_EQ(Tables(kind).verify({"F0 . ", ".  F0"}), "");
    for (const char *cell : {".  B0", ".  I0", ".  W0"}) {
      EXPECT_EQ(Tables(kind).verify({"F0 . ", ".  F0", cell}),
                "entry 'e': chunk 1 has a backward in an entry that does not "
                "train");
    }
  }
}

// Forwards may come in any order, backwards in order only, unless it is said.
TEST(PlanVerifyTable, OrderOfMicrobatches) {
  Tables tables(EntryKind::train, 2);
  EXPECT_EQ(
      tables.verify({"F1 . ", "F0 F1", ".  F0", ".  B0", "B0 B1", "B1 . "}),
      "");
  EXPECT_EQ(tables.verify({"F0 . ", "F1 F0", ".  F1", ".  I1", ".  W1", ".  I0",
                           "B0 W0", "B1 . "}),
            "entry 'e': backward_input of chunk 1 leaves the order of "
            "microbatches");
}

// One slot is enough when a forward follows the last backward at once, and for
// a frame that belongs to another entry.
TEST(PlanVerifyTable, SlotsInFlight) {
  auto verify = [](int32_t slots, const std::vector<std::string> &rows,
                   bool isUsed = true) {
    Tables tables(EntryKind::train, 2);
    tables.plan.arenas = {2048, 2048};
    tables.plan.streams.resize(2);
    for (int32_t chunk : {0, 1, 2}) {
      Frame frame;
      frame.name = "act" + std::to_string(chunk);
      frame.kind = chunk == 2 ? FrameKind::tmp : FrameKind::act;
      frame.stages = chunk == 2 ? std::vector{0, 1} : std::vector{chunk};
      frame.chunk = chunk % 2;
      frame.slots = chunk == 0 ? slots : 2;
      frame.size = 256;
      frame.offset = 512 * chunk;
      tables.plan.frames.push_back(frame);
      Buffer buffer;
      buffer.frame = chunk;
      buffer.bytes = 4;
      tables.plan.buffers.push_back(buffer);
      if (chunk == 2 || !isUsed) {
        continue;
      }
      // A value of a work frame, then a copy of it to the frame in flight.
      Fill fill;
      fill.to.buffer = 2;
      Copy copy;
      copy.from.buffer = 2;
      copy.to.buffer = chunk;
      for (const Action &action : {Action(fill), Action(copy)}) {
        Instruction instruction;
        instruction.action = action;
        int32_t program = findProgram(tables.plan, "F" + std::to_string(chunk));
        tables.plan.programs[program].instructions.push_back(instruction);
      }
    }
    return tables.verify(rows);
  };
  std::vector<std::string> apart = {"F0 . ", ".  F0", ".  B0", "B0 . ",
                                    "F1 . ", ".  F1", ".  B1", "B1 . "};
  EXPECT_EQ(verify(1, apart), "");
  std::vector<std::string> weights = {"F0 . ", ".  F0", ".  B0",
                                      "I0 . ", "F1 . ", "W0 F1",
                                      ".  B1", "I1 . ", "W1 . "};
  EXPECT_EQ(verify(2, weights), "");
  EXPECT_EQ(verify(1, weights),
            "entry 'e': expected frame 'act0' to have a slot for each of 2 "
            "microbatches in flight, got 1");
  EXPECT_EQ(verify(1, weights, false), "");
}
