//===- Fetches.h - The values that a run hands out --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `--fetch` names is found before the first step, and printed or written
// as `.npy` after it. The name of a complex tensor, of which a run has the
// parts alone, makes one complex array of both.
//
// Test: test/Runtime/Executor/RunLoopTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_FETCHES_H
#define LLMC_LIB_RUNTIME_EXECUTOR_FETCHES_H

#include "llmc/Runtime/Executor/RunLoop.h"

#include <cstdio>
#include <string>
#include <vector>

namespace llmc::rt::exec {

class Fetches {
public:
  Fetches(Session &session, const RunOptions &options)
      : session(session), options(options) {}

  /// Finds what the options name. Error (2): all that nothing has.
  Status find(const plan::Entry &entry);
  /// Prints the values, or writes them below the folder of the options, each
  /// as `<prefix><name>`. Every process calls this; the first one writes.
  Status write(const std::string &prefix, std::FILE *out) const;

private:
  struct Fetch {
    std::string name;
    /// Of a complex tensor, whose parts have names of their own.
    bool isComplex = false;
  };

  std::vector<std::string> valueNames() const;
  Result<HostTensor> read(const Fetch &fetch, int64_t microbatch) const;
  bool isOfEachMicrobatch(const std::string &name) const;
  Status give(const std::string &label, const HostTensor &value,
              std::FILE *out) const;

  Session &session;
  const RunOptions &options;
  const plan::Entry *entry = nullptr;
  std::vector<Fetch> list;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_FETCHES_H
