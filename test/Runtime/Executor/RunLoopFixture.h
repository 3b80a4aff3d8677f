//===- RunLoopFixture.h - A loop over a session that pretends ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_RUNLOOPFIXTURE_H
#define LLMC_TEST_RUNTIME_EXECUTOR_RUNLOOPFIXTURE_H

#include "FakeSession.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/RunLoop.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::rt {

inline Layout whole(std::vector<int64_t> shape) { return Layout::whole(shape); }

struct RunLoop : testing::Test {
  FakeSession session;
  RunOptions options;
  std::string folder =
      testing::TempDir() + "run-loop." +
      testing::UnitTest::GetInstance()->current_test_info()->name();

  RunLoop() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    plan::Entry entry;
    entry.name = "train";
    entry.numMicrobatches = 3;
    entry.inputs = {{"x", DType::f32, whole({5, 4}), {}, -1},
                    {"tokens", DType::i32, whole({5, 6}), {}}};
    entry.metrics = {{"lr", DType::f32}, {"loss", DType::f32}};
    entry.prologue = entry.epilogue = {-1};
    session.source.entries = {entry};
    session.source.arenas = {0};
    plan::State state;
    state.name = "blocks.0/w";
    session.source.states = {state};
  }

  /// What the loop printed.
  std::string text;
  Status run() {
    options.out = std::tmpfile();
    Status status = runSteps(session, options);
    std::rewind(options.out);
    char block[65536];
    text.assign(block, std::fread(block, 1, sizeof(block), options.out));
    std::fclose(options.out);
    return status;
  }
};

} // namespace llmc::rt

#endif // LLMC_TEST_RUNTIME_EXECUTOR_RUNLOOPFIXTURE_H
