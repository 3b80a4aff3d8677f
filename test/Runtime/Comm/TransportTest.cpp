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

} // namespace llmc::rt::test
