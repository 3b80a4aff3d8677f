//===- BoxReading.h - States that are read beside steps ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session gives the states of a step's edge to a sink while later steps run
// (`Session::readBoxesAside`).
//
// Tested by test/Runtime/Executor/BoxReadsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_BOXREADING_H
#define LLMC_RUNTIME_EXECUTOR_BOXREADING_H

#include "llmc/Runtime/Base/Status.h"

#include <cstddef>
#include <functional>

namespace llmc::rt {

/// Takes the elements of all boxes in their order, row by row, on a thread of
/// its own. While `append` waits, so does what would write the states that are
/// not read yet. `close` follows the last of them.
struct BoxSink {
  std::function<Status(const std::byte *values, size_t bytes)> append;
  std::function<Status()> close;
};

class BoxReading {
public:
  virtual ~BoxReading() = default;

  /// Whether the sink was closed, or something failed.
  virtual bool isDone() const = 0;
  /// Until then. Errors: the sink's, and those of a device.
  virtual Status wait() = 0;
  /// Gives no more; the sink is not called after it.
  virtual void stop() = 0;
  /// For which a stream of some device stood before a state that was not read.
  virtual double stoodSeconds() const = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_BOXREADING_H
