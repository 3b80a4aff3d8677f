//===- BoxFile.cpp - Boxes of tensors in a safetensors file ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/BoxFile.h"

#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace llmc::rt {

int64_t TensorBox::elements() const {
  int64_t count = 1;
  for (int64_t each : size) {
    count *= each;
  }
  return count;
}

static std::string keyOf(const TensorBox &box) {
  std::string spans;
  for (size_t i = 0; i < box.size.size(); ++i) {
    spans += fmt::format("{}{}:{}", i ? "," : "", box.origin[i],
                         box.origin[i] + box.size[i]);
  }
  return box.isWhole() ? box.tensor : fmt::format("{}[{}]", box.tensor, spans);
}

Result<std::string> printBoxHeader(const std::vector<TensorBox> &boxes,
                                   const std::string &format) {
  std::vector<std::pair<std::string, SafetensorsEntry>> entries;
  std::map<std::string, std::string> metadata{{"format", format}};
  std::set<std::string> keys;
  uint64_t at = 0;
  for (const TensorBox &box : boxes) {
    std::string key = keyOf(box);
    if (!keys.insert(key).second) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected one state of the name '{}', got "
                                   "two; a checkpoint tells them by their "
                                   "names",
                                   key))
          .withHint("rename one of the model's parameters");
    }
    auto bytes = static_cast<uint64_t>(box.elements() * sizeOf(box.dtype));
    entries.emplace_back(key,
                         SafetensorsEntry{box.dtype, box.size, at, at + bytes});
    at += bytes;
    if (!box.isWhole()) {
      nlohmann::ordered_json place = {
          {"tensor", box.tensor}, {"origin", box.origin}, {"shape", box.shape}};
      metadata[key] = place.dump();
    }
  }
  return printSafetensorsHeader(entries, metadata);
}

namespace {
using Block = std::vector<char>;
/// Large enough that calls of the system do not count.
constexpr size_t blockBytes = size_t(1) << 20;

class Writer final : public BoxFileWriter {
public:
  Writer(FileCalls &calls, std::string path, int file, uint64_t limit)
      : calls(calls), path(std::move(path)), file(file),
        limit(limit ? std::max<uint64_t>(limit, 2 * blockBytes) : 0) {}
  ~Writer() override;

  Status append(const void *data, size_t bytes) override;
  Status close() override;
  bool isDone() const override { return done; }
  Result<CheckpointFile> finish() override;
  void start() {
    if (limit) {
      thread = std::thread([this] { serve(); });
    }
  }

private:
  Status flush();
  Status writeOut(const Block &block);
  Status syncOut();
  void serve();
  Status stateOf() {
    std::lock_guard<std::mutex> lock(mutex);
    return failure;
  }

  FileCalls &calls;
  std::string path;
  int file;
  uint64_t limit;
  Block block;
  Hasher hasher;
  uint64_t written = 0;
  std::atomic<bool> done{false};

  // Between the thread that appends and the one that writes.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Block> queue;
  uint64_t queued = 0;
  bool isClosed = false;
  Status failure;
  std::thread thread;
};

Writer::~Writer() {
  if (thread.joinable()) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isClosed = true;
    }
    changed.notify_all();
    thread.join();
  }
  if (file >= 0) {
    calls.close(file);
  }
}

Status Writer::append(const void *data, size_t bytes) {
  const auto *at = static_cast<const char *>(data);
  while (bytes > 0) {
    size_t part = std::min(bytes, blockBytes - block.size());
    block.insert(block.end(), at, at + part);
    at += part;
    bytes -= part;
    if (block.size() == blockBytes) {
      LLMC_TRY(flush());
    }
  }
  return Status::success();
}

/// Hands the block over, or writes it.
Status Writer::flush() {
  if (!limit) {
    Status status = writeOut(block);
    block.clear();
    return status;
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(
      lock, [this] { return queued + block.size() <= limit || !failure.ok(); });
  LLMC_TRY(failure);
  queued += block.size();
  queue.push_back(std::move(block));
  block = {};
  block.reserve(blockBytes);
  changed.notify_all();
  return Status::success();
}

Status Writer::writeOut(const Block &each) {
  hasher.add(each.data(), each.size());
  written += each.size();
  return calls.write(file, path, each.data(), each.size());
}

Status Writer::syncOut() {
  Status status = calls.sync(file, path);
  calls.close(file);
  file = -1;
  return status;
}

void Writer::serve() {
  Status status;
  for (bool more = true; more && status.ok();) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return isClosed || !queue.empty(); });
    more = !queue.empty();
    if (more) {
      Block next = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      status = writeOut(next);
      lock.lock();
      queued -= next.size();
      changed.notify_all();
    }
  }
  if (status.ok()) {
    status = syncOut();
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    failure = status;
    done = true;
  }
  changed.notify_all();
}

Status Writer::close() {
  LLMC_TRY(flush());
  if (!limit) {
    Status status = syncOut();
    done = true;
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex);
  isClosed = true;
  changed.notify_all();
  return Status::success();
}

Result<CheckpointFile> Writer::finish() {
  if (thread.joinable()) {
    thread.join();
  }
  LLMC_TRY(stateOf());
  return CheckpointFile{path.substr(path.rfind('/') + 1), written,
                        hasher.value()};
}
} // namespace

Result<std::unique_ptr<BoxFileWriter>>
BoxFileWriter::create(FileCalls &calls, const std::string &path,
                      const std::string &header, uint64_t limit) {
  LLMC_TRY_ASSIGN(int file, calls.create(path));
  auto writer = std::make_unique<Writer>(calls, path, file, limit);
  writer->start();
  LLMC_TRY(writer->append(header.data(), header.size()));
  return std::unique_ptr<BoxFileWriter>(std::move(writer));
}

} // namespace llmc::rt
