//===- TestFolder.h - A folder of a test ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_CHECKPOINT_TESTFOLDER_H
#define LLMC_TEST_RUNTIME_CHECKPOINT_TESTFOLDER_H

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>

namespace llmc::rt::test {

/// Its name has the process's number: tests run side by side.
struct TestFolder {
  std::string path;
  TestFolder()
      : path(testing::TempDir() + "llmc-checkpoint-" +
             std::to_string(::getpid())) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
};

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_CHECKPOINT_TESTFOLDER_H
