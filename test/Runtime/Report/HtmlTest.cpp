//===- HtmlTest.cpp - Text in pages ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"

#include <gtest/gtest.h>

namespace llmc::rt::report {
namespace {

TEST(Html, HostileText) {
  EXPECT_EQ(escapeHtml("</script><b a='1' c=\"2\">&"),
            "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
  EXPECT_EQ(escapeHtml("a\033[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(escapeHtml(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escapeHtml("\xc3\xa4\xff"), "\xc3\xa4\xef\xbf\xbd");
  // A character is whole or not there.
  EXPECT_EQ(escapeHtml("ab\xc3\xa4", 3), "ab...");
  EXPECT_EQ(escapeHtml("ab\xc3\xa4", 4), "ab\xc3\xa4");
  EXPECT_EQ(escapeHtml(std::string(1 << 20, '<'), 3), "&lt;&lt;&lt;...");
}

TEST(Html, Numbers) {
  EXPECT_EQ(printSeconds(0), "0 s");
  EXPECT_EQ(printSeconds(12.34), "12.3 s");
  EXPECT_EQ(printSeconds(1), "1.00 s");
  EXPECT_EQ(printSeconds(0.999), "999 ms");
  EXPECT_EQ(printSeconds(3.4e-6), "3.40 µs");
  EXPECT_EQ(printSeconds(6e-12), "0.01 ns");
  EXPECT_EQ(printSize(1023), "1023 B");
  EXPECT_EQ(printSize(1024), "1.00 KiB");
  EXPECT_EQ(printSize(12.5 * (1 << 20)), "12.5 MiB");
  EXPECT_EQ(printSize(1e15), "931323 GiB");
  EXPECT_EQ(printCount(999), "999");
  EXPECT_EQ(printCount(91.226e6), "91.2 M");
  EXPECT_EQ(printPercent(0.1234), "12.3%");
}

TEST(Html, Ticks) {
  EXPECT_DOUBLE_EQ(tickStep(10, 8), 2);
  EXPECT_DOUBLE_EQ(tickStep(8, 8), 1);
  EXPECT_DOUBLE_EQ(tickStep(0.0301, 8), 0.005);
  EXPECT_DOUBLE_EQ(tickStep(0, 8), 1);
}

} // namespace
} // namespace llmc::rt::report
