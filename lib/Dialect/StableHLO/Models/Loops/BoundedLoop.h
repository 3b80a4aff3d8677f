//===- BoundedLoop.h - A loop that the run may end early --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%i = 0, %y = %a) cond { %i < 9 & %y > 1 } do {
//     return %i + 1, f(%i, %y)
//   }
//     ->
//   while(%i = 0, %y = %a, %on = true, %end = 0) cond { %i < 9 } do {
//     %now = %on & %y > 1
//     %z = f(%i, select(%now, %y, %a))
//     return %i + 1, select(%now, %z, %y), %now, select(%now, %i + 1, %end)
//   }
//
// A condition that is a conjunction, of which a part counts (LoopNumbers.h),
// has at most as many trips as that part says. The loop is a counted one of so
// many, in which each value stays what it was from the first trip on where the
// rest of the condition fails. Counters go on, so that what is read by their
// numbers is still known; what they are at the end is carried beside them.
//
// Trips after the end compute the body for nothing: on the values before the
// loop, and not on the last ones, where a loop that has converged often has an
// infinite derivative, and 0 times that is NaN.
//
// A loop whose samples end by themselves is bounded too (SampleLoop.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_BOUNDEDLOOP_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_BOUNDEDLOOP_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// What all have to hold for a flag to hold, or for each of several.
SmallVector<Value> splitConjunction(Value flag);

/// A loop that starts from `start`, with the attributes of `loop` and empty
/// blocks.
WhileOp makeEmptyLoop(OpBuilder &builder, WhileOp loop, ValueRange start);

/// Whether the condition is such a conjunction, and no counted loop already.
bool hasBound(WhileOp loop);

/// Builds the counted loop in front of one for which `hasBound` holds, and
/// appends what stands for its results.
void boundLoop(WhileOp loop, OpBuilder &builder,
               SmallVectorImpl<Value> &results);

/// Puts counted loops in place of those in the body of `loop`.
void boundLoopsIn(WhileOp loop);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_BOUNDEDLOOP_H
