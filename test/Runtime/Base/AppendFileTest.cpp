//===- AppendFileTest.cpp - Files that grow record by record --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/AppendFile.h"

#include "llmc/Runtime/Base/File.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace llmc::rt;

TEST(AppendFile, GoesOnOrBeginsAnew) {
  std::string path = testing::TempDir() + "llmc-append";
  for (bool goesOn : {false, true, false}) {
    Result<AppendFile> file = AppendFile::open(path, goesOn);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->append("ab\n").ok());
    EXPECT_EQ(*readFile(path), goesOn ? "ab\nab\n" : "ab\n");
  }
  Result<AppendFile> none = AppendFile::open(path + "/x", false);
  EXPECT_EQ(none.kind(), ErrorKind::usage);
  EXPECT_EQ(none.error().file, path + "/x");
}

// A file may grow to 10 bytes: the record that does not fit leaves nothing.
TEST(AppendFile, WholeRecordsOrNone) {
  std::string path = testing::TempDir() + "llmc-append-full";
  Result<AppendFile> file = AppendFile::open(path, false);
  ASSERT_TRUE(file.ok());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_TRUE(file->append("12345678").ok());
  Status full = file->append("abcdefgh");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(full.kind(), ErrorKind::malformed);
  EXPECT_EQ(full.error().file, path);
  EXPECT_EQ(*readFile(path), "12345678");
  EXPECT_TRUE(file->append("abc").ok());
  EXPECT_EQ(*readFile(path), "12345678abc");
  EXPECT_EQ(AppendFile::open("/dev/full", true)->append("x").message(),
            "cannot write: No space left on device");
}
