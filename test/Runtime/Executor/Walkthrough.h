//===- Walkthrough.h - Sessions of the walkthrough's plan -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGH_H
#define LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGH_H

#include "WalkthroughKernels.h"

#include "llmc/Runtime/Executor/Session.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>

namespace llmc::rt::test {

/// The shared object of WalkthroughKernels.cpp.
inline const std::string walkthroughObject = LLMC_WALKTHROUGH_OBJECT;
inline const std::string walkthroughFolder =
    walkthroughObject.substr(0, walkthroughObject.rfind('/'));

/// A corpus in which most tokens are followed by their successor.
inline std::string walkthroughCorpus() {
  static const std::string path = [] {
    // Tests of one binary run side by side.
    std::string name = testing::TempDir() + "/walkthrough." +
                       std::to_string(getpid()) + ".bin";
    std::ofstream file(name, std::ios::binary);
    uint32_t x = 1;
    for (int i = 0; i < 4096; ++i) {
      x = x * 1664525 + 1013904223;
      file.put(static_cast<char>((i + (x >> 29) / 7) % vocabulary));
    }
    return name;
  }();
  return path;
}

/// A session with data; null, and a failure, when the plan is refused.
inline std::unique_ptr<Session> openWalkthrough(plan::Plan plan,
                                                SessionOptions options = {}) {
  options.folder = walkthroughFolder;
  auto session = Session::open(std::move(plan), options);
  if (!session.ok()) {
    ADD_FAILURE() << session.message();
    return nullptr;
  }
  EXPECT_TRUE((*session)->useData("", walkthroughCorpus()).ok());
  return *std::move(session);
}

/// Adds the bytes to a string by which runs are compared.
inline void append(std::string &bits, const void *data, size_t bytes) {
  bits.append(static_cast<const char *>(data), bytes);
}

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGH_H
