//===- TestKernels.cpp - Kernels that show how they are called ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/KernelAbi.h"

#include <atomic>
#include <thread>

/// Each row gets the first row of the call that computed it.
extern "C" void mark_rows(void *const *pointers, const int64_t *,
                          int64_t rowBegin, int64_t rowEnd, void *) {
  auto *rows = static_cast<int64_t *>(pointers[0]);
  for (int64_t row = rowBegin; row < rowEnd; ++row) {
    rows[row] = rowBegin;
  }
}

/// Ends when its buffer, an atomic flag, is set.
extern "C" void await_flag(void *const *pointers, const int64_t *, int64_t,
                           int64_t, void *) {
  auto *flag = static_cast<std::atomic<bool> *>(pointers[0]);
  while (!flag->load()) {
    std::this_thread::yield();
  }
}
