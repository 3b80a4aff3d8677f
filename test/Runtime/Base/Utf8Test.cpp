//===- Utf8Test.cpp - Characters of texts that may be none ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Utf8.h"

#include <gtest/gtest.h>

#include <string>

using llmc::rt::lengthOfCharacter;

// The first and the last of each length, and what lies beside them.
TEST(Utf8, Lengths) {
  EXPECT_EQ(lengthOfCharacter(""), 0u);
  EXPECT_EQ(lengthOfCharacter(std::string(1, '\0')), 1u);
  EXPECT_EQ(lengthOfCharacter("\x7f"), 1u);
  EXPECT_EQ(lengthOfCharacter("\x80"), 0u);
  EXPECT_EQ(lengthOfCharacter("\xc2\x80"), 2u);
  EXPECT_EQ(lengthOfCharacter("\xdf\xbf"), 2u);
  EXPECT_EQ(lengthOfCharacter("\xe0\xa0\x80"), 3u);
  EXPECT_EQ(lengthOfCharacter("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(lengthOfCharacter("\xee\x80\x80"), 3u);
  EXPECT_EQ(lengthOfCharacter("\xef\xbf\xbf"), 3u);
  EXPECT_EQ(lengthOfCharacter("\xf0\x90\x80\x80"), 4u);
  EXPECT_EQ(lengthOfCharacter("\xf4\x8f\xbf\xbf"), 4u);
}

TEST(Utf8, None) {
  for (const char *text :
       {"\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xc2\x20", "\xe0\xa0",
        "\xe0\xa0\xc0", "\xff"}) {
    EXPECT_EQ(lengthOfCharacter(text), 0u) << text;
  }
}
