//===- TestFiles.h - Files that a test writes -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_TESTFILES_H
#define LLMC_TEST_RUNTIME_EXECUTOR_TESTFILES_H

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace llmc::rt {

/// Writes a file in the folder for temporaries and returns its path.
inline std::string writeFile(const std::string &name,
                             const std::string &bytes) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

} // namespace llmc::rt

#endif // LLMC_TEST_RUNTIME_EXECUTOR_TESTFILES_H
