//===- LaunchTest.cpp - Starts the processes of a job ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Launch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

namespace llmc::rt::test {

namespace {
struct Ended {
  LaunchResult result;
  std::string errors;
  double seconds = 0;
};

Ended run(int processes, const std::string &script,
          std::atomic<int> *signal = nullptr, int restarts = 0) {
  Ended ended;
  std::FILE *file = std::tmpfile();
  LaunchOptions options;
  options.processes = processes;
  options.command = {"/bin/sh", "-c", script};
  options.grace = std::chrono::milliseconds(300);
  options.errors = file;
  options.signal = signal;
  options.restarts = restarts;
  auto begin = std::chrono::steady_clock::now();
  auto result = launch(options);
  EXPECT_TRUE(result.ok());
  ended.result = *result;
  ended.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  std::rewind(file);
  char block[4096];
  ended.errors.assign(block, std::fread(block, 1, sizeof(block), file));
  std::fclose(file);
  return ended;
}
} // namespace

TEST(Launch, NumbersProcessesAndTheirErrors) {
  Ended ended = run(3, "echo $LLMC_RANK of $LLMC_WORLD_SIZE >&2; "
                       "test -n \"$LLMC_PORT$LLMC_TOKEN\"");
  EXPECT_EQ(ended.result.code, 0);
  EXPECT_EQ(ended.result.cause, "");
  for (const char *line : {"[0] 0 of 3\n", "[1] 1 of 3\n", "[2] 2 of 3\n"}) {
    EXPECT_NE(ended.errors.find(line), std::string::npos) << ended.errors;
  }
}

namespace {
/// All that was written into a file.
std::string readAll(std::FILE *file) {
  std::rewind(file);
  std::string text(1 << 22, 0);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}
std::string readAll(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "r");
  std::string text = file ? readAll(file) : "";
  return file ? (std::fclose(file), text) : "no file";
}

/// Lines wait until all processes have ended.
struct Said {
  std::string errors, output;
  LaunchResult result;
};
Said runAndHear(int processes, const std::string &script,
                const std::string &logs = "", int restarts = 0) {
  LaunchOptions options;
  options.processes = processes;
  options.command = {"/bin/sh", "-c", script};
  options.errors = std::tmpfile();
  options.output = std::tmpfile();
  options.gather = std::chrono::minutes(1);
  options.logs = logs;
  options.restarts = restarts;
  Said said;
  auto result = launch(options);
  EXPECT_TRUE(result.ok()) << result.message();
  said = {readAll(options.errors), readAll(options.output),
          result.ok() ? *result : LaunchResult()};
  std::fclose(options.errors);
  std::fclose(options.output);
  return said;
}
} // namespace

// What all say is said once, what one says twice is said twice, and outputs are
// not mixed with errors.
TEST(Launch, EqualLinesAreOne) {
  Said said = runAndHear(5, "echo warning >&2; test $LLMC_RANK = 3 || "
                            "echo but three >&2; test $LLMC_RANK != 2 || "
                            "{ echo twice >&2; echo twice >&2; }; "
                            "test $LLMC_RANK = 0 || echo output");
  auto count = [](const std::string &text, const std::string &line) {
    size_t times = 0;
    for (size_t at = text.find(line); at != std::string::npos;
         at = text.find(line, at + 1)) {
      ++times;
    }
    return times;
  };
  EXPECT_EQ(count(said.errors, "[0-4] warning\n"), 1u) << said.errors;
  EXPECT_EQ(count(said.errors, "[0-2,4] but three\n"), 1u) << said.errors;
  EXPECT_EQ(count(said.errors, "[2] twice\n"), 2u) << said.errors;
  EXPECT_EQ(count(said.errors, "\n"), 4u) << said.errors;
  EXPECT_EQ(said.output, "[1-4] output\n");
}

// Lines that are written by pieces, are long, or have no end.
TEST(Launch, LinesStayWhole) {
  Said said = runAndHear(
      4, "i=0; while [ $i -lt 200 ]; do printf 'a%s' $LLMC_RANK >&2; "
         "printf 'b%s\\n' $i >&2; i=$((i+1)); done; "
         "head -c 200000 /dev/zero | tr '\\0' x >&2; printf end$LLMC_RANK >&2");
  for (int process = 0; process < 4; ++process) {
    for (int i : {0, 99, 199}) {
      std::string line = "[" + std::to_string(process) + "] a" +
                         std::to_string(process) + "b" + std::to_string(i) +
                         "\n";
      EXPECT_NE(said.errors.find(line), std::string::npos) << line;
    }
    std::string end =
        std::string(200000, 'x') + "end" + std::to_string(process) + "\n";
    EXPECT_NE(said.errors.find("[" + std::to_string(process) + "] " + end),
              std::string::npos);
  }
}

