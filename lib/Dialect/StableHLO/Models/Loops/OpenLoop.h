//===- OpenLoop.h - A loop that the run ends --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%y = %a, %w = %b) cond { %y > 1 } do { return f(%y, %w), %w }
//     ->
//   %on = dist.enter carry (%a > 1)     %y = dist.enter carry %a
//   %w = dist.enter same %b             %z = f(%y, %w)
//   dist.next %on, %z > 1               %n = dist.next %y, %z
//   dist.leave last %n
//
// A condition that neither counts nor has a bound says after each trip whether
// there is another one. Nothing is known of the number of a trip, so all that
// changes is carried.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_OPENLOOP_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_OPENLOOP_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// Why the loop cannot stay one; "" where it can.
StringRef whyNotOpen(WhileOp loop);

/// Builds the conditional loop in front of one for which there is no such
/// reason, and appends what stands for its results.
void keepOpenLoop(WhileOp loop, OpBuilder &builder,
                  SmallVectorImpl<Value> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_OPENLOOP_H
