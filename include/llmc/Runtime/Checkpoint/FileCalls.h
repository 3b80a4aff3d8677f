//===- FileCalls.h - What a checkpoint asks of a file system ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each member is one call of the system, so that a test can put another file
// system in its place: one that records, fills up, or ends at any call. Errors
// (14) name the path, the cause and what to do about it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_FILECALLS_H
#define LLMC_RUNTIME_CHECKPOINT_FILECALLS_H

#include "llmc/Runtime/Base/Status.h"

#include <cstddef>
#include <string>

namespace llmc::rt {

class FileCalls {
public:
  virtual ~FileCalls() = default;

  virtual Status makeFolder(const std::string &path);
  /// A new file to write to; its descriptor.
  virtual Result<int> create(const std::string &path);
  /// All of it, at the file's end. Whole pages of 4 KiB, in memory and in the
  /// file, go past the page cache where the file system can (O_DIRECT):
  /// nobody reads them soon, and the cache's copy would cost a third of the
  /// time.
  virtual Status write(int file, const std::string &path, const void *data,
                       size_t bytes);
  /// What was written survives a loss of power.
  virtual Status sync(int file, const std::string &path);
  virtual void close(int file);
  /// `to` is no longer there, or a folder that this one changes places with.
  virtual Status rename(const std::string &from, const std::string &to);
  /// Names that were made, renamed and removed in it survive a loss of power.
  virtual Status syncFolder(const std::string &path);
  /// A file, or a folder with all that is in it.
  virtual Status remove(const std::string &path);
};

/// The system's own.
FileCalls &systemCalls();

/// "cannot <what>: <cause of errno>", with the place and a hint.
Status fileError(const char *what, const std::string &path);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_FILECALLS_H
