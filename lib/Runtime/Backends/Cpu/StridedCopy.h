//===- StridedCopy.h - Operands as oneDNN can take them ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN's weights count their places from the first one, and its convolutions
// of narrow floats are there on some processors only. A copy in the workspace,
// with the strides of the original, has the places in the other order, and f32.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_STRIDEDCOPY_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_STRIDEDCOPY_H

#include "llmc/Runtime/Base/DType.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmc::rt::cpu {

struct CopiedDim {
  int64_t size, stride;
  bool isFlipped = false;
};

class StridedCopy {
public:
  /// Of elements of `type`, a float of f32 at most. Strides are at least 1.
  StridedCopy(std::vector<CopiedDim> dims, DType type);

  /// Of the copy in f32.
  uint64_t bytes() const { return static_cast<uint64_t>(elements) * 4; }
  /// The copy from the original.
  void read(const void *original, void *copy) const;
  /// The original from the copy, or that added to it and rounded once.
  void write(const void *copy, void *original, bool adds) const;

private:
  template <typename Line>
  void walk(size_t dim, int64_t copy, int64_t original, const Line &line) const;

  std::vector<CopiedDim> dims; ///< Outermost first.
  int64_t elements = 1;
  DType type;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_STRIDEDCOPY_H
