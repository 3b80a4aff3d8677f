//===- ProgressTest.cpp - A line that is drawn anew -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text for terminals of each width. What a terminal does with it:
// test/EndToEnd/progress.test.
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Loop/Progress.h"
#include "FakeSession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc::rt::exec {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ProgressTest : testing::Test {
  FakeSession session;
  StepWork work;
  StepFacts facts;

  ProgressTest() {
    session.values = {
        {"lr", 1e-3}, {"loss", 2.5}, {"grad_norm", 7}, {"a\033[31mb", 1}};
    session.source.machine.memory = 20000;
    work.size = {1000, true};
    work.flops = 1e9;
    work.peak = 1e12;
    facts.step = 29;
    facts.ran = 30;
    facts.steps = 40;
    facts.time = facts.late = {0.01, 0.001};
    facts.eta = 61;
  }
  ProgressText print(size_t columns, bool colour = false, bool lines = false) {
    return printProgress(session, work, facts, {columns, colour, lines});
  }
};

TEST_F(ProgressTest, AllOfIt) {
  EXPECT_EQ(print(200).text,
            "==================------  step 29/39  loss 2.5000  norm 7  lr "
            "1.0e-03  tps 100,000  mfu 10.0%  comm 10.0%  mem 1.95KiB(10.0%)  "
            "left 0:01:01");
}

// The least important goes first, and nothing is ever wider than the window.
TEST_F(ProgressTest, Widths) {
  EXPECT_THAT(print(100).text, Not(HasSubstr("mem ")));
  EXPECT_THAT(print(100).text, HasSubstr("mfu "));
  EXPECT_EQ(print(52).text,
            "step 29/39  loss 2.5000  tps 100,000  left 0:01:01");
  EXPECT_EQ(print(25).text, "step 29/39  loss 2.5000");
  EXPECT_EQ(print(12).text, "step 29/39");
  EXPECT_EQ(print(6).text, "step 2");
  for (size_t columns = 0; columns < 220; ++columns) {
    ProgressText line = print(columns);
    EXPECT_LE(line.columns, columns);
    EXPECT_EQ(line.text.size(), line.columns);
  }
}

TEST_F(ProgressTest, Styles) {
  EXPECT_THAT(print(160).text, Not(HasSubstr("\033")));
  std::string colour = print(160, true, true).text;
  EXPECT_THAT(colour, HasSubstr("\033[32m━"));
  EXPECT_THAT(colour, HasSubstr("\033[2mloss\033[0m \033[1m2.5000\033[0m"));
  EXPECT_EQ(print(160, true, true).columns, print(160).columns);
}

// A file is no terminal: nothing is drawn.
TEST_F(ProgressTest, Files) {
  std::FILE *file = std::tmpfile();
  {
    Progress progress(file);
    EXPECT_FALSE(progress.isShown());
    progress.clear();
    progress.finish();
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

} // namespace
} // namespace llmc::rt::exec
