//===- ReadAheadTest.cpp - Data of the next step, in the background -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Data/ReadAhead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace llmc::rt::exec {
namespace {

using namespace std::chrono_literals;

// Files that take long are read while the caller does something else.
TEST(ReadAhead, NobodyWaitsForSlowFiles) {
  ReadAhead ahead([](int64_t) {
    std::this_thread::sleep_for(30ms);
    return Status::success();
  });
  std::chrono::duration<double> waited{};
  ahead.begin(0);
  for (int64_t step = 0; step < 5; ++step) {
    std::this_thread::sleep_for(60ms);
    auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(ahead.take(step).has_value());
    waited += std::chrono::steady_clock::now() - begin;
    ahead.begin(step + 1);
  }
  EXPECT_LT(waited, 75ms) << "five times reading takes 150 ms";
}

// What was begun is what is taken, with its error; anything else is dropped.
TEST(ReadAhead, OnlyTheStepThatWasBegun) {
  std::vector<int64_t> steps;
  ReadAhead ahead([&](int64_t step) {
    steps.push_back(step);
    return step == 3 ? makeError(ErrorKind::malformed, "three")
                     : Status::success();
  });
  EXPECT_FALSE(ahead.take(0));
  ahead.begin(2);
  EXPECT_TRUE(ahead.take(2)->ok());
  EXPECT_FALSE(ahead.take(2));
  ahead.begin(3);
  EXPECT_EQ(ahead.take(3)->message(), "three");
  ahead.begin(3);
  EXPECT_FALSE(ahead.take(4));
  ahead.begin(3);
  ahead.begin(5);
  EXPECT_TRUE(ahead.take(5)->ok());
  ahead.begin(6);
  ahead.drop();
  EXPECT_FALSE(ahead.take(6));
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 3, 3, 3, 5, 6}));
}

// It ends while something is read, and nothing is read afterwards.
TEST(ReadAhead, EndsWithWhatIsRead) {
  std::atomic<int> running{0};
  for (int i = 0; i < 20; ++i) {
    {
      ReadAhead ahead([&](int64_t) {
        ++running;
        std::this_thread::sleep_for(1ms);
        --running;
        return Status::success();
      });
      ahead.begin(1);
    }
    EXPECT_EQ(running, 0);
  }
}

} // namespace
} // namespace llmc::rt::exec
