//===- MarkedRows.cpp - A kernel that shows its slices --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row gets the first row of the call that computed it.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/KernelAbi.h"

extern "C" void mark_rows(void *const *pointers, const int64_t *,
                          int64_t rowBegin, int64_t rowEnd, void *) {
  auto *rows = static_cast<int64_t *>(pointers[0]);
  for (int64_t row = rowBegin; row < rowEnd; ++row) {
    rows[row] = rowBegin;
  }
}
