//===- CheckpointFolder.cpp - Checkpoints of one run ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/CheckpointFolder.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace llmc::rt {

constexpr std::string_view stepPrefix = "step-", writingPrefix = ".writing-";
/// Of a manifest: a hundred thousand tensors have some 20 MB.
constexpr size_t mostManifestBytes = size_t(256) << 20;

std::string checkpointName(int64_t step) {
  return fmt::format("{}{:08}", stepPrefix, step);
}

std::optional<int64_t> stepOfName(const std::string &name) {
  if (name.rfind(stepPrefix, 0) != 0) {
    return std::nullopt;
  }
  int64_t step = 0;
  const char *first = name.data() + stepPrefix.size();
  auto [end, code] = std::from_chars(first, name.data() + name.size(), step);
  bool isWhole = code == std::errc() && end == name.data() + name.size();
  return isWhole && name == checkpointName(step) ? std::optional(step)
                                                 : std::nullopt;
}

std::string writingPath(const std::string &folder, int64_t step) {
  return fmt::format("{}/{}{}", folder, writingPrefix, checkpointName(step));
}

std::string boxFileName(int process) {
  return fmt::format("process-{:05}.safetensors", process);
}

static Result<std::vector<std::string>> listNames(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator at(folder, code), end;
  for (; !code && at != end; at.increment(code)) {
    names.push_back(at->path().filename().string());
  }
  if (code && code != std::errc::no_such_file_or_directory) {
    errno = code.value();
    return fileError("read the folder", folder);
  }
  return names;
}

Result<std::vector<std::string>> listCheckpoints(const std::string &folder) {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listNames(folder));
  auto isOther = [](const std::string &name) { return !stepOfName(name); };
  names.erase(std::remove_if(names.begin(), names.end(), isOther), names.end());
  std::sort(names.begin(), names.end(),
            [](const std::string &a, const std::string &b) {
              return *stepOfName(a) > *stepOfName(b);
            });
  return names;
}

Result<CheckpointManifest> readManifest(const std::string &checkpoint) {
  std::string path = checkpoint + "/" + manifestName;
  LLMC_TRY_ASSIGN(std::string text, readFile(path, mostManifestBytes));
  Result<CheckpointManifest> manifest = parseManifest(text);
  if (!manifest) {
    return manifest.status().at(path);
  }
  return manifest;
}

namespace {
/// Closes on destruction.
class OpenFile {
public:
  explicit OpenFile(const std::string &path)
      : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() {
    if (file >= 0) {
      ::close(file);
    }
  }
  const int file;
};
} // namespace

/// Read piece by piece: a file may be larger than memory.
static Result<uint64_t> hashOf(const OpenFile &input, const std::string &path) {
  constexpr size_t pieceBytes = size_t(1) << 20;
  std::vector<char> piece(pieceBytes);
  Hasher hasher;
  for (;;) {
    ssize_t got = ::read(input.file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fileError("read", path);
    }
    if (got == 0) {
      return hasher.value();
    }
    hasher.add(piece.data(), static_cast<size_t>(got));
  }
}

Status checkFile(const std::string &checkpoint,
                 const CheckpointManifest &manifest, size_t index) {
  const CheckpointFile &file = manifest.files[index];
  std::string path = checkpoint + "/" + file.name;
  OpenFile input(path);
  struct stat info{};
  if (input.file < 0 || ::fstat(input.file, &info) != 0) {
    return fileError("open", path);
  }
  if (static_cast<uint64_t>(info.st_size) != file.bytes) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected {} bytes, got {}", file.bytes,
                                 info.st_size))
        .at(path);
  }
  LLMC_TRY_ASSIGN(uint64_t hash, hashOf(input, path));
  return hash == file.hash
             ? Status::success()
             : makeError(ErrorKind::malformed,
                         fmt::format("expected checksum {}, got {}",
                                     hexDigits(file.hash), hexDigits(hash)))
                   .at(path);
}

static Status checkAll(const std::string &checkpoint) {
  LLMC_TRY_ASSIGN(CheckpointManifest manifest, readManifest(checkpoint));
  for (size_t i = 0; i < manifest.files.size(); ++i) {
    LLMC_TRY(checkFile(checkpoint, manifest, i));
  }
  return Status::success();
}

Result<std::string> findNewest(const std::string &folder,
                               const PassedOver &passedOver) {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listCheckpoints(folder));
  for (const std::string &name : names) {
    std::string checkpoint = folder + "/" + name;
    Status status = checkAll(checkpoint);
    if (status.ok()) {
      return checkpoint;
    }
    passedOver(checkpoint, status);
  }
  return makeError(ErrorKind::noCheckpoint,
                   fmt::format("expected a whole checkpoint, got {}",
                               names.empty() ? "none" : "damaged ones only"))
      .at(folder);
}