// Each process has a file with all its lines, also those of restarts.
TEST(Launch, LogsHaveAllLinesOfAProcess) {
  std::string folder = testing::TempDir() + "llmc-launch-logs/deep";
  std::filesystem::remove_all(folder);
  Said said = runAndHear(2,
                         "echo same >&2; test $LLMC_RANK = 0 || "
                         "echo out $LLMC_RESTART; test $LLMC_RESTART = 1 || "
                         "exit 10",
                         folder, 1);
  EXPECT_EQ(said.result.code, 0) << said.result.cause;
  EXPECT_EQ(readAll(folder + "/process-00000.log"),
            "same\nllmc-launch: restart 1\nsame\n");
  std::string second = readAll(folder + "/process-00001.log");
  EXPECT_NE(second.find("out 0\n"), std::string::npos) << second;
  EXPECT_NE(second.find("out 1\n"), std::string::npos) << second;
  LaunchOptions options;
  options.command = {"true"};
  options.logs = folder + "/process-00000.log/none";
  EXPECT_EQ(launch(options).kind(), ErrorKind::noCheckpoint);
  EXPECT_NE(launch(options).message().find("cannot write " + options.logs),
            std::string::npos);
}

// As one that a debugger forgot.
TEST(Launch, WhoStaysStoppedIsEnded) {
  LaunchOptions options;
  options.stopped = std::chrono::milliseconds(200);
  options.command = {"/bin/sh", "-c", "kill -STOP $$; sleep 60"};
  auto result = launch(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->code, 128 + 9);
  EXPECT_NE(result->cause.find("killed by signal 9"), std::string::npos);
  // One that goes on in time is left alone.
  options.stopped = std::chrono::seconds(20);
  options.command[2] = "(sleep 0.1; kill -CONT $$) & kill -STOP $$; exit 4";
  EXPECT_EQ(launch(options)->code, 4);
}

// Numbers go on from node to node.
TEST(Launch, NodesNumberTheirOwn) {
  LaunchOptions options;
  options.processes = 2;
  options.nodes = 3;
  options.nodeRank = 1;
  options.address = "10.1.2.3";
  options.port = 29411;
  options.token = "secret";
  options.command = {"/bin/sh", "-c",
                     "[ \"$LLMC_WORLD_SIZE $LLMC_ADDRESS $LLMC_PORT "
                     "$LLMC_TOKEN\" = '6 10.1.2.3 29411 secret' ] && "
                     "[ $LLMC_RANK = $((2 + LLMC_LOCAL_RANK)) ] || exit 9"};
  auto result = launch(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->code, 0);
  options.token = "";
  EXPECT_EQ(launch(options).kind(), ErrorKind::usage);
  options.token = "secret";
  options.port = 0;
  EXPECT_EQ(launch(options).message(),
            "expected a port that all nodes know, got none");
  options.nodeRank = 3;
  EXPECT_EQ(launch(options).message(),
            "expected a node's rank from 0 to 2, got 3 of 3 nodes");
}

// The others sleep for long and do not know that one has failed.
TEST(Launch, TheFirstFailureEndsAll) {
  Ended ended = run(3, "[ $LLMC_RANK = 1 ] && exit 13; sleep 60");
  EXPECT_EQ(ended.result.code, 13);
  EXPECT_NE(ended.result.cause.find("process 1 (pid "), std::string::npos);
  EXPECT_LT(ended.seconds, 10);
}

TEST(Launch, WhoOnlyLosesAnotherIsNotTheCause) {
  Ended ended = run(2, "[ $LLMC_RANK = 0 ] && exit 10; sleep 0.1; kill -9 $$");
  EXPECT_EQ(ended.result.code, 128 + 9);
  EXPECT_NE(ended.result.cause.find("killed by signal 9"), std::string::npos);
}

// Also what a process starts, and what does not listen to requests.
TEST(Launch, NobodyIsLeft) {
  Ended ended = run(2, "trap '' TERM; [ $LLMC_RANK = 0 ] && exit 3; "
                       "sleep 61 & sleep 61");
  EXPECT_EQ(ended.result.code, 3);
  EXPECT_LT(ended.seconds, 10);
  EXPECT_NE(std::system("pgrep -x -f 'sleep 61' >/dev/null"), 0);
}

TEST(Launch, SignalsArePassedOn) {
  std::atomic<int> signal{0};
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    signal = SIGTERM;
  });
  Ended ended = run(2, "trap 'exit 7' TERM; sleep 60 & wait", &signal);
  sender.join();
  EXPECT_EQ(ended.result.code, 7);
  EXPECT_LT(ended.seconds, 10);
}

TEST(Launch, ASecondSignalIsPassedOnToo) {
  std::atomic<int> signal{0};
  std::thread sender([&] {
    for (int turn = 0; turn < 2; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      signal = SIGTERM;
    }
  });
  Ended ended = run(2,
                    "n=0; trap 'n=$((n+1)); test $n = 1 || exit 9' TERM; "
                    "while :; do sleep 0.02; done",
                    &signal);
  sender.join();
  EXPECT_EQ(ended.result.code, 9);
}

