//===- CountedLoop.h - A loop that stays one --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%i = 0, %W = %w, %x = %a, %ys = %e) cond { %i < 12 } do {
//     %y = dot %x, %W[%i]
//     return %i + 1, %W, %y, %ys[%i] := %y
//   }
//     ->
//   %wi = dist.enter row %w    %x = dist.enter carry %a
//   %y = dot %x, %wi           %f = dist.next %x, %y
//   dist.leave last %f         dist.leave stack %y
//
// A counter runs from 0 by ones to a constant. What a trip returns as it came
// is invariant; where it is read by rows alone, with the number of the trip, it
// is a stack. A stack that each trip writes a row of, and nothing else reads,
// is what comes out as one. All else is carried.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// Whether the loop is better kept than unrolled: it is counted, has several
/// trips, and a trip calls a library, or all trips are very many ops. What is
/// element-wise alone becomes one kernel when it is unrolled.
bool isKept(WhileOp loop);

/// Builds the ops of one trip, and what goes in and out of it, in front of the
/// loop, for which `isKept` holds; appends what stands for its results.
void keepLoop(WhileOp loop, OpBuilder &builder,
              SmallVectorImpl<Value> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H