//===----------------------------------------------------------------------===//
// The folder of a run
//===----------------------------------------------------------------------===//

/// Who holds the lock has written "process <pid> on <host>" into it.
static Status heldBy(int lock, const std::string &folder) {
  char holder[300] = "";
  ssize_t got = ::pread(lock, holder, sizeof(holder) - 1, 0);
  return makeError(ErrorKind::noCheckpoint,
                   fmt::format("expected a folder of no other run, got one "
                               "that {} writes its checkpoints to",
                               got > 0 ? holder : "another run"))
      .at(folder)
      .withHint("wait for its end, or give another folder");
}

/// The lock goes with its process, however that ends.
static Result<int> takeLock(const std::string &folder) {
  std::string path = folder + "/.lock";
  int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) {
    return fileError("write a checkpoint", folder);
  }
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    Status status =
        errno == EWOULDBLOCK ? heldBy(lock, folder) : fileError("lock", path);
    ::close(lock);
    return status;
  }
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  std::string holder = fmt::format("process {} on {}", ::getpid(), host);
  // For people alone: a full disk shows when a checkpoint is written.
  (void)!::ftruncate(lock, 0);
  (void)!::pwrite(lock, holder.data(), holder.size(), 0);
  return lock;
}

Result<CheckpointFolder> CheckpointFolder::open(const std::string &path,
                                                FileCalls &calls) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) {
    errno = code.value();
    return fileError("make a folder", path);
  }
  LLMC_TRY_ASSIGN(int lock, takeLock(path));
  CheckpointFolder folder(path, lock, calls);
  LLMC_TRY(folder.removeLeftovers());
  return folder;
}

CheckpointFolder::CheckpointFolder(CheckpointFolder &&other) noexcept
    : folder(std::move(other.folder)), lock(std::exchange(other.lock, -1)),
      calls(other.calls) {}

CheckpointFolder::~CheckpointFolder() {
  if (lock >= 0) {
    ::close(lock);
  }
}

/// Of runs that are gone: the lock is ours.
Status CheckpointFolder::removeLeftovers() {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listNames(folder));
  for (const std::string &name : names) {
    if (name.rfind(writingPrefix, 0) == 0) {
      LLMC_TRY(calls->remove(folder + "/" + name));
    }
  }
  return Status::success();
}

Status CheckpointFolder::begin(int64_t step) {
  LLMC_TRY(calls->remove(writingPath(folder, step)));
  return calls->makeFolder(writingPath(folder, step));
}

Status CheckpointFolder::commit(const CheckpointManifest &manifest) {
  std::string from = writingPath(folder, manifest.step);
  std::string path = from + "/" + manifestName;
  std::string text = printManifest(manifest);
  LLMC_TRY_ASSIGN(int file, calls->create(path));
  Status status = calls->write(file, path, text.data(), text.size());
  if (status.ok()) {
    status = calls->sync(file, path);
  }
  calls->close(file);
  LLMC_TRY(status);
  LLMC_TRY(calls->syncFolder(from));
  LLMC_TRY(calls->rename(from, folder + "/" + checkpointName(manifest.step)));
  return calls->syncFolder(folder);
}

void CheckpointFolder::abandon(int64_t step) {
  (void)calls->remove(writingPath(folder, step));
}

std::optional<std::string>
CheckpointFolder::findBest(const std::vector<std::string> &names,
                           const std::string &best) const {
  std::optional<std::string> found;
  double least = INFINITY;
  for (const std::string &name : names) {
    Result<CheckpointManifest> manifest = readManifest(folder + "/" + name);
    auto value = manifest ? manifest->metrics.find(best)
                          : decltype(manifest->metrics.end())();
    if (manifest && value != manifest->metrics.end() && value->second < least) {
      least = value->second;
      found = name;
    }
  }
  return found;
}

Status CheckpointFolder::prune(int64_t step, int64_t keep,
                               const std::string &best) {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listCheckpoints(folder));
  // Those of later steps were passed over: they are not of this run.
  auto isLater = [&](const std::string &name) {
    return *stepOfName(name) > step;
  };
  names.erase(std::remove_if(names.begin(), names.end(), isLater), names.end());
  if (keep == 0 || names.size() <= static_cast<size_t>(keep)) {
    return Status::success();
  }
  std::optional<std::string> kept;
  if (!best.empty()) {
    kept = findBest(names, best);
  }
  for (size_t i = static_cast<size_t>(keep); i < names.size(); ++i) {
    if (names[i] == kept) {
      continue;
    }
    // Under another name first: half of a checkpoint is never one.
    std::string gone =
        fmt::format("{}/{}old-{}", folder, writingPrefix, names[i]);
    LLMC_TRY(calls->remove(gone));
    LLMC_TRY(calls->rename(folder + "/" + names[i], gone));
    LLMC_TRY(calls->remove(gone));
  }
  return Status::success();
}

} // namespace llmc::rt
