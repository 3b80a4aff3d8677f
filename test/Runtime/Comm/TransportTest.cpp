//===- TransportTest.cpp - Messages between processes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopbackTransport.h"

#include <gtest/gtest.h>

#include <thread>

namespace llmc::rt::test {

TEST(Transport, GathersWhatEachProcessSays) {
  auto ends = makeLoopback(3);
  std::vector<std::string> words = {"a", "", "a longer word"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        auto all = gatherBytes(*ends[i], words[i]);
        ASSERT_TRUE(all.ok());
        EXPECT_EQ(*all, words);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

// Whoever waits elsewhere asks so whether the job goes on.
TEST(Transport, AnExchangeOfNothingTellsOfAnAbort) {
  auto ends = makeLoopback(2);
  EXPECT_TRUE(ends[0]->exchange(hostLane, {}, {}).ok());
  ends[0]->abort(makeError(ErrorKind::peerLost, "process 1 was killed"));
  EXPECT_EQ(ends[0]->exchange(hostLane, {}, {}).message(),
            "process 1 was killed");
}

} // namespace llmc::rt::test
