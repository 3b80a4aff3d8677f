//===- StepSums.h - What a step adds up over microbatches -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A microbatch returns scalars that the step adds up and hands to the update,
// by their role: the sum of the loss, the count, and "metric_sum.<name>" for
// each metric of the model's own, whose mean over microbatches is printed.
//
// Test: test/EndToEnd/metrics.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_STEPSUMS_H
#define LLMC_DIALECT_DIST_IR_STEPSUMS_H

#include "llmc/Support/LLVM.h"

namespace llmc::dist {

constexpr llvm::StringLiteral kMetricSum = "metric_sum.";

/// True for the role of a scalar that is added up.
inline bool isStepSum(StringRef role) {
  return role == "loss_sum" || role == "count" || role.starts_with(kMetricSum);
}

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_STEPSUMS_H
