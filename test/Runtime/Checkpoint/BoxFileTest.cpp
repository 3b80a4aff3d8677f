//===- BoxFileTest.cpp - Boxes of tensors in a safetensors file -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/BoxFile.h"

#include "TestFolder.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Safetensors.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace llmc::rt::test {
namespace {

TEST(BoxFile, WholeTensorsHaveTheirNames) {
  TestFolder folder;
  std::vector<TensorBox> boxes = {
      {"w", DType::f32, {2, 2}, {0, 0}, {2, 2}},
      {"v", DType::f32, {4, 4}, {2, 1}, {1, 2}},
      {"s", DType::i64, {}, {}, {}},
  };
  Result<std::string> header = printBoxHeader(boxes);
  ASSERT_TRUE(header.ok()) << header.message();
  std::string path = folder.path + "/x.safetensors";
  for (uint64_t limit : {0, 1}) {
    std::filesystem::remove(path);
    auto file = BoxFileWriter::create(systemCalls(), path, *header, limit);
    ASSERT_TRUE(file.ok()) << file.message();
    std::string data(4 * 4 + 2 * 4 + 8, 'x');
    ASSERT_TRUE((*file)->append(data.data(), data.size()).ok());
    ASSERT_TRUE((*file)->close().ok());
    Result<CheckpointFile> row = (*file)->finish();
    ASSERT_TRUE(row.ok());
    EXPECT_TRUE((*file)->isDone());
    EXPECT_EQ(row->name, "x.safetensors");
    EXPECT_EQ(row->bytes, std::filesystem::file_size(path));
    EXPECT_EQ(row->hash, hash64(*header + data));
    Result<Safetensors> read = Safetensors::open(path);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_TRUE(read->find("w"));
    EXPECT_TRUE(read->find("s"));
    ASSERT_TRUE(read->find("v[2:3,1:3]"));
    EXPECT_EQ(read->metadata().at("v[2:3,1:3]"),
              R"({"tensor":"v","origin":[2,1],"shape":[4,4]})");
  }
}

TEST(BoxFile, TwoStatesOfOneNameAreRefused) {
  TensorBox box{"w", DType::f32, {2}, {0}, {2}};
  Result<std::string> header = printBoxHeader({box, box});
  EXPECT_EQ(header.kind(), ErrorKind::mismatch);
  EXPECT_NE(header.message().find("'w'"), std::string::npos);
}

/// A disk that waits until it is told, and may fail.
class SlowDisk final : public FileCalls {
public:
  Status write(int file, const std::string &path, const void *data,
               size_t bytes) override {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return open; });
    if (fails) {
      errno = ENOSPC;
      return fileError("write", path);
    }
    return FileCalls::write(file, path, data, bytes);
  }
  void release() {
    std::lock_guard<std::mutex> lock(mutex);
    open = true;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false, fails = false;
};

// What is given goes on while the disk waits, up to the limit.
TEST(BoxFile, TheBackgroundHoldsAsMuchAsItMay) {
  TestFolder folder;
  constexpr size_t part = size_t(4) << 20;
  SlowDisk disk;
  auto file =
      BoxFileWriter::create(disk, folder.path + "/x", "header", 4 * part);
  ASSERT_TRUE(file.ok());
  std::string block(part, 'x');
  std::atomic<int> given{0};
  std::thread giver([&] {
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE((*file)->append(block.data(), block.size()).ok());
      ++given;
    }
    ASSERT_TRUE((*file)->close().ok());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  // The limit, and the block that is not full yet.
  EXPECT_GE(given, 4);
  EXPECT_LE(given, 5);
  EXPECT_FALSE((*file)->isDone());
  disk.release();
  giver.join();
  Result<CheckpointFile> row = (*file)->finish();
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->bytes, 8 * part + 6);
}

TEST(BoxFile, AFullDiskIsOneLine) {
  TestFolder folder;
  for (uint64_t limit : {uint64_t(0), uint64_t(2) << 20}) {
    SlowDisk disk;
    disk.open = disk.fails = true;
    std::string path = folder.path + "/" + std::to_string(limit);
    auto file = BoxFileWriter::create(disk, path, "header", limit);
    ASSERT_TRUE(file.ok());
    std::string block(size_t(8) << 20, 'x');
    Status status = (*file)->append(block.data(), block.size());
    status = status.ok() ? (*file)->close() : status;
    status = status.ok() ? (*file)->finish().status() : status;
    ASSERT_EQ(status.kind(), ErrorKind::noCheckpoint);
    EXPECT_EQ(describe(status.error()),
              path + ": cannot write: No space left on device (make room "
                     "there, or give another folder; checkpoints before this "
                     "one are as they were)");
  }
}

} // namespace
} // namespace llmc::rt::test
