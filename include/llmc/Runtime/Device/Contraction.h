//===- Contraction.h - The shape of a contraction -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   c[batch, m, n] = alpha * sum over k of a[batch, m, k] * b[batch, k, n]
//                    (+ c[batch, m, n])
//
// Each letter stands for any number of indices. An operand has a stride of its
// own for each index, so transposed and sliced operands need no copy. What a
// library cannot express, a backend runs by plain loops or refuses; it never
// changes the meaning.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_DEVICE_CONTRACTION_H
#define LLMC_RUNTIME_DEVICE_CONTRACTION_H

#include "llmc/Runtime/Base/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

enum class ContractionIndexKind : uint8_t { batch, m, n, k };

/// One index, with its strides in elements; zero where an operand lacks it.
struct ContractionIndex {
  ContractionIndexKind kind = ContractionIndexKind::m;
  int64_t size = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0;
};

struct ContractionShape {
  std::string name;
  DType a = DType::f32, b = DType::f32, c = DType::f32;
  DType accumulate = DType::f32;
  std::vector<ContractionIndex> indices; ///< Of one kind major to minor.
  double alpha = 1;
  bool addToResult = false;
  int threads = 1;
  uint64_t scratchBytes = 0; ///< What the plan reserved.
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_CONTRACTION_H
