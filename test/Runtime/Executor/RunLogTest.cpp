//===- RunLogTest.cpp - What a run writes down ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The session only pretends. TensorBoard's own reader:
// test/EndToEnd/tensorboard.test.
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Loop/RunLog.h"
#include "RunLoopFixture.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace llmc::rt {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct RunLogTest : RunLoop {
  std::vector<std::string> read(const std::string &file) {
    std::istringstream stream(*readFile(file));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line);
    }
    return lines;
  }
};

TEST_F(RunLogTest, ALineForEachStep) {
  options.steps = 2;
  options.stopOnNan = false;
  session.losses = {1.5, INFINITY};
  session.values[2].name = "a\"\\\n";
  options.logFile = folder + "/log";
  EXPECT_TRUE(run().ok());
  std::vector<std::string> log = read(options.logFile);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].find("{\"entry\": \"train\", \"step\": 0, \"lr\": 0.001, "
                        "\"loss\": 1.5, \"metrics\": {\"a\\\"\\\\\\u000a\": "
                        "7}, \"seconds\": "),
            0u)
      << log[0];
  EXPECT_THAT(log[1], HasSubstr("\"step\": 1, \"lr\": 0.001, \"loss\": null"));
  EXPECT_THAT(log[0], HasSubstr(", \"data_seconds\": 0, \"tps\": "));
  EXPECT_THAT(log[0], ContainsRegex("\"mfu\": null, \"exposed_seconds\": null, "
                                    "\"time_us\": [0-9]+, \"rank\": 0}$"));
}

// While a step runs, the data of the next one are laid out.
TEST_F(RunLogTest, SecondsOnData) {
  options.steps = 3;
  options.logFile = folder + "/log";
  session.onData = 1;
  ASSERT_TRUE(run().ok());
  std::vector<std::string> log = read(options.logFile);
  ASSERT_EQ(log.size(), 3u);
  EXPECT_THAT(log[0], HasSubstr("\"data_seconds\": 2,"));
  EXPECT_THAT(log[1], HasSubstr("\"data_seconds\": 1,"));
  EXPECT_THAT(log[2], HasSubstr("\"data_seconds\": 0,"));
}

TEST_F(RunLogTest, PlacesThatAreNotThere) {
  for (std::string RunOptions::*place :
       {&RunOptions::logFile, &RunOptions::eventFile}) {
    options.*place = folder + "/none/log";
    Status none = run();
    EXPECT_EQ(none.kind(), ErrorKind::usage);
    EXPECT_EQ(none.message(), "cannot open the log for writing: No such file "
                              "or directory");
    EXPECT_EQ(none.error().file, options.*place);
    options.*place = "";
  }
  std::ofstream(folder + "/file") << "x";
  options.boardFolder = folder + "/file/board";
  EXPECT_EQ(run().kind(), ErrorKind::usage);
  EXPECT_TRUE(session.steps.empty());
}

// A full disk is warned of once, and the steps go on; what has room is whole.
TEST_F(RunLogTest, FullDisks) {
  options.steps = 3;
  options.logFile = "/dev/full";
  options.eventFile = folder + "/events";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(run().ok());
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "llmc: warning: /dev/full: cannot write: No space left on "
                  "device; the run goes on without this file\n");
  EXPECT_EQ(session.steps.size(), 3u);
  std::vector<std::string> events = read(options.eventFile);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_THAT(events[1], HasSubstr("\"event\": \"warning\""));
  EXPECT_THAT(events[1], HasSubstr("/dev/full"));
  session.steps.clear();
  session.submitted.clear();
  options.eventFile = "/dev/full";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(run().ok());
  told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 2);
}

