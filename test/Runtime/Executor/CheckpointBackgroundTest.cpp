//===- CheckpointBackgroundTest.cpp - Checkpoints beside steps ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states do not fit into the memory that a checkpoint may take, and the
// disk writes when the test tells it to, slowly, or not at all: the update
// waits for the disk, and the checkpoint has the bits of its edge.
//
//===----------------------------------------------------------------------===//

#include "ShiftPlan.h"
#include "llmc/Runtime/Executor/Checkpointing.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace llmc::rt::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// 8 MiB of each state; the memory is as much, twice a block.
constexpr int64_t length = int64_t(1) << 21;
constexpr uint64_t memory = uint64_t(8) << 20;

constexpr bool isUnderSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

struct BackgroundFolder {
  std::string path = testing::TempDir() + "llmc-checkpoint-background-" +
                     std::to_string(::getpid());
  BackgroundFolder() { fs::remove_all(path); }
  ~BackgroundFolder() { fs::remove_all(path); }
};

/// A disk that writes nothing while it is shut, and may be slow or full.
class TestDisk final : public FileCalls {
public:
  std::chrono::milliseconds pause{0};
  std::atomic<bool> isFull{false};

  Status write(int file, const std::string &path, const void *data,
               size_t bytes) override {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return isOpen; });
    std::this_thread::sleep_for(pause);
    if (isFull) {
      errno = ENOSPC;
      return fileError("write", path);
    }
    return FileCalls::write(file, path, data, bytes);
  }
  void open(bool given) {
    std::lock_guard<std::mutex> lock(mutex);
    isOpen = given;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = true;
};

class CheckpointBackground : public testing::Test {
protected:
  std::unique_ptr<Checkpointing> open(bool background) {
    CheckpointOptions options;
    options.folder = folder.path;
    options.keep = 0;
    options.background = background;
    options.memory = memory;
    options.calls = &disk;
    auto checkpoints = Checkpointing::open(options, nullptr);
    EXPECT_TRUE(checkpoints.ok()) << checkpoints.message();
    return *std::move(checkpoints);
  }
  /// The elements of the checkpoint's one file.
  std::string valuesOf(int64_t step) {
    std::string path =
        folder.path + "/" + checkpointName(step) + "/process-00000.safetensors";
    std::string bits(fs::file_size(path), 0);
    std::FILE *file = std::fopen(path.c_str(), "rb");
    EXPECT_EQ(std::fread(bits.data(), 1, bits.size(), file), bits.size());
    std::fclose(file);
    return bits.substr(bits.size() - 4 * length * sizeof(float));
  }

  BackgroundFolder folder;
  TestDisk disk;
};

TEST_F(CheckpointBackground, AnUpdateWaitsForTheDisk) {
  auto checkpoints = open(true);
  auto session = openShift("cpu", length);
  ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
  std::string edge = readNow(*session);
  disk.open(false);
  ASSERT_TRUE(checkpoints->write(*session, 1).ok());
  ASSERT_TRUE(session->submit("train", 1).ok());
  auto ended = std::async(std::launch::async, [&] { return session->wait(); });
  EXPECT_EQ(ended.wait_for(200ms), std::future_status::timeout);
  EXPECT_FALSE(checkpoints->isWritten());
  disk.open(true);
  EXPECT_TRUE(ended.get().ok());
  ASSERT_TRUE(checkpoints->finish().ok());
  EXPECT_TRUE(valuesOf(1) == edge);
  WrittenCheckpoint written = checkpoints->lastWritten();
  EXPECT_GT(written.waited, 0.1);
  EXPECT_GT(written.seconds, written.waited);
  EXPECT_NE(edge, readNow(*session));
}

/// Bytes of the process that are in memory, but for those of files: of the
/// program, the system maps as many at a time as it has at hand.
int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0, ofFiles = 0;
  file >> all >> resident >> ofFiles;
  return (resident - ofFiles) * ::sysconf(_SC_PAGESIZE);
}

