//===- AppendFile.cpp - Files that grow record by record ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/AppendFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace llmc::rt {

Result<AppendFile> AppendFile::open(const std::string &path, bool goesOn) {
  constexpr int mode = 0666;
  int descriptor = ::open(
      path.c_str(),
      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (goesOn ? 0 : O_TRUNC), mode);
  if (descriptor < 0) {
    return makeError(ErrorKind::usage, std::string("cannot open the log for "
                                                   "writing: ") +
                                           std::strerror(errno))
        .at(path);
  }
  return AppendFile(path, descriptor);
}

AppendFile::~AppendFile() {
  if (descriptor >= 0) {
    ::close(descriptor);
  }
}

Status AppendFile::append(std::string_view record) {
  off_t before = ::lseek(descriptor, 0, SEEK_END);
  size_t done = 0;
  while (done < record.size()) {
    ssize_t written =
        ::write(descriptor, record.data() + done, record.size() - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      int reason = written < 0 ? errno : ENOSPC;
      // A pipe has no length, and what went into it stays.
      if (before >= 0 && done > 0) {
        [[maybe_unused]] int cut = ::ftruncate(descriptor, before);
      }
      return makeError(ErrorKind::malformed,
                       std::string("cannot write: ") + std::strerror(reason))
          .at(name);
    }
    done += static_cast<size_t>(written);
  }
  return Status::success();
}

} // namespace llmc::rt
