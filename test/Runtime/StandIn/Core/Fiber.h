//===- Fiber.h - Stacks to switch between ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_FIBER_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_FIBER_H

#include <cstddef>

namespace llmc::standin {

/// A stack of 64 KiB, below which a page faults.
struct FiberStack {
  char *bottom = nullptr;
  size_t bytes = 0;

  static FiberStack make();
};

/// Where somebody stopped.
struct StopPoint {
  void *stackPointer = nullptr;
  FiberStack stack;          // of a fiber; of the thread: found when it is left
  void *fakeStack = nullptr; // of AddressSanitizer
};

/// Prepares `point` so that switching to it calls `entry` on `stack`, which
/// never returns.
void prepare(StopPoint &point, const FiberStack &stack, void (*entry)());

/// Stops here and goes on there. `over`: nobody comes back here.
void switchTo(StopPoint &here, StopPoint &there, bool over = false);
/// To be called first by what `prepare` calls; `from` is who switched to it.
void arrived(StopPoint &from);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_FIBER_H