/// The most that the process has in memory while it lives, above what it had.
class PeakMemory {
public:
  PeakMemory()
      : base(residentBytes()), peak(base), reader([this] {
          while (!isOver) {
            peak = std::max<int64_t>(peak, residentBytes());
            std::this_thread::sleep_for(1ms);
          }
        }) {}
  ~PeakMemory() {
    isOver = true;
    reader.join();
  }
  int64_t grown() const { return peak - base; }

private:
  int64_t base;
  std::atomic<int64_t> peak;
  std::atomic<bool> isOver{false};
  std::thread reader;
};

// A run of several steps and checkpoints: beside the bytes that may wait a
// process takes a block of 4 MiB, 1 MiB for its device, and up to 11 MiB that
// the heaps of its threads are larger than what is in them. All states would be
// 32 MiB.
TEST_F(CheckpointBackground, ARunStaysWithinTheMemoryThatIsGiven) {
  if (isUnderSanitizer()) {
    GTEST_SKIP() << "a sanitizer keeps what is freed";
  }
  auto checkpoints = open(true);
  auto session = openShift("cpu", length);
  ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
  ASSERT_TRUE(session->run("train", 0).ok());
  int64_t grown = 0;
  {
    PeakMemory peak;
    disk.pause = 10ms;
    for (int64_t step = 1; step <= 3; ++step) {
      ASSERT_TRUE(checkpoints->write(*session, step).ok());
      ASSERT_TRUE(session->run("train", step).ok());
    }
    ASSERT_TRUE(checkpoints->finish().ok());
    grown = peak.grown();
  }
  constexpr int64_t mebibyte = int64_t(1) << 20;
  EXPECT_GE(grown, int64_t(memory) / 2);
  EXPECT_LE(grown, int64_t(memory) + (4 + 1 + 11) * mebibyte);
}

// One checkpoint after the other, each beside the step after it.
TEST_F(CheckpointBackground, ASlowDiskHasTheBitsOfEachEdge) {
  auto checkpoints = open(true);
  auto session = openShift("opaque", length);
  ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
  disk.pause = 5ms;
  std::vector<std::string> edges;
  for (int64_t step = 1; step <= 4; ++step) {
    edges.push_back(readNow(*session));
    ASSERT_TRUE(checkpoints->write(*session, step).ok());
    ASSERT_TRUE(session->run("train", step).ok());
  }
  ASSERT_TRUE(checkpoints->finish().ok());
  for (int64_t step = 1; step <= 4; ++step) {
    EXPECT_TRUE(valuesOf(step) == edges[static_cast<size_t>(step - 1)]) << step;
  }
}

// Steps go on, the run hears of it when it asks, and what was there stays.
TEST_F(CheckpointBackground, AFullDiskIsOneLine) {
  auto checkpoints = open(true);
  auto session = openShift("cpu", length);
  ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
  ASSERT_TRUE(checkpoints->write(*session, 1).ok());
  ASSERT_TRUE(checkpoints->finish().ok());
  disk.isFull = true;
  ASSERT_TRUE(checkpoints->write(*session, 2).ok());
  EXPECT_TRUE(session->run("train", 2).ok());
  Result<std::string> end = checkpoints->finish();
  ASSERT_EQ(end.kind(), ErrorKind::noCheckpoint);
  EXPECT_THAT(end.message(), testing::HasSubstr("No space left on device"));
  EXPECT_TRUE(checkpoints->isWritten());
  EXPECT_TRUE(fs::exists(folder.path + "/" + checkpointName(1)));
  EXPECT_FALSE(fs::exists(folder.path + "/" + checkpointName(2)));
}

// Whichever ends first, the other is not asked for anything.
TEST_F(CheckpointBackground, ARunMayEndInTheMiddle) {
  for (bool sessionFirst : {false, true}) {
    auto checkpoints = open(true);
    auto session = openShift("cpu", length);
    ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
    disk.pause = 5ms;
    ASSERT_TRUE(checkpoints->write(*session, 1).ok());
    ASSERT_TRUE(session->submit("train", 1).ok());
    if (sessionFirst) {
      session.reset();
    }
    checkpoints.reset();
    EXPECT_FALSE(fs::exists(folder.path + "/" + checkpointName(1)));
  }
}

} // namespace
} // namespace llmc::rt::test
