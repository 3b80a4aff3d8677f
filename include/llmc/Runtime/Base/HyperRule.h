//===- HyperRule.h - Scalars that change with the step ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hyper value (learning rate, step number, seed) is evaluated on the host in
// double before each step and copied to device memory; no value of a step is
// baked into a kernel. The cosine is our own, so that all machines agree.
//
//   warmupCosine: base * (step + 1) / warmup                     step < warmup
//                 last + (base - last) (1 + cos(pi x)) / 2       x in [0, 1]
//                 with x = (step - warmup) / (total - warmup)
//
// Test: test/Runtime/Base/HyperRuleTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_HYPERRULE_H
#define LLMC_RUNTIME_BASE_HYPERRULE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmc::rt {

/// The numbers are stored in plan files: append only.
enum class HyperKind : uint8_t {
  /// The number of this step, from 0, plus `base` (1 for Adam's t).
  step = 0,
  /// The seed of the run.
  seed = 1,
  /// Given by the caller before each step.
  external = 2,
  constant = 3,       ///< base
  warmupConstant = 4, ///< linear to base, then base
  warmupLinear = 5,   ///< linear to base, then linear to last
  warmupCosine = 6,
};

struct HyperRule {
  HyperKind kind = HyperKind::constant;
  double base = 0;
  double last = 0;
  int64_t warmup = 0;
  int64_t total = 0;
};

std::string_view nameOf(HyperKind kind);
std::optional<HyperKind> parseHyperKind(std::string_view name);

/// `step` counts from 0. `external` yields `base`.
double evaluate(const HyperRule &rule, int64_t step, uint64_t seed);

/// cos(pi x) for x in [0, 1], by a polynomial: within 2 ulp of the true value,
/// the same bits everywhere.
double cosPi(double x);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_HYPERRULE_H
