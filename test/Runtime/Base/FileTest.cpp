//===- FileTest.cpp - Mapped and atomically written files -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc::rt;

static std::string makeFolder() {
  std::string pattern = testing::TempDir() + "llmc-file-XXXXXX";
  return ::mkdtemp(pattern.data());
}

namespace {
/// Leaves a mark of this process where it puts its files.
class ProcessMark : public testing::Environment {
public:
  static constexpr const char *prefix = "llmc-process-";
  static std::string name() { return prefix + std::to_string(::getpid()); }
  void SetUp() override {
    EXPECT_TRUE(writeFileAtomically(testing::TempDir() + name(), "").ok());
  }
  void TearDown() override {
    std::filesystem::remove(testing::TempDir() + name());
  }
};
} // namespace

static const testing::Environment *const mark =
    testing::AddGlobalTestEnvironment(new ProcessMark);

// The suite runs shards of one program side by side; nothing of another process
// lies where this one puts its files.
TEST(File, ShardsHaveFoldersOfTheirOwn) {
  if (!std::getenv("GTEST_TOTAL_SHARDS")) {
    GTEST_SKIP() << "not a shard of the suite";
  }
  ASSERT_NE(mark, nullptr);
  for (const auto &entry :
       std::filesystem::directory_iterator(testing::TempDir())) {
    std::string name = entry.path().filename();
    EXPECT_TRUE(name.rfind(ProcessMark::prefix, 0) != 0 ||
                name == ProcessMark::name())
        << entry.path();
  }
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

// As `-o /dev/null`, which root could replace.
TEST(File, WhatIsNoFileIsWrittenToAndStays) {
  std::string path = testing::TempDir() + "/pipe";
  ::unlink(path.c_str());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(writeFileAtomically(path, "one").ok());
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof(text)), 3);
  EXPECT_STREQ(text, "one");
  ::close(reader);
  struct stat found;
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_TRUE(S_ISFIFO(found.st_mode));
  ::unlink(path.c_str());
}

// What fits the limit is read whole, in several blocks; one byte more is not.
TEST(File, LimitIsTheLastSizeThatIsRead) {
  std::string path = makeFolder() + "/a";
  std::string contents(200000, 'x');
  contents += "end";
  ASSERT_TRUE(writeFileAtomically(path, contents).ok());
  EXPECT_EQ(*readFile(path, contents.size()), contents);
  Status status = readFile(path, contents.size() - 1).status();
  EXPECT_EQ(status.message(), "expected at most 200002 bytes");
  EXPECT_EQ(status.error().file, path);
  EXPECT_EQ(MappedFile::open(path)->text(), contents);
  EXPECT_FALSE(readFile(path + ".none").ok());
  EXPECT_FALSE(readFile(makeFolder()).ok());
}

TEST(File, MovesKeepOneMapping) {
  std::string folder = makeFolder();
  ASSERT_TRUE(writeFileAtomically(folder + "/a", "first").ok());
  ASSERT_TRUE(writeFileAtomically(folder + "/b", "other").ok());
  auto a = MappedFile::open(folder + "/a"), b = MappedFile::open(folder + "/b");
  ASSERT_TRUE(a.ok() && b.ok());
  MappedFile file = *std::move(a);
  EXPECT_EQ(a->data(), nullptr);
  EXPECT_EQ(a->size(), 0u);
  file = *std::move(b);
  EXPECT_EQ(file.text(), "other");
  EXPECT_EQ(file.path(), folder + "/b");
  MappedFile &self = file;
  file = std::move(self);
  EXPECT_EQ(file.text(), "other");
  file.prefetch();
}

// Readable by all, nothing left beside it, whether it succeeds or fails.
TEST(File, LeavesNothingBeside) {
  std::string folder = makeFolder();
  ASSERT_TRUE(writeFileAtomically(folder + "/a", "x").ok());
  struct stat info;
  ASSERT_EQ(::stat((folder + "/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  // A folder cannot be replaced by a file.
  ASSERT_EQ(::mkdir((folder + "/d").c_str(), 0755), 0);
  Status status = writeFileAtomically(folder + "/d", "x");
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  EXPECT_EQ(status.message().find("cannot rename to: "), 0u)
      << status.message();
  size_t files = 0;
  for (const auto &each : std::filesystem::directory_iterator(folder)) {
    (void)each;
    ++files;
  }
  EXPECT_EQ(files, 2u);
}

// A file that grows beyond what the process may write: the old one stays, and
// nothing lies beside it.
TEST(File, PartialWritesAreRefused) {
  std::string folder = makeFolder(), path = folder + "/a";
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 100;
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  Status fits = writeFileAtomically(path, std::string(100, 'x'));
  Status status = writeFileAtomically(path, std::string(101, 'y'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(fits.ok()) << fits.message();
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  EXPECT_EQ(status.message(), "cannot write: File too large");
  EXPECT_EQ(status.error().file, path);
  EXPECT_EQ(*readFile(path), std::string(100, 'x'));
  std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// ThreadSanitizer's own copies do not survive a jump out of them.
#if defined(__SANITIZE_THREAD__)
static constexpr bool canJump = false;
#elif defined(__has_feature)
static constexpr bool canJump = !__has_feature(thread_sanitizer);
#else
static constexpr bool canJump = true;
#endif

// A mapped file that becomes shorter, by pages or within one, or longer, is
// found out, and no signal ends the process; one that is replaced stays mapped.
TEST(File, SizesThatChangeWhileMapped) {
  if (!canJump) {
    GTEST_SKIP() << "under ThreadSanitizer";
  }
  std::string path = makeFolder() + "/mapped", bytes(20000, 'x');
  char out[20000] = {};
  for (off_t size : {0, 5000, 19990, 20001}) {
    ASSERT_TRUE(writeFileAtomically(path, bytes).ok());
    Result<MappedFile> file = MappedFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->copy(1, 19999, out).ok());
    EXPECT_EQ(std::string(out, 19999), bytes.substr(1));
    ASSERT_EQ(::truncate(path.c_str(), size), 0);
    Status status = file->copy(12000, 8000, out);
    EXPECT_EQ(status.kind(), ErrorKind::malformed);
    EXPECT_EQ(status.message(),
              "expected a file of 20000 bytes, as when it was "
              "opened, got " +
                  std::to_string(size));
    EXPECT_EQ(status.error().file, path);
    EXPECT_EQ(status.error().offset, 12000u);
  }
  ASSERT_TRUE(writeFileAtomically(path, bytes).ok());
  Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(writeFileAtomically(path, "other").ok());
  EXPECT_TRUE(file->copy(0, 20000, out).ok());
  EXPECT_EQ(std::string(out, 20000), bytes);
}

// A signal for other memory than what is copied goes where it went.
TEST(FileDeathTest, SignalsOfOthers) {
  if (!canJump) {
    GTEST_SKIP() << "under ThreadSanitizer";
  }
  std::string path = makeFolder() + "/other";
  auto touch = [&] {
    (void)writeFileAtomically(path, std::string(20000, 'x'));
    Result<MappedFile> file = MappedFile::open(path);
    char out[100];
    (void)file->copy(0, 100, out);
    (void)::truncate(path.c_str(), 0);
    std::exit(file->data()[10000]);
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGBUS), "");
}

// A name without a folder lies in the current one.
TEST(File, RelativeNames) {
  std::filesystem::current_path(makeFolder());
  ASSERT_TRUE(writeFileAtomically("a", "x").ok());
  EXPECT_EQ(*readFile("a"), "x");
}
