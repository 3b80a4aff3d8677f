//===- File.h - Mapped input, atomic output ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input files are mapped read-only; output files appear whole or not at all:
// temporary file in the same folder, fsync, rename, fsync of the folder.
//
// Test: test/Runtime/Base/FileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_FILE_H
#define LLMC_RUNTIME_BASE_FILE_H

#include "llmc/Runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::rt {

/// A regular file, mapped read-only for the lifetime of the object.
class MappedFile {
public:
  /// Error `malformed` when it cannot be opened, or is no regular file.
  static Result<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  MappedFile(const MappedFile &) = delete;
  ~MappedFile();

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data_), size_};
  }
  const std::string &path() const { return path_; }
  /// Copies bytes of the file. Error `malformed` with the offset where they
  /// cannot be read, or the file has another size than when it was opened.
  Status copy(uint64_t offset, uint64_t bytes, void *out) const;
  /// Reads the first byte of each page ahead of use.
  void prefetch() const;
  /// Gives back the memory of what was read; it is read again when it is used.
  void release() const;

private:
  MappedFile() = default;
  void reset();
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
  /// Whose path names the same file still.
  uint64_t device_ = 0, node_ = 0;
};

/// The old file, if any, is intact when this fails. A device or a pipe is
/// written to, and stays what it is.
Status writeFileAtomically(const std::string &path, std::string_view contents);

/// At most `limit` bytes, by read(): works for pipes and /proc too.
Result<std::string> readFile(const std::string &path, size_t limit = size_t(1)
                                                                     << 31);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_FILE_H
