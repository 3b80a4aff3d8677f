//===- NamesTest.cpp - The user's names never meet ours -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Random.h"

#include <gtest/gtest.h>
#include <map>

using namespace llmc::rt;

TEST(Names, WordsOfOursGetASign) {
  EXPECT_EQ(escapeName("t"), "t$");
  EXPECT_EQ(escapeName("train.w"), "train$.w");
  EXPECT_EQ(escapeName("w.local"), "w.local$");
  EXPECT_EQ(escapeName("t$"), "t$$");
  EXPECT_EQ(escapeName("blocks.0.w"), "blocks.0.w");
  EXPECT_EQ(escapeName(""), "");
}

TEST(Names, DerivedNamesAreTheUsersToo) {
  EXPECT_EQ(unescapeName("t$.m"), "t.m");
  EXPECT_EQ(unescapeName("grad.loss$"), "grad.loss");
  EXPECT_EQ(unescapeName("loss"), "loss");
}

TEST(Names, OursHaveNoSign) {
  for (std::string_view word : reservedWords()) {
    EXPECT_TRUE(isOurs(word));
    EXPECT_TRUE(isOurs(std::string(word) + ".more"));
    EXPECT_FALSE(isOurs(escapeName(word)));
    EXPECT_FALSE(isOurs(escapeName(std::string(word) + ".more")));
  }
  EXPECT_FALSE(isOurs("accuracy"));
}

/// Different names stay different, come back, and are none of ours: names of
/// up to three words out of the reserved ones, signs and others.
TEST(Names, EscapingIsOneToOne) {
  std::vector<std::string> words = {"", "w", "0", "$", "a$", "t$", "loss$$"};
  for (std::string_view word : reservedWords()) {
    words.emplace_back(word);
  }
  RandomStream stream(1, "names");
  std::map<std::string, std::string> seen;
  for (uint64_t i = 0; i < 20000; ++i) {
    std::string name = words[stream.bits(4 * i) % words.size()];
    for (uint64_t k = 1; k <= stream.bits(4 * i + 3) % 3; ++k) {
      name += "." + words[stream.bits(4 * i + k) % words.size()];
    }
    std::string symbol = escapeName(name);
    EXPECT_EQ(unescapeName(symbol), name);
    EXPECT_FALSE(isOurs(symbol)) << symbol;
    auto [place, isNew] = seen.try_emplace(symbol, name);
    EXPECT_EQ(place->second, name) << symbol;
  }
}

TEST(Names, ListsAreShort) {
  EXPECT_EQ(listGlobbed({"a.x", "b", "a.y"}, 4), "a.* (2), b");
  EXPECT_EQ(listGlobbed({"a", "b", "c"}, 2), "a, b, ...");
  EXPECT_EQ(listGlobbed({}, 2), "");
  // Names come from files.
  EXPECT_EQ(listGlobbed({"a\x1b[1m", "b\n.x", "b\n.y"}, 4),
            "a\\x1b[1m, b\\n.* (2)");
}

TEST(Names, NumbersOfBlocksAreHidden) {
  EXPECT_EQ(hideNumbers("'blocks.3.w' and 'blocks.12'"),
            "'blocks.*.w' and 'blocks.*'");
  EXPECT_EQ(hideNumbers("blocks.0.up, 12 B"), "blocks.*.up, 12 B");
  EXPECT_EQ(hideNumbers("a.1 b.22"), "a.* b.*");
  EXPECT_EQ(hideNumbers("a.1b, 3.x. "), "a.1b, 3.x. ");
}
