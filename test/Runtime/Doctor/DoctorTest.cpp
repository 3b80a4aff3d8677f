//===- DoctorTest.cpp - What this machine has of what llmc can use --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Doctor/Doctor.h"

#include <gtest/gtest.h>

#include <set>

namespace llmc::rt::test {

static const std::vector<Finding> twoFindings = {
    {"this", "1.2", "1 or later", "what it is for", "install this", true},
    {"that", "", "3 or later", "more", "install \"that\"", false},
};

TEST(Doctor, PrintsColumnsWithHints) {
  EXPECT_EQ(printFindings(twoFindings),
            "+ this  1.2 (wanted: 1 or later)        what it is for\n"
            "- that  not there (wanted: 3 or later)  more\n"
            "        install \"that\"\n");
}

TEST(Doctor, PrintsJson) {
  std::string text = printFindingsAsJson(twoFindings);
  EXPECT_NE(text.find("\"hint\": \"install \\\"that\\\"\""), std::string::npos)
      << text;
  EXPECT_EQ(text.find("install this"), std::string::npos);
}

TEST(Doctor, NeedsAreChecked) {
  EXPECT_TRUE(checkNeeds(twoFindings, {"this"}).ok());
  Status missing = checkNeeds(twoFindings, {"this", "that"});
  EXPECT_EQ(missing.kind(), ErrorKind::mismatch);
  EXPECT_EQ(describe(missing.error()),
            "expected that (more), got none (install \"that\")");
  Status unknown = checkNeeds(twoFindings, {"other"});
  EXPECT_EQ(unknown.kind(), ErrorKind::usage);
  EXPECT_EQ(unknown.message(), "expected one of this, that, got 'other'");
}

TEST(Doctor, VersionsAsLibrariesCountThem) {
  EXPECT_EQ(printVersion(130102, 10000, 100), "13.1.2");
  EXPECT_EQ(printVersion(91900, 10000, 100), "9.19.0");
  EXPECT_EQ(printVersion(1301, 100, 1), "13.1");
}

// Each part has a name of its own, and says what it is for.
TEST(Doctor, ExaminesThisMachine) {
  std::set<std::string> names;
  for (const Finding &each : examineMachine()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.purpose.empty()) << each.name;
    EXPECT_TRUE(!each.fits || !each.found.empty()) << each.name;
    EXPECT_TRUE(each.fits || !each.hint.empty()) << each.name;
  }
  for (const char *name : {"processor", "avx2", "backend-cpu", "gloo", "mpi",
                           "cuda-driver", "cublaslt", "cudnn", "nccl"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

} // namespace llmc::rt::test
