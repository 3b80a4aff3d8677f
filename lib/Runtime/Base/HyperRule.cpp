//===- HyperRule.cpp - Scalars that change with the step ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file must be compiled without floating-point contraction.
//
// Test: test/Runtime/Base/HyperRuleTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/HyperRule.h"

namespace llmc::rt {

static constexpr std::string_view names[] = {
    "step",          "seed",         "external", "constant", "warmup_constant",
    "warmup_linear", "warmup_cosine"};

std::string_view nameOf(HyperKind kind) {
  return names[static_cast<int>(kind)];
}

std::optional<HyperKind> parseHyperKind(std::string_view name) {
  for (int i = 0; i < 7; ++i) {
    if (names[i] == name) {
      return static_cast<HyperKind>(i);
    }
  }
  return std::nullopt;
}

double cosPi(double x) {
  // cos(pi x) = -sin(pi (x - 1/2)); Taylor to y^19 on |y| <= pi/2.
  double y = 3.14159265358979323846 * (x - 0.5);
  double z = y * y;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) {
    sum = (1.0 + sum) * (-z / (static_cast<double>(k) * (k - 1)));
  }
  return -(y + y * sum);
}

double evaluate(const HyperRule &rule, int64_t step, uint64_t seed) {
  switch (rule.kind) {
  case HyperKind::step:
    return static_cast<double>(step) + rule.base;
  case HyperKind::seed:
    return static_cast<double>(seed);
  case HyperKind::external:
  case HyperKind::constant:
    return rule.base;
  default:
    break;
  }
  if (step < rule.warmup) {
    return rule.base * static_cast<double>(step + 1) /
           static_cast<double>(rule.warmup);
  }
  if (rule.kind == HyperKind::warmupConstant) {
    return rule.base;
  }
  double x = 1;
  if (step < rule.total) {
    x = static_cast<double>(step - rule.warmup) /
        static_cast<double>(rule.total - rule.warmup);
  }
  double share =
      rule.kind == HyperKind::warmupLinear ? 1.0 - x : (1.0 + cosPi(x)) / 2.0;
  return rule.last + (rule.base - rule.last) * share;
}

} // namespace llmc::rt
