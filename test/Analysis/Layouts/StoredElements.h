//===- StoredElements.h - Which elements a split dim stores -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   size 3 stored as 4, times 2:   0 1 2 3 4 5 -1 -1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ANALYSIS_STOREDELEMENTS_H
#define LLMC_TEST_ANALYSIS_STOREDELEMENTS_H

#include "llmc/Analysis/Layouts/DimStorage.h"
#include <vector>

namespace llmc::test {

/// The element at each storage position, or -1 for padding.
inline std::vector<int64_t> elementsOf(ArrayRef<Atom> atoms) {
  std::vector<int64_t> elements = {0};
  for (const Atom &atom : atoms) {
    std::vector<int64_t> next;
    for (int64_t major : elements)
      for (int64_t digit = 0; digit < atom.extent; ++digit)
        next.push_back(
            major < 0 || digit >= atom.size ? -1 : major * atom.size + digit);
    elements = std::move(next);
  }
  return elements;
}

} // namespace llmc::test

#endif // LLMC_TEST_ANALYSIS_STOREDELEMENTS_H
