//===- FileTest.cpp - Mapped and atomically written files -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc::rt;

static std::string makeFolder() {
  std::string pattern = testing::TempDir() + "llmc-file-XXXXXX";
  return ::mkdtemp(pattern.data());
}

TEST(File, WritesAndMaps) {
  std::string path = makeFolder() + "/a";
  ASSERT_TRUE(writeFileAtomically(path, "one").ok());
  ASSERT_TRUE(writeFileAtomically(path, "second").ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->text(), "second");
  EXPECT_EQ(*readFile(path), "second");
  EXPECT_EQ(readFile(path, 3).kind(), ErrorKind::malformed);
}

TEST(File, EmptyFileMaps) {
  std::string path = makeFolder() + "/empty";
  ASSERT_TRUE(writeFileAtomically(path, "").ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 0u);
}

TEST(File, RefusesWhatIsNoFile) {
  std::string folder = makeFolder();
  EXPECT_EQ(MappedFile::open(folder).kind(), ErrorKind::malformed);
  EXPECT_EQ(MappedFile::open(folder + "/none").kind(), ErrorKind::malformed);
  std::string fifo = folder + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(fifo).message(), "expected a regular file");
}

TEST(File, FailedWriteKeepsTheOldFile) {
  std::string folder = makeFolder();
  EXPECT_FALSE(writeFileAtomically(folder + "/no/such", "x").ok());
  EXPECT_FALSE(writeFileAtomically("/dev/full/x", "x").ok());
}
