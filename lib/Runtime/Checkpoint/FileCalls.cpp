//===- FileCalls.cpp - What a checkpoint asks of a file system ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/FileCalls.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::rt {

static const char *hintFor(int code) {
  switch (code) {
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return "make room there, or give another folder; checkpoints before this "
           "one are as they were";
  case EROFS:
  case EACCES:
  case EPERM:
    return "give a folder that this user may write to";
  case EXDEV:
  case ENOSYS:
  case EOPNOTSUPP:
    return "give a folder on a file system that can rename and lock";
  case ENOTDIR:
    return "give a folder; a part of the path is a file";
  default:
    return "give another folder";
  }
}

Status fileError(const char *what, const std::string &path) {
  int code = errno;
  return makeError(ErrorKind::noCheckpoint,
                   fmt::format("cannot {}: {}", what, std::strerror(code)))
      .at(path)
      .withHint(hintFor(code));
}

Status FileCalls::makeFolder(const std::string &path) {
  return ::mkdir(path.c_str(), 0755) == 0 ? Status::success()
                                          : fileError("make a folder", path);
}

Result<int> FileCalls::create(const std::string &path) {
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return fileError("create a file", path);
  }
  return file;
}

/// Whether what is written next goes past the page cache.
static bool setDirect(int file, bool direct) {
  int flags = ::fcntl(file, F_GETFL);
  int wanted = direct ? flags | O_DIRECT : flags & ~O_DIRECT;
  return flags >= 0 &&
         (flags == wanted || ::fcntl(file, F_SETFL, wanted) == 0) && direct;
}

static bool arePages(int file, const void *data, size_t bytes) {
  constexpr uint64_t page = 4096;
  off_t end = ::lseek(file, 0, SEEK_CUR);
  return end >= 0 && static_cast<uint64_t>(end) % page == 0 &&
         reinterpret_cast<uintptr_t>(data) % page == 0 && bytes % page == 0;
}

Status FileCalls::write(int file, const std::string &path, const void *data,
                        size_t bytes) {
  const auto *at = static_cast<const char *>(data);
  bool mayPass = true;
  while (bytes > 0) {
    bool direct = setDirect(file, mayPass && arePages(file, at, bytes));
    ssize_t done = ::write(file, at, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    // A file system, or a disk with larger pages, that cannot.
    if (done < 0 && errno == EINVAL && direct) {
      mayPass = false;
      continue;
    }
    if (done <= 0) {
      return fileError("write", path);
    }
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  // The disk begins at once, so that little is left when the file is synced.
  (void)::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  return Status::success();
}

Status FileCalls::sync(int file, const std::string &path) {
  return ::fsync(file) == 0 ? Status::success() : fileError("sync", path);
}

void FileCalls::close(int file) { ::close(file); }

Status FileCalls::rename(const std::string &from, const std::string &to) {
  if (::rename(from.c_str(), to.c_str()) == 0) {
    return Status::success();
  }
  // A checkpoint of this step that was passed over: it leaves by the name that
  // the new one comes from, in one step.
  bool isThere = errno == ENOTEMPTY || errno == EEXIST;
  if (isThere && ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                             RENAME_EXCHANGE) == 0) {
    return remove(from);
  }
  // A file system that exchanges nothing needs two steps.
  std::string aside = from + "-replaced";
  if (isThere && ::rename(to.c_str(), aside.c_str()) == 0 &&
      ::rename(from.c_str(), to.c_str()) == 0) {
    return remove(aside);
  }
  return fileError("rename to", to);
}

Status FileCalls::syncFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return fileError("open", path);
  }
  // Some file systems cannot sync a folder, and say so by EINVAL.
  bool synced = ::fsync(folder) == 0 || errno == EINVAL;
  Status status = synced ? Status::success() : fileError("sync", path);
  ::close(folder);
  return status;
}

Status FileCalls::remove(const std::string &path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code) {
    errno = code.value();
    return fileError("remove", path);
  }
  return Status::success();
}

FileCalls &systemCalls() {
  static FileCalls calls;
  return calls;
}

} // namespace llmc::rt