TEST_F(RunLogTest, Events) {
  options.steps = 2;
  options.firstStep = 7;
  options.eventFile = folder + "/events";
  options.planHash = "0123456789abcdef";
  session.source.mesh = {{{"data", 2}, {"a\"b", 1}}, -1};
  session.source.machine.flops = 1e12;
  session.source.entries[0].modelFlops = 3e9;
  session.exposed = 0.25;
  EXPECT_TRUE(run().ok());
  std::vector<std::string> events = read(options.eventFile);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_THAT(events[0],
              ContainsRegex("^.\"event\": \"run\", \"time_us\": [0-9]+, "
                            "\"rank\": 0, \"llmc\": \"[0-9.]+\", "
                            "\"plan_format\": [0-9]+, \"plan\": "
                            "\"0123456789abcdef\", \"mesh\": .\"data\": 2, "
                            "\"a.\"b\": 1., \"devices\": 2, \"microbatches\": "
                            "3, \"seed\": 0, \"entry\": \"train\", "
                            "\"first_step\": 7, \"steps\": 2, \"tokens\": 90, "
                            "\"model_flops\": 3000000000, \"machine_flops\": "
                            "1000000000000, \"predicted_bytes\": .0"));
  EXPECT_THAT(events[1], HasSubstr("\"event\": \"step\""));
  EXPECT_THAT(events[1], HasSubstr("\"step\": 7, \"lr\": 0.001"));
  EXPECT_THAT(events[1], ContainsRegex("\"mfu\": [0-9.e+-]+, "
                                       "\"exposed_seconds\": 0.25.$"));
  EXPECT_THAT(events[2], HasSubstr("\"step\": 8"));
  EXPECT_THAT(events[3], ContainsRegex("\"event\": \"end\", .*\"steps\": 2, "
                                       "\"seconds\": [0-9.e+-]+, \"reason\": "
                                       "\"done\", \"error\": null.$"));
}

TEST_F(RunLogTest, EndsOfErrors) {
  options.steps = 5;
  options.eventFile = folder + "/events";
  session.refuseAt = 2;
  EXPECT_FALSE(run().ok());
  std::vector<std::string> events = read(options.eventFile);
  EXPECT_THAT(events.back(), HasSubstr("\"reason\": \"error\", \"error\": {"));
  EXPECT_THAT(events.back(), HasSubstr("no data"));
}

// Each run adds a file, with its steps.
TEST_F(RunLogTest, Board) {
  options.boardFolder = folder + "/board";
  session.values[2].name = "norm/x";
  EXPECT_TRUE(run().ok());
  std::string all;
  for (const auto &file :
       std::filesystem::directory_iterator(options.boardFolder)) {
    all += *readFile(file.path());
  }
  EXPECT_THAT(all, HasSubstr("brain.Event:2"));
  for (const char *name :
       {"loss", "lr", "metrics/norm/x", "tps", "step_seconds"}) {
    EXPECT_THAT(all, HasSubstr(name));
  }
  EXPECT_THAT(all, Not(HasSubstr("mfu")));
}

// What is evaluated between the steps, in all files.
TEST_F(RunLogTest, Evaluations) {
  options.logFile = folder + "/log";
  options.eventFile = folder + "/events";
  options.boardFolder = folder + "/board";
  exec::RunLog log(session, options, [](const std::string &) {});
  ASSERT_TRUE(log.open(false).ok());
  log.evaluate({"evaluate", 40, {{"loss", 1.5}, {"best", 3}}, 7, 0.5, ""});
  EXPECT_THAT(read(options.logFile)[0],
              HasSubstr("\"batches\": 7, \"seconds\": 0.5"));
  std::vector<std::string> events = read(options.eventFile);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(events[0], HasSubstr("\"event\": \"evaluate\", "));
  EXPECT_THAT(events[0], HasSubstr("\"entry\": \"evaluate\", \"step\": 40, "
                                   "\"loss\": 1.5, \"metrics\": {\"best\": "
                                   "3}, \"batches\": 7"));
  std::string board = *readFile(
      std::filesystem::directory_iterator(options.boardFolder)->path());
  EXPECT_THAT(board, HasSubstr("evaluate/loss"));
  EXPECT_THAT(board, HasSubstr("evaluate/metrics/best"));
}

// The disk of a trace is full: the steps are done, and that is what counts.
TEST_F(RunLogTest, TraceWithoutRoom) {
  options.traceFile = "/dev/full";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(run().ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("there is no trace of this run\n"));
}

} // namespace
} // namespace llmc::rt
