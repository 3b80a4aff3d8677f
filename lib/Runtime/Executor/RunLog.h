//===- RunLog.h - What a run does, as JSON lines ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Executor/RunLoopTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H
#define LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H

#include "StepLine.h"

#include <cstdio>
#include <memory>
#include <string>

namespace llmc::rt::exec {

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

/// A log that was not opened takes everything and writes nothing.
class RunLog {
public:
  /// `goesOn`: what a run has logged before it was resumed stays. Error: 2.
  Status open(const std::string &path, bool goesOn);
  Status write(const Session &session, const std::string &entry,
               const StepSize &size, const StepFacts &facts);

private:
  std::string path;
  OwnedFile file;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_RUNLOG_H
