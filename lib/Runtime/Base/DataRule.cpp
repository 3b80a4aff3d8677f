//===- DataRule.cpp - Where a sample lies in its source -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/DataRuleTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DataRule.h"

#include "llmc/Runtime/Base/Random.h"

namespace llmc::rt {

std::string_view nameOf(DataKind kind) {
  return kind == DataKind::tokens ? "tokens" : "array";
}

int64_t findSample(const DataRule &rule, uint64_t seed, uint64_t index,
                   int64_t rows, int64_t window) {
  auto starts = static_cast<uint64_t>(rows - window + 1);
  uint64_t row = 0;
  if (rule.kind == DataKind::array) {
    row = rule.shuffle ? permute(index % starts, starts, seed, index / starts)
                       : index % starts;
  } else if (rule.shuffle) {
    row = RandomStream(seed, "data").bits(index) % starts;
  } else {
    auto length = static_cast<uint64_t>(window);
    row = index % (static_cast<uint64_t>(rows) / length) * length;
  }
  return static_cast<int64_t>(row);
}

} // namespace llmc::rt
