//===- SessionTest.cpp - What a session accepts and returns ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan without kernels: two data ranks copy their rows of an input, and a
// hyper value, back to the host.
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Session.h"
#include "LoopbackTransport.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace llmc::rt::test {
namespace {

using namespace plan;
using testing::HasSubstr;

constexpr int64_t rows = 3, columns = 2, microbatches = 2;

/// Input 'x' [3, 2], its rows over two ranks (padded to 4), returned as 'y' in
/// each microbatch; hyper value 'lr', external, returned as metric 'rate'.
Plan makeEcho(std::optional<DataKind> source = {}, int64_t dataOffset = 0) {
  PlanBuilder b({{{"data", 2}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t in = b.addFrame("in", FrameKind::input, microbatches, b.microbatch());
  int32_t step = b.addFrame("step", FrameKind::hyper);
  int32_t x = b.addBuffer(in, "x", DType::i32, {2, columns});
  int32_t lr = b.addBuffer(step, "lr", DType::f32, {});
  int32_t f = b.addProgram("f", Phase::forward, 0);
  b.emit(f, stream, Copy{b.view(x), {}, HostEnd::input, 0});
  b.emit(f, stream, Copy{{}, b.view(x), HostEnd::fetch, 0});
  int32_t begin = b.addProgram("begin", Phase::other);
  b.emit(begin, stream, Copy{b.view(lr), {}, HostEnd::hyper, 0});
  b.emit(begin, stream, Copy{{}, b.view(lr), HostEnd::metric, 0});
  b.place();
  Layout layout = Layout::split({rows, columns}, {{0}}, b.plan().mesh);
  Entry entry;
  entry.name = "echo";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = microbatches;
  entry.prologue = {begin};
  entry.epilogue = {-1};
  entry.table = {{f, 0}, {f, 1}};
  entry.inputs = {{"x", DType::i32, layout, {}, source ? 0 : -1, dataOffset}};
  entry.hypers = {{"lr", DType::f32, {HyperKind::external, 0.5}}};
  entry.metrics = {{"rate", DType::f32}};
  Fetch fetch;
  fetch.name = "y";
  fetch.dtype = DType::i32;
  fetch.layout = layout;
  fetch.eachMicrobatch = true;
  entry.fetches = {fetch};
  b.plan().entries = {entry};
  if (source) {
    b.plan().sources = {{"rows", {*source, DType::u8, true, ""}}};
  }
  return b.take();
}

std::unique_ptr<Session> openEcho(std::optional<DataKind> source = {},
                                  int64_t dataOffset = 0) {
  auto session = Session::open(makeEcho(source, dataOffset), {});
  EXPECT_TRUE(session.ok()) << session.message();
  return *std::move(session);
}

HostTensor numbered(int64_t first, std::vector<int64_t> shape = {rows, columns},
                    DType dtype = DType::i32) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    storeInteger(dtype, tensor.bytes.data(), i, first + i);
  }
  return tensor;
}

TEST(SessionTest, InputsOfEachMicrobatch) {
  auto session = openEcho();
  EXPECT_TRUE(session->setInput("echo", "x", 0, numbered(10)).ok());
  Status missing = session->run("echo", 0);
  EXPECT_EQ(missing.kind(), ErrorKind::usage);
  EXPECT_EQ(missing.message(), "expected data for input 'x'");
  EXPECT_TRUE(session->setInput("echo", "x", 1, numbered(20)).ok());
  for (int64_t step : {0, 1, 2}) {
    ASSERT_TRUE(session->run("echo", step).ok());
    for (int64_t m : {0, 1}) {
      HostTensor y = *session->fetch("y", m);
      EXPECT_EQ(y.shape, (std::vector<int64_t>{rows, columns}));
      EXPECT_EQ(y.bytes, numbered(10 + 10 * m).bytes) << m;
      EXPECT_EQ(session->fetch("x", m)->bytes, y.bytes);
    }
  }
}

// The first microbatch that there is not, on both sides.
TEST(SessionTest, InputsAreChecked) {
  auto session = openEcho();
  auto give = [&](int64_t microbatch, const HostTensor &value) {
    Status status = session->setInput("echo", "x", microbatch, value);
    EXPECT_EQ(status.kind(), ErrorKind::usage);
    return status.message();
  };
  std::string text = "expected i32[3, 2] for input 'x' of a microbatch below "
                     "2, got ";
  EXPECT_EQ(give(2, numbered(0)), text + "i32[3, 2] for 2");
  EXPECT_EQ(give(-1, numbered(0)), text + "i32[3, 2] for -1");
  EXPECT_EQ(give(0, numbered(0, {2, 3})), text + "i32[2, 3] for 0");
  EXPECT_EQ(give(0, numbered(0, {3, 2}, DType::u32)), text + "u32[3, 2] for 0");
  EXPECT_EQ(session->setInput("echo", "z", 0, numbered(0)).message(),
            "entry 'echo' has no input 'z'");
  EXPECT_EQ(session->setInput("train", "x", 0, numbered(0)).message(),
            "the plan has no entry 'train'");
}

TEST(SessionTest, FetchesAreChecked) {
  auto session = openEcho();
  EXPECT_EQ(session->fetch("y", 0).message(), "the plan has no value 'y'");
  for (int64_t m : {0, 1}) {
    ASSERT_TRUE(session->setInput("echo", "x", m, numbered(m)).ok());
  }
  EXPECT_EQ(session->run("train", 0).message(),
            "the plan has no entry 'train'");
  ASSERT_TRUE(session->run("echo", 0).ok());
  for (int64_t m : {-1, 2}) {
    EXPECT_EQ(session->fetch("y", m).message(),
              "expected a microbatch in [0, 2), got " + std::to_string(m));
  }
  EXPECT_EQ(session->fetch("z", 0).message(), "the plan has no value 'z'");
  EXPECT_EQ(session->readState("w").message(), "the plan has no state 'w'");
  EXPECT_EQ(session->copiesAgree("w").kind(), ErrorKind::usage);
}

TEST(SessionTest, ExternalValues) {
  auto session = openEcho();
  for (int64_t m : {0, 1}) {
    ASSERT_TRUE(session->setInput("echo", "x", m, numbered(m)).ok());
  }
  ASSERT_TRUE(session->run("echo", 0).ok());
  EXPECT_EQ(session->metric("rate"), 0.5);
  EXPECT_EQ(session->metric("other"), std::nullopt);
  ASSERT_TRUE(session->setExternal("lr", 0.25).ok());
  ASSERT_TRUE(session->run("echo", 1).ok());
  EXPECT_EQ(session->metric("rate"), 0.25);
  HostTensor rate = *session->fetch("rate", 0);
  EXPECT_TRUE(rate.shape.empty());
  EXPECT_EQ(rate.at(0), 0.25);
  EXPECT_EQ(session->setExternal("rate", 1).message(),
            "the plan has no external value 'rate'");
  Plan fixed = makeEcho();
  fixed.entries[0].hypers[0].rule.kind = HyperKind::constant;
  auto other = Session::open(fixed, {});
  EXPECT_EQ((*other)->setExternal("lr", 1).kind(), ErrorKind::usage);
}

// A window holds what its sample's inputs read, and not a token less.
TEST(SessionTest, CorpusWindows) {
  std::string path = testing::TempDir() + "session-corpus.bin";
  auto corpus = [&](int64_t tokens) {
    std::ofstream file(path, std::ios::binary);
    for (int64_t i = 0; i < tokens; ++i) {
      file.put(static_cast<char>(i));
    }
  };
  auto session = openEcho(DataKind::tokens, /*dataOffset=*/3);
  corpus(4);
  ASSERT_TRUE(session->useData("", path).ok());
  EXPECT_EQ(session->run("echo", 0).kind(), ErrorKind::malformed);
  corpus(5 + rows - 1);
  ASSERT_TRUE(session->useData("", path).ok());
  ASSERT_TRUE(session->run("echo", 0).ok());
  // As many windows as rows: each sample has tokens 3 and 4 of one of them.
  HostTensor y = *session->fetch("y", 1);
  for (int64_t i = 0; i < rows * columns; i += columns) {
    EXPECT_GE(y.at(i), 3);
    EXPECT_LT(y.at(i), 3 + rows);
    EXPECT_EQ(y.at(i + 1), y.at(i) + 1);
  }
  corpus(200);
  ASSERT_TRUE(session->useData("", path).ok());
  std::vector<std::vector<std::byte>> seen;
  for (int64_t step : {0, 1}) {
    ASSERT_TRUE(session->run("echo", step).ok());
    for (int64_t m : {0, 1}) {
      HostTensor value = *session->fetch("y", m);
      for (int64_t row = 0; row < rows; ++row) {
        EXPECT_EQ(value.at(2 * row + 1), value.at(2 * row) + 1);
      }
      seen.emplace_back(reinterpret_cast<std::byte *>(value.bytes.data()),
                        reinterpret_cast<std::byte *>(value.bytes.data()) +
                            value.bytes.size());
    }
  }
  // No two microbatches of no two steps have the same samples.
  for (size_t i = 0; i < seen.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(seen[i], seen[j]) << i << " " << j;
    }
  }
}

// Rows of an array are spread over the devices as any input.
TEST(SessionTest, ArrayRows) {
  std::string path = testing::TempDir() + "session-rows.npy";
  ASSERT_TRUE(writeNpy(numbered(0, {9, columns}), path).ok());
  auto session = openEcho(DataKind::array);
  EXPECT_EQ(session->run("echo", 0).kind(), ErrorKind::usage);
  EXPECT_EQ(session->useData("columns", path).message(),
            "the plan has no source of data 'columns'");
  ASSERT_TRUE(session->useData("rows", path).ok());
  std::set<double> seen;
  for (int64_t step : {0, 1}) {
    ASSERT_TRUE(session->run("echo", step).ok());
    for (int64_t m : {0, 1}) {
      HostTensor x = *session->fetch("x", m), y = *session->fetch("y", m);
      EXPECT_EQ(x.bytes, y.bytes);
      for (int64_t row = 0; row < rows; ++row) {
        EXPECT_EQ(y.at(2 * row + 1), y.at(2 * row) + 1);
        // The first epoch.
        bool isNew = seen.insert(y.at(2 * row)).second;
        EXPECT_TRUE(isNew || seen.size() == 9);
      }
    }
  }
  EXPECT_EQ(seen.size(), 9u);
}

/// What the processes that run the plan have read, once it stays.
std::vector<uint64_t> bytesOf(int processes, const std::string &path) {
  auto ends = makeLoopback(processes);
  std::vector<uint64_t> bytes(ends.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ends.size(); ++i) {
    threads.emplace_back([&, i] {
      SessionOptions options;
      options.transport = processes > 1 ? ends[i] : nullptr;
      auto session = Session::open(makeEcho(DataKind::tokens), options);
      ASSERT_TRUE(session.ok()) << session.message();
      EXPECT_TRUE((*session)->useData("", path).ok());
      EXPECT_TRUE((*session)->run("echo", 0).ok());
      // The step that is read ahead counts too.
      for (int wait = 0; wait < 20; ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        bytes[i] = (*session)->bytesRead();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return bytes;
}

// A process reads the rows of its own devices, and no byte of others'.
TEST(SessionTest, ProcessesReadTheirOwnRows) {
  std::string path = testing::TempDir() + "session-own.bin";
  std::ofstream(path, std::ios::binary) << std::string(1000, 'x');
  constexpr uint64_t row = 2 * microbatches * columns;
  EXPECT_EQ(bytesOf(1, path), (std::vector<uint64_t>{3 * row}));
  EXPECT_EQ(bytesOf(2, path), (std::vector<uint64_t>{2 * row, row}));
}

/// Whether a session reads `columns` tokens of 0 to 99 for each row in time.
void expectWindows(Session &session, int64_t m) {
  HostTensor y = *session.fetch("y", m);
  for (int64_t i = 0; i < rows * columns; i += columns) {
    EXPECT_EQ(y.at(i + 1), y.at(i) + 1);
  }
}

// Values, files and seeds that change between steps are those of the next
// step, although its data was read ahead.
TEST(SessionTest, WhatChangesAfterReadingAhead) {
  std::string folder = testing::TempDir();
  auto write = [&](const std::string &name, char first) {
    std::string bytes;
    for (char c = 0; c < 60; ++c) {
      bytes += char(first + c);
    }
    std::ofstream(folder + name, std::ios::binary) << bytes;
    return folder + name;
  };
  std::string low = write("low.bin", 0), high = write("high.bin", 60);
  auto session = openEcho(DataKind::tokens);
  ASSERT_TRUE(session->useData("", low).ok());
  ASSERT_TRUE(session->run("echo", 0).ok());
  expectWindows(*session, 0);
  ASSERT_TRUE(session->useData("", high).ok());
  ASSERT_TRUE(session->run("echo", 1).ok());
  for (int64_t m : {0, 1}) {
    expectWindows(*session, m);
    EXPECT_GE(session->fetch("y", m)->at(0), 60);
  }
  ASSERT_TRUE(session->setInput("echo", "x", 1, numbered(500)).ok());
  ASSERT_TRUE(session->run("echo", 2).ok());
  EXPECT_EQ(session->fetch("y", 1)->at(0), 500);
  EXPECT_GE(session->fetch("y", 0)->at(0), 60);
  // A step that is not the next one.
  HostTensor before = *session->fetch("y", 0);
  ASSERT_TRUE(session->run("echo", 7).ok());
  ASSERT_TRUE(session->run("echo", 2).ok());
  EXPECT_EQ(session->fetch("y", 0)->bytes, before.bytes);
}

// The data of a step that is wrong is an error of that step, not of the one
// before it; so is a file that becomes shorter meanwhile.
TEST(SessionTest, ErrorsOfTheirOwnStep) {
  std::string path = testing::TempDir() + "session-shrinks.bin";
  std::ofstream(path, std::ios::binary) << std::string(1 << 20, 'x');
  Plan plan = makeEcho(DataKind::tokens);
  auto session = Session::open(plan, {});
  ASSERT_TRUE((*session)->useData("", path).ok());
  ASSERT_TRUE((*session)->run("echo", 0).ok());
  ASSERT_TRUE((*session)->run("echo", 1).ok());
  std::filesystem::resize_file(path, 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Status status;
  for (int64_t step = 2; step < 5 && status.ok(); ++step) {
    status = (*session)->run("echo", step);
  }
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  EXPECT_THAT(status.message(),
              HasSubstr("expected a file of 1048576 bytes, as when it was "
                        "opened, got 100"));
  EXPECT_EQ(status.error().file, path);
  // Numbers beyond the plan's limit.
  plan.entries[0].inputs[0].limit = 'x';
  session = Session::open(plan, {});
  std::ofstream(path, std::ios::binary) << std::string(100, 'x');
  ASSERT_TRUE((*session)->useData("", path).ok());
  status = (*session)->run("echo", 0);
  EXPECT_THAT(status.message(), HasSubstr("input 'x': expected numbers below "
                                          "120 at token "));
}

// Means of an entry that evaluates; the values of the step before stay.
TEST(SessionTest, EvaluatesOnWhatIsHeldOut) {
  Plan plan = makeEcho(DataKind::array);
  Entry held = plan.entries[0];
  held.name = "held";
  held.kind = EntryKind::evaluate;
  plan.entries.push_back(held);
  std::string path = testing::TempDir() + "session-held.npy";
  ASSERT_TRUE(writeNpy(numbered(0, {40, columns}), path).ok());
  auto session = Session::open(plan, {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->useData("", path).ok());
  EXPECT_EQ((*session)->evaluate("echo", 1).kind(), ErrorKind::usage);
  Status status = (*session)->evaluate("held", 1).status();
  EXPECT_EQ(status.kind(), ErrorKind::usage);
  EXPECT_EQ(status.message(),
            "expected data that training leaves out for input 'x', got none");
  plan.sources[0].rule.heldOut = 0.4;
  session = Session::open(plan, {});
  ASSERT_TRUE((*session)->useData("", path).ok());
  ASSERT_TRUE((*session)->setExternal("lr", 0.25).ok());
  ASSERT_TRUE((*session)->run("echo", 0).ok());
  HostTensor before = *(*session)->fetch("y");
  ASSERT_TRUE((*session)->setExternal("lr", 0.5).ok());
  auto means = (*session)->evaluate("held", 0);
  ASSERT_TRUE(means.ok()) << means.message();
  // 16 rows are held out, and a step of two microbatches takes 6.
  EXPECT_EQ(means->second, 2);
  EXPECT_EQ(means->first.at(0).name, "rate");
  EXPECT_EQ(means->first.at(0).value, 0.5);
  EXPECT_EQ((*session)->metric("rate"), 0.25);
  EXPECT_EQ((*session)->fetch("y")->bytes, before.bytes);
  ASSERT_TRUE((*session)->submit("echo", 1).ok());
  EXPECT_EQ((*session)->evaluate("held", 1).kind(), ErrorKind::usage);
  EXPECT_TRUE((*session)->wait().ok());
}

TEST(SessionTest, Devices) {
  Plan plan;
  plan.mesh = {{{"data", 1024}}, -1};
  plan.arenas = {0};
  EXPECT_TRUE(Session::open(plan, {}).ok());
  plan.mesh.axes[0].size = 1025;
  Status status = Session::open(plan, {}).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(),
            "expected a plan for at most 1024 virtual devices, got 1025");
}

// Of the bytes of the arena, those in buffers and those beside them.
TEST(SessionTest, MemoryAudit) {
  SessionOptions options;
  options.poison = 0x5a;
  auto session = *Session::open(makeEcho(), options);
  for (int64_t m : {0, 1}) {
    ASSERT_TRUE(session->setInput("echo", "x", m, numbered(m)).ok());
  }
  ASSERT_TRUE(session->run("echo", 0).ok());
  MemoryAudit audit = *session->auditMemory();
  // Two slots of 16 bytes and a scalar on each device; 3 x 64 bytes reserved.
  EXPECT_EQ(audit.insideBuffers, 2u * (2 * 16 + 4));
  EXPECT_EQ(audit.outsideBuffers, 2u * (3 * 64 - 36));
  EXPECT_EQ(audit.touchedOutside, 0u);
}

TEST(SessionTest, PlansAreVerified) {
  Plan plan = makeEcho();
  plan.buffers[0].bytes = 8;
  EXPECT_EQ(Session::open(plan, {}).kind(), ErrorKind::mismatch);
  plan.streams.clear();
  EXPECT_EQ(Session::open(plan, {}).kind(), ErrorKind::malformed);
}

// Bytes that the plan's instructions write beside its buffers.
TEST(SessionTest, MemoryAuditFindsOtherBytes) {
  SessionOptions options;
  options.poison = 0x5a;
  options.bypassLoader = true;
  Plan plan = makeEcho();
  plan.buffers[0].bytes = 8; // Half of the input's rows.
  auto session = *Session::open(plan, options);
  for (int64_t m : {0, 1}) {
    ASSERT_TRUE(session->setInput("echo", "x", m, numbered(m)).ok());
  }
  ASSERT_TRUE(session->run("echo", 0).ok());
  MemoryAudit audit = *session->auditMemory();
  EXPECT_EQ(audit.insideBuffers, 2u * (2 * 8 + 4));
  EXPECT_EQ(audit.outsideBuffers, 2u * (3 * 64 - 20));
  // Two slots of eight bytes on each device.
  EXPECT_EQ(audit.touchedOutside, 2u * 2 * 8);
}

// What no program returns has no value.
TEST(SessionTest, MetricsThatNothingReturns) {
  Plan plan = makeEcho();
  plan.entries[0].metrics.push_back({"idle", DType::f32});
  auto session = *Session::open(plan, {});
  EXPECT_EQ(session->inFlight(), std::vector<int64_t>{0});
  for (int64_t m : {0, 1}) {
    ASSERT_TRUE(session->setInput("echo", "x", m, numbered(m)).ok());
  }
  ASSERT_TRUE(session->run("echo", 0).ok());
  ASSERT_EQ(session->metrics().size(), 2u);
  EXPECT_EQ(session->metric("rate"), 0.5);
  EXPECT_EQ(session->metric("idle"), 0);
}

// A plan's file without a folder lies in the current one.
TEST(SessionTest, PlansOfTheCurrentFolder) {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  ASSERT_TRUE(writePlan(makeEcho(), "session-echo.plan").ok());
  auto session = openPlanFile("session-echo.plan", {});
  std::filesystem::current_path(before);
  ASSERT_TRUE(session.ok()) << session.message();
  EXPECT_EQ((*session)->plan().entries[0].name, "echo");
}

} // namespace
} // namespace llmc::rt::test
