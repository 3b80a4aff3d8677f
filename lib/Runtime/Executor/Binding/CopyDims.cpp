//===- CopyDims.cpp - Dims that two strided operands share ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a copy or fill moves, with as few dims as there can be:
//
//   to   [4, 6] contiguous, from [4, 6] with strides [12, 1]
//     ->  24 bytes of f32, repeated along {4, to 24, from 48}
//   both contiguous  ->  96 bytes
//
// Test: test/Runtime/Executor/CopyDimsTest.cpp
//===----------------------------------------------------------------------===//

#include "Binder.h"

#include <algorithm>

namespace llmc::rt::exec {

namespace {
struct Dim {
  int64_t extent, stride;
};
} // namespace

/// The operand's dims in elements, innermost first; a dim that continues the
/// one inside is part of it. Of an absent operand: contiguous.
static std::vector<Dim> dimsOf(const plan::Operand &operand, int64_t count) {
  if (!operand.present()) {
    return {{count, 1}};
  }
  std::vector<Dim> dims;
  int64_t contiguous = 1;
  for (size_t i = operand.shape.size(); i-- > 0;) {
    int64_t extent = operand.shape[i];
    int64_t stride = operand.strides.empty() ? contiguous : operand.strides[i];
    contiguous *= extent;
    if (extent == 1) {
      continue;
    }
    if (!dims.empty() && stride == dims.back().stride * dims.back().extent) {
      dims.back().extent *= extent;
    } else {
      dims.push_back({extent, stride});
    }
  }
  return dims;
}

/// Takes the innermost `extent` elements of the first of `dims`.
static void take(std::vector<Dim> &dims, int64_t extent) {
  dims.back().extent /= extent;
  dims.back().stride *= extent;
  if (dims.back().extent == 1) {
    dims.pop_back();
  }
}

Result<CopyBox> copyBox(const plan::Operand &to, const plan::Operand &from) {
  const plan::Operand &given = to.present() ? to : from;
  // The loader has checked that all of it lies in buffers: nothing overflows.
  int64_t count = plan::elementsOf(given), bytes = sizeOf(given.dtype);
  CopyBox box;
  if (count == 0) {
    return box;
  }
  box.bytes = static_cast<uint64_t>(bytes);
  std::vector<Dim> a = dimsOf(to, count), b = dimsOf(from, count);
  std::reverse(a.begin(), a.end());
  std::reverse(b.begin(), b.end());
  while (!a.empty() && !b.empty()) {
    int64_t extent = std::min(a.back().extent, b.back().extent);
    if (a.back().extent % extent || b.back().extent % extent) {
      return makeError(ErrorKind::unsupported,
                       "expected the ends of a copy to have dims that divide "
                       "each other");
    }
    box.dims.push_back({static_cast<uint64_t>(extent), a.back().stride * bytes,
                        b.back().stride * bytes});
    take(a, extent);
    take(b, extent);
  }
  if (!box.dims.empty() && box.dims.front().to == bytes &&
      box.dims.front().from == bytes) {
    box.bytes *= box.dims.front().extent;
    box.dims.erase(box.dims.begin());
  }
  std::reverse(box.dims.begin(), box.dims.end());
  return box;
}

} // namespace llmc::rt::exec
