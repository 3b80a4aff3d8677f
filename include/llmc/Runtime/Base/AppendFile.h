//===- AppendFile.h - Files that grow record by record ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logs, of which each record is there as a whole or not at all: one that does
// not fit on the disk is cut off again.
//
// Test: test/Runtime/Base/AppendFileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_APPENDFILE_H
#define LLMC_RUNTIME_BASE_APPENDFILE_H

#include "llmc/Runtime/Base/Status.h"

#include <string>
#include <string_view>
#include <utility>

namespace llmc::rt {

class AppendFile {
public:
  /// `goesOn`: what is there stays. Error (2), with the system's reason.
  static Result<AppendFile> open(const std::string &path, bool goesOn);

  AppendFile(AppendFile &&other) noexcept
      : name(std::move(other.name)), descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  AppendFile(const AppendFile &) = delete;
  ~AppendFile();

  const std::string &path() const { return name; }
  /// Error (3), with the system's reason.
  Status append(std::string_view record);

private:
  AppendFile(std::string path, int descriptor)
      : name(std::move(path)), descriptor(descriptor) {}

  std::string name;
  int descriptor = -1;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_APPENDFILE_H
