//===- SlicedOp.cpp - A sum of products in slices -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cpu/ContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "SlicedOp.h"

namespace llmc::rt::cpu {

void SlicedOp::add(std::unique_ptr<OpSlice> work, const SlicePlace &place) {
  uint64_t bytes = (work->workspaceBytes() + 63) / 64 * 64;
  slices.push_back({std::move(work), place, workspace});
  workspace += bytes;
}

void SlicedOp::run(const uint64_t *buffers, void *workspace, int ticket) const {
  const Slice &slice = slices[static_cast<size_t>(ticket)];
  auto at = [&](size_t operand, int64_t offset) {
    return reinterpret_cast<char *>(buffers[operand]) + offset;
  };
  slice.work->run({at(0, slice.place.a), at(1, slice.place.b),
                   hasBias ? at(2, slice.place.bias) : nullptr,
                   at(hasBias ? 3 : 2, slice.place.c),
                   static_cast<char *>(workspace) + slice.workspace});
}

} // namespace llmc::rt::cpu
