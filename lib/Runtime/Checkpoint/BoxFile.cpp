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
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
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
/// Of pages: a file takes whole blocks past the page cache (FileCalls.h).
constexpr size_t pageBytes = 4096;
/// Large enough that calls of the system do not count.
constexpr size_t blockBytes = size_t(4) << 20;
/// What waits where the run waits too: one is filled, one written.
constexpr uint64_t foregroundBytes = 4 * blockBytes;

class Block {
public:
  Block()
      : data(static_cast<char *>(std::aligned_alloc(pageBytes, blockBytes)),
             &std::free) {}

  bool isThere() const { return data != nullptr; }
  bool isFull() const { return used == blockBytes; }
  const char *begin() const { return data.get(); }
  size_t size() const { return used; }
  void clear() { used = 0; }
  /// As much as there is room for.
  size_t append(const char *from, size_t bytes) {
    size_t part = std::min(bytes, blockBytes - used);
    std::memcpy(data.get() + used, from, part);
    used += part;
    return part;
  }

private:
  std::unique_ptr<char, decltype(&std::free)> data;
  size_t used = 0;
};

/// A thread hashes and writes while the caller fills the next block.
class Writer final : public BoxFileWriter {
public:
  Writer(FileCalls &calls, std::string path, int file, uint64_t limit)
      : calls(calls), path(std::move(path)), file(file), waits(limit == 0),
        limit(waits ? foregroundBytes
                    : std::max<uint64_t>(limit, 2 * blockBytes)),
        thread([this] { serve(); }) {}
  ~Writer() override;

  Status append(const void *data, size_t bytes) override;
  Status close() override;
  bool isDone() const override { return done; }
  Result<CheckpointFile> finish() override;

private:
  Status flush();
  Status takeBlock();
  Status writeOut(const Block &each);
  Status syncOut();
  void serve();
  void end();
  Status stateOf() {
    std::lock_guard<std::mutex> lock(mutex);
    return failure;
  }

  FileCalls &calls;
  std::string path;
  int file;
  bool waits;     ///< `close` returns when all is written.
  uint64_t limit; ///< Bytes of blocks that wait.
  std::optional<Block> block;
  Hasher hasher;
  uint64_t written = 0;
  std::atomic<bool> done{false};

  // Between the thread that appends and the one that writes.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Block> queue;
  std::vector<Block> spare; ///< Their pages are there already.
  bool isClosed = false;
  Status failure;
  std::thread thread;
};

Writer::~Writer() {
  end();
  if (file >= 0) {
    calls.close(file);
  }
}

/// Of what was appended; the thread writes what is left.
void Writer::end() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isClosed = true;
  }
  changed.notify_all();
  if (thread.joinable()) {
    thread.join();
  }
}

Status Writer::append(const void *data, size_t bytes) {
  const auto *at = static_cast<const char *>(data);
  while (bytes > 0) {
    if (!block) {
      LLMC_TRY(takeBlock());
    }
    size_t part = block->append(at, bytes);
    at += part;
    bytes -= part;
    if (block->isFull()) {
      LLMC_TRY(flush());
    }
  }
  return Status::success();
}

/// An empty one, of those that were written or of new memory.
Status Writer::takeBlock() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!spare.empty()) {
      block = std::move(spare.back());
      spare.pop_back();
      return Status::success();
    }
  }
  block.emplace();
  return block->isThere()
             ? Status::success()
             : makeError(ErrorKind::outOfMemory,
                         fmt::format("expected {} bytes for a checkpoint, got "
                                     "none",
                                     blockBytes))
                   .at(path);
}

/// Hands the block over as soon as there is room.
Status Writer::flush() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] {
    return (queue.size() + 1) * blockBytes <= limit || !failure.ok();
  });
  LLMC_TRY(failure);
  queue.push_back(*std::move(block));
  block.reset();
  changed.notify_all();
  return Status::success();
}

Status Writer::writeOut(const Block &each) {
  hasher.add(each.begin(), each.size());
  written += each.size();
  return calls.write(file, path, each.begin(), each.size());
}

Status Writer::syncOut() {
  Status status = calls.sync(file, path);
  calls.close(file);
  file = -1;
  return status;
}

/// A block counts as waiting until it is written.
void Writer::serve() {
  Status status;
  for (bool more = true; more && status.ok();) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return isClosed || !queue.empty(); });
    more = !queue.empty();
    if (more) {
      const Block &next = queue.front();
      lock.unlock();
      status = writeOut(next);
      lock.lock();
      spare.push_back(std::move(queue.front()));
      spare.back().clear();
      queue.pop_front();
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
  if (block) {
    LLMC_TRY(flush());
  }
  if (waits) {
    end();
    return stateOf();
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
  LLMC_TRY(writer->append(header.data(), header.size()));
  return std::unique_ptr<BoxFileWriter>(std::move(writer));
}

} // namespace llmc::rt
