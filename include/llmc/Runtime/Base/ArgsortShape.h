//===- ArgsortShape.h - An order along a dim --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One of the kinds of what a library is asked for (Library.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_ARGSORTSHAPE_H
#define LLMC_RUNTIME_BASE_ARGSORTSHAPE_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/Tied.h"

#include <cstdint>
#include <vector>

namespace llmc::rt {

/// By what elements are compared.
struct ArgsortKey {
  DType dtype = DType::f32;
  bool isDescending = false;

  auto tied() const { return std::tie(dtype, isDescending); }
};

/// Where the elements that stand first in order lie along one dim.
///
///   out[o, j, i] = the position p for which j elements of key[o, :, i] stand
///                  before key[o, p, i]
///
/// Of two elements the one stands before the other that is less in the first
/// key in which they differ, or greater where that key is descending; those
/// that are equal in all keys stand as they lie. Integers are compared as
/// numbers, floats by IEEE 754's total order: -NaN < -inf < ... < -0 < 0 < ...
/// < inf < NaN. The buffers are the keys, row-major [outer, size, inner], and
/// out, i32, row-major [outer, count, inner].
struct ArgsortShape {
  std::vector<ArgsortKey> keys; ///< The one that decides first comes first.
  int64_t outer = 1, size = 1, inner = 1;
  int64_t count = 1; ///< At most `size`.

  auto tied() const { return std::tie(keys, outer, size, inner, count); }
};

LLMC_COMPARE_TIED(ArgsortKey)
LLMC_COMPARE_TIED(ArgsortShape)

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_ARGSORTSHAPE_H
