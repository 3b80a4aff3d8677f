//===- ProcessesTest.cpp - One plan in several processes ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-made plan of docs/walkthrough.md in one, two, four and eight
// processes, which are threads here: the same bits everywhere, and every
// process says of the whole what one process says.
//
//===----------------------------------------------------------------------===//

#include "LoopbackTransport.h"
#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <gtest/gtest.h>

#include <thread>

namespace llmc::rt::test {
namespace {

/// What a user can learn of a run, bit by bit.
std::string describeRun(Session &session, int steps) {
  std::string bits;
  for (int step = 0; step < steps; ++step) {
    Status status = session.run("train", step);
    if (!status.ok()) {
      return status.message();
    }
    for (const NamedValue &metric : session.metrics()) {
      bits += std::string(metric.name);
      append(bits, &metric.value, sizeof(metric.value));
    }
  }
  for (const char *name : {"E", "E.m", "W1", "W1.v", "W2", "tokens"}) {
    HostTensor value = *session.fetch(name);
    append(bits, value.bytes.data(), value.bytes.size());
  }
  for (int64_t stage : {0, 1}) {
    std::vector<plan::Traffic> rows = *session.traffic(stage);
    for (const plan::Traffic &row : rows) {
      bits += row.kind + row.axes + std::to_string(row.count) + " " +
              std::to_string(row.bytesIn) + ";";
    }
  }
  CommunicatorCounts counts = *session.communication();
  append(bits, &counts, sizeof(counts));
  bits += std::to_string(session.memory().size());
  return bits + (*session.copiesAgree("E") ? " equal" : " different");
}

/// The same of each process.
std::vector<std::string> runIn(int processes, int microbatches) {
  auto ends = makeLoopback(processes);
  std::vector<std::string> results(ends.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ends.size(); ++i) {
    threads.emplace_back([&, i] {
      SessionOptions options;
      options.transport = ends[i];
      options.deadline = std::chrono::seconds(30);
      auto session = openWalkthrough(
          makeWalkthroughPlan(microbatches, walkthroughObject), options);
      results[i] = session ? describeRun(*session, 5) : "not opened";
      if (session) {
        EXPECT_EQ(session->process(), static_cast<int>(i));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return results;
}

TEST(ProcessesTest, EqualOneProcessToTheBit) {
  walkthroughCorpus();
  for (int microbatches : {2, 4}) {
    auto alone =
        openWalkthrough(makeWalkthroughPlan(microbatches, walkthroughObject));
    ASSERT_TRUE(alone);
    const std::string expected = describeRun(*alone, 5);
    for (int processes : {2, 4, 8}) {
      for (const std::string &found : runIn(processes, microbatches)) {
        EXPECT_TRUE(found == expected)
            << processes << " processes, " << found.size() << " bytes, "
            << expected.size() << " expected: " << found.substr(0, 300);
      }
    }
  }
}

TEST(ProcessesTest, DevicesAreDealtOutEvenly) {
  SessionOptions options;
  options.folder = walkthroughFolder;
  options.transport = makeLoopback(3)[0];
  auto session =
      Session::open(makeWalkthroughPlan(2, walkthroughObject), options);
  EXPECT_EQ(session.kind(), ErrorKind::mismatch);
  EXPECT_EQ(session.message(), "expected a plan for a multiple of 3 devices, "
                               "the number of processes, got 8");
}

} // namespace
} // namespace llmc::rt::test
