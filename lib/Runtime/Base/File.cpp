//===- File.cpp - Mapped input, atomic output -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/FileTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"

#include "llmc/Runtime/Base/GuardedCopy.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::rt {

namespace {
/// Closes on destruction.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int get() const { return fd_; }

private:
  int fd_;
};
} // namespace

static Status systemError(const char *what, const std::string &path) {
  return makeError(ErrorKind::malformed,
                   fmt::format("cannot {}: {}", what, std::strerror(errno)))
      .at(path);
}

Result<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    return systemError("open", path);
  }
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) {
    return systemError("stat", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return makeError(ErrorKind::malformed, "expected a regular file").at(path);
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(info.st_size);
  file.device_ = info.st_dev;
  file.node_ = info.st_ino;
  if (file.size_ > 0) {
    void *data =
        ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) {
      return systemError("map", path);
    }
    file.data_ = static_cast<const uint8_t *>(data);
  }
  return file;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)), path_(std::move(other.path_)),
      device_(other.device_), node_(other.node_) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    path_ = std::move(other.path_);
    device_ = other.device_;
    node_ = other.node_;
  }
  return *this;
}

MappedFile::~MappedFile() { reset(); }

void MappedFile::reset() {
  if (data_) {
    ::munmap(const_cast<uint8_t *>(data_), size_);
    data_ = nullptr;
  }
}

Status MappedFile::copy(uint64_t offset, uint64_t bytes, void *out) const {
  auto refuse = [&](const std::string &found) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a file of {} bytes, as when it was "
                                 "opened, got {}",
                                 size_, found))
        .at(path_, offset);
  };
  bool isRead = copyGuarded(out, data_ + offset, bytes);
  // Within a page, what a file has lost reads as zeros. One that was replaced
  // stays mapped as it was.
  struct stat now;
  if (::stat(path_.c_str(), &now) == 0 && now.st_dev == device_ &&
      now.st_ino == node_ && static_cast<size_t>(now.st_size) != size_) {
    return refuse(fmt::format("{}", now.st_size));
  }
  return isRead ? Status::success() : refuse("pages that cannot be read");
}

void MappedFile::prefetch() const {
  if (data_) {
    ::madvise(const_cast<uint8_t *>(data_), size_, MADV_WILLNEED);
  }
}

void MappedFile::release() const {
  if (data_) {
    ::madvise(const_cast<uint8_t *>(data_), size_, MADV_DONTNEED);
  }
}

static bool writeAll(int fd, std::string_view contents) {
  while (!contents.empty()) {
    ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// A device or a pipe is written to; a file put in its place would be none.
static bool isSpecial(const std::string &path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) &&
         !S_ISDIR(found.st_mode);
}

static Status writeInPlace(const std::string &path, std::string_view contents) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return systemError("open", path);
  }
  return writeAll(fd.get(), contents) ? Status::success()
                                      : systemError("write", path);
}

Status writeFileAtomically(const std::string &path, std::string_view contents) {
  if (isSpecial(path)) {
    return writeInPlace(path, contents);
  }
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  std::string temporary = path + ".XXXXXX";
  {
    Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (fd.get() < 0) {
      return systemError("create a temporary file beside", path);
    }
    if (!writeAll(fd.get(), contents) || ::fchmod(fd.get(), 0644) != 0 ||
        ::fsync(fd.get()) != 0) {
      Status status = systemError("write", path);
      ::unlink(temporary.c_str());
      return status;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = systemError("rename to", path);
    ::unlink(temporary.c_str());
    return status;
  }
  Descriptor directory(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) {
    // Some file systems cannot sync a folder; the data is safe already.
    (void)::fsync(directory.get());
  }
  return Status::success();
}

Result<std::string> readFile(const std::string &path, size_t limit) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return systemError("open", path);
  }
  std::string contents;
  char block[65536];
  while (true) {
    ssize_t n = ::read(fd.get(), block, sizeof(block));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return systemError("read", path);
    }
    if (n == 0) {
      return contents;
    }
    if (contents.size() + static_cast<size_t>(n) > limit) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected at most {} bytes", limit))
          .at(path);
    }
    contents.append(block, static_cast<size_t>(n));
  }
}

} // namespace llmc::rt
