//===- RunRecordTest.cpp - What a run wrote, read back --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunRecord.h"

#include "llmc/Runtime/Base/File.h"

#include <filesystem>
#include <gmock/gmock.h>

namespace llmc::rt::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string write(const std::string &name, const std::string &text) {
  std::string path = testing::TempDir() + "llmc-record-" + name;
  EXPECT_TRUE(writeFileAtomically(path, text).ok());
  return path;
}

TEST(RunRecord, Logs) {
  auto run = readRun(write(
      "log", "{\"entry\": \"train\", \"step\": 3, \"loss\": 2.5, \"lr\": null, "
             "\"metrics\": {\"loss\": 7}, \"time_us\": 1, \"rank\": 0}\n"
             "\n{\"step\": 4, \"loss\": 1}"));
  ASSERT_TRUE(run.ok()) << run.message();
  ASSERT_EQ(run->steps.size(), 2u);
  EXPECT_EQ(run->steps[0].step, 3);
  EXPECT_EQ(run->steps[0].values, (std::map<std::string, double>{
                                      {"loss", 2.5}, {"metrics/loss", 7}}));
  EXPECT_EQ(run->steps[1].values.at("loss"), 1);
}

TEST(RunRecord, Events) {
  auto run = readRun(
      write("events", "{\"event\": \"run\", \"plan\": \"00ff\"}\n"
                      "{\"event\": \"step\", \"step\": 0, \"loss\": 1}\n"
                      "{\"event\": \"checkpoint_begin\", \"step\": 1}\n"
                      "{\"event\": \"checkpoint_end\", \"step\": 1}\n"
                      "{\"event\": \"evaluate\", \"step\": 1, \"loss\": 3}\n"
                      "{\"event\": \"warning\", \"text\": \"full\"}\n"
                      "{\"event\": \"end\", \"reason\": \"done\"}\n"));
  ASSERT_TRUE(run.ok()) << run.message();
  EXPECT_EQ(run->planHash, "00ff");
  EXPECT_EQ(run->steps.size(), 1u);
  EXPECT_EQ(run->evaluations.at(0).values.at("loss"), 3);
  EXPECT_THAT(run->checkpoints, ElementsAre(1));
  EXPECT_THAT(run->warnings, ElementsAre("full"));
  EXPECT_EQ(run->reason, "done");
}

TEST(RunRecord, StepsThatWereRunAgainCount) {
  auto run = readRun(
      write("again", "{\"step\": 4, \"loss\": 1}\n"
                     "{\"step\": 5, \"loss\": 2}\n"
                     "{\"step\": 6, \"loss\": null}\n"
                     "{\"event\": \"roll_back\", \"step\": 6, \"to_step\": 5, "
                     "\"left_out\": 2, \"reason\": \"a loss of nan\"}\n"
                     "{\"step\": 5, \"loss\": 3}\n"));
  ASSERT_TRUE(run.ok()) << run.message();
  ASSERT_EQ(run->steps.size(), 2u);
  EXPECT_EQ(run->steps[1].values.at("loss"), 3);
  EXPECT_THAT(run->warnings,
              ElementsAre("a loss of nan; the run went back to a checkpoint"));
}

TEST(RunRecord, LinesThatAreNone) {
  for (const char *line :
       {"{", "[]", "7", "{\"loss\": 1}", "{\"event\": \"step\"}",
        "{\"event\": \"other\", \"step\": 1}", "{\"step\": \"1\"}",
        "{\"step\": 1} {}"}) {
    std::string path = write("bad", std::string("{\"step\": 0}\n") + line);
    Status status = readRun(path).status();
    EXPECT_EQ(status.kind(), ErrorKind::malformed) << line;
    EXPECT_THAT(status.message(), HasSubstr("in line 2")) << line;
    EXPECT_EQ(status.error().file, path);
  }
  EXPECT_EQ(readRun("/none").kind(), ErrorKind::malformed);
}

TEST(RunRecord, Traces) {
  std::string head = R"({"traceEvents": [{"ph": "M", "name": "thread_name",
    "pid": 2, "tid": 1, "args": {"name": "C"}},)";
  std::string path =
      write("trace", head + R"({"ph": "X", "name": "p: k", "pid": 2, "tid": 1,
      "ts": 5, "dur": 2.5, "args": {"source": "a.py:3", "bytes": 8}}]})");
  std::filesystem::remove(path + ".1");
  auto events = readTrace(path);
  ASSERT_TRUE(events.ok()) << events.message();
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ((*events)[0].stream, "C");
  EXPECT_EQ((*events)[0].source, "a.py:3");
  EXPECT_DOUBLE_EQ((*events)[0].begin, 5e-6);
  EXPECT_DOUBLE_EQ((*events)[0].end, 7.5e-6);
  // What the next process wrote lies beside it.
  write("trace.1", head + R"({"ph": "X", "name": "q", "pid": 2, "tid": 1,
      "ts": 0, "dur": 0}]})");
  EXPECT_EQ(readTrace(path)->size(), 2u);
  std::filesystem::remove(path + ".1");
  for (const char *text :
       {"", "[]", "{\"traceEvents\": 1}",
        R"({"traceEvents": [{"ph": "X", "pid": 0, "ts": -1, "dur": 1}]})",
        R"({"traceEvents": [{"ph": "X", "pid": 0, "ts": 1}]})"}) {
    EXPECT_EQ(readTrace(write("trace", text)).kind(), ErrorKind::malformed)
        << text;
  }
}

} // namespace
} // namespace llmc::rt::report
