//===- Transfer.h - Boxes of bytes that are copied or set -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_DRIVER_TRANSFER_H
#define LLMC_TEST_RUNTIME_STANDIN_DRIVER_TRANSFER_H

#include "Driver/Call.h"

namespace llmc::standin {

/// Where a box of bytes lies: `depth` slices of `rows` rows each, of which
/// `height` belong to it, each row of `width` bytes.
struct Place {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  uint64_t address = 0; // of its first byte
  size_t pitch = 0;     // from row to row
  size_t rows = 0;      // from slice to slice

  // Found by `resolve`:
  AllocationRef allocation; // memory of a device
  bool pinned = false;      // else pageable memory of the host

  bool isDevice() const { return allocation != nullptr; }
  /// Where the stand-in finds row `y` of slice `z`.
  char *row(size_t y, size_t z) const;
};

struct Box {
  size_t width = 0, height = 1, depth = 1;
};

/// A call that waits is one that captures cannot see.
inline unsigned rulesOfTransfer(bool async) {
  unsigned rules = kInitialised | kContext;
  return async ? rules : rules | kUnsafe;
}

/// Finds out what memory the place is; an error where it is not all the
/// caller's, or not of the type that he says.
CUresult resolve(Call &call, Place &place, const Box &box);

/// Copies as documented for this pair of memories, in `stream`.
CUresult copy(Call &call, Place to, Place from, const Box &box, CUstream stream,
              bool async);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_DRIVER_TRANSFER_H
