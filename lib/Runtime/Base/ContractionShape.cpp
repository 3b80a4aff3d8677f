//===- ContractionShape.cpp - What a contraction is -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Device/LibraryTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/ContractionShape.h"

namespace llmc::rt {

std::vector<ContractionIndex> walksOf(const ContractionShape &shape,
                                      ContractionIndexKind kind) {
  std::vector<ContractionIndex> found;
  for (const ContractionIndex &index : shape.indices) {
    if (index.kind != kind || index.size == 1) {
      continue;
    }
    bool merges = !found.empty() &&
                  found.back().strideA == index.strideA * index.size &&
                  found.back().strideB == index.strideB * index.size &&
                  found.back().strideC == index.strideC * index.size &&
                  found.back().strideBias == index.strideBias * index.size;
    if (merges) {
      int64_t outer = found.back().size;
      found.back() = index;
      found.back().size = outer * index.size;
    } else {
      found.push_back(index);
    }
  }
  return found;
}

} // namespace llmc::rt