TEST(Launch, RestartsAfterALossAndNotAfterAMistake) {
  Ended lost = run(2, "test $LLMC_RESTART = 2 || kill -9 $$", nullptr, 3);
  EXPECT_EQ(lost.result.code, 0);
  EXPECT_NE(lost.errors.find("restart 2 of 3: process "), std::string::npos);
  EXPECT_EQ(lost.errors.find("restart 3 of 3"), std::string::npos);
  Ended often = run(2, "exit 10", nullptr, 2);
  EXPECT_EQ(often.result.code, 10);
  EXPECT_NE(often.errors.find("restart 2 of 2"), std::string::npos);
  Ended wrong = run(1, "exit 3", nullptr, 3);
  EXPECT_EQ(wrong.result.code, 3);
  EXPECT_EQ(wrong.errors.find("restart"), std::string::npos);
  std::atomic<int> signal{SIGTERM};
  Ended asked = run(1, "sleep 60", &signal, 3);
  EXPECT_EQ(asked.result.code, 128 + SIGTERM);
  EXPECT_EQ(asked.errors.find("restart"), std::string::npos);
}

namespace {
/// Runs 4 processes of `script`, which may go on with 2 and 1.
Ended runElastic(const std::string &script, const std::string &prepare) {
  Ended ended;
  std::FILE *file = std::tmpfile();
  LaunchOptions options;
  options.processes = 4;
  options.command = {"/bin/sh", "-c", script};
  options.grace = std::chrono::milliseconds(300);
  options.errors = file;
  options.restarts = 5;
  options.fewer = {2, 1};
  options.prepare = prepare;
  auto result = launch(options);
  EXPECT_TRUE(result.ok());
  ended.result = *result;
  std::rewind(file);
  char block[4096];
  ended.errors.assign(block, std::fread(block, 1, sizeof(block), file));
  std::fclose(file);
  return ended;
}
} // namespace

// One of four is killed, then one of two: one is left, and comes to its end.
TEST(Launch, ElasticJobsGoOnWithFewer) {
  std::string file = testing::TempDir() + "elastic";
  std::remove(file.c_str());
  Ended ended = runElastic("test {n} -eq $LLMC_WORLD_SIZE || exit 3; "
                           "test {n} -eq 1 && exit 0; "
                           "test $LLMC_RANK -eq 0 && kill -9 $$; exit 10",
                           "echo {n} >> " + file);
  EXPECT_EQ(ended.result.code, 0) << ended.result.cause;
  EXPECT_NE(ended.errors.find("restart 1 of 5 with 2 processes: process 0"),
            std::string::npos)
      << ended.errors;
  EXPECT_NE(ended.errors.find("restart 2 of 5 with 1 process"),
            std::string::npos);
  std::FILE *made = std::fopen(file.c_str(), "r");
  ASSERT_TRUE(made);
  char block[16] = {};
  EXPECT_EQ(std::string(block, std::fread(block, 1, 15, made)), "4\n2\n1\n");
  std::fclose(made);
}

TEST(Launch, ElasticJobsEndWhereNoNumberIsLeft) {
  Ended ended = runElastic("kill -9 $$", "true");
  EXPECT_EQ(ended.result.code, 128 + SIGKILL);
  EXPECT_NE(ended.result.cause.find("--elastic has no number of processes "
                                    "below 4"),
            std::string::npos)
      << ended.result.cause;
  EXPECT_EQ(runElastic("exit 0", "exit 7").result.code, 7);
}

TEST(Launch, ElasticNumbersFall) {
  LaunchOptions options;
  options.processes = 4;
  options.command = {"true"};
  for (std::vector<int> numbers : {std::vector<int>{4}, {2, 2}, {0}, {2, 3}}) {
    options.fewer = numbers;
    EXPECT_EQ(launch(options).status().kind(), ErrorKind::usage);
  }
  options.fewer = {2};
  options.nodes = 2;
  options.port = 29400;
  options.token = "t";
  EXPECT_EQ(launch(options).status().kind(), ErrorKind::usage);
}

TEST(Launch, WhatCannotBeStarted) {
  LaunchOptions options;
  EXPECT_EQ(launch(options).kind(), ErrorKind::usage);
  options.command = {"true"};
  options.processes = 0;
  EXPECT_EQ(launch(options).kind(), ErrorKind::usage);
  options.processes = 1000000;
  EXPECT_EQ(launch(options).kind(), ErrorKind::usage);
  options.processes = 1;
  options.command = {"/no/such/program"};
  options.errors = std::tmpfile();
  auto ended = launch(options);
  EXPECT_EQ(ended->code, 127);
  std::fclose(options.errors);
}

} // namespace llmc::rt::test
