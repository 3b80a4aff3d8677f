//===- DataRule.cpp - Where a sample lies in its source -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/DataRuleTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DataRule.h"

#include <tuple>

namespace llmc::rt {

std::string_view nameOf(DataKind kind) {
  switch (kind) {
  case DataKind::tokens:
    return "tokens";
  case DataKind::array:
    return "array";
  case DataKind::text:
    return "text";
  }
  return "";
}

std::string_view faultOf(const DataRule &rule) {
  constexpr int64_t most = 1000000;
  bool isTooMany = rule.weights.size() > 4096;
  for (int64_t weight : rule.weights) {
    isTooMany = isTooMany || weight < 1 || weight > most;
  }
  if (isTooMany) {
    return "expected at most 4096 weights, each from 1 to 1000000";
  }
  if (!(rule.heldOut >= 0 && rule.heldOut < 1)) {
    return "expected a share in [0, 1) that is held out";
  }
  if (rule.once && !isTokens(rule.kind)) {
    return "expected windows of tokens where each comes once";
  }
  return "";
}

bool operator==(const DataRule &a, const DataRule &b) {
  auto fields = [](const DataRule &rule) {
    return std::tie(rule.kind, rule.dtype, rule.shuffle, rule.tensor, rule.once,
                    rule.heldOut, rule.weights, rule.finite);
  };
  return fields(a) == fields(b);
}

} // namespace llmc::rt
