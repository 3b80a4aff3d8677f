//===- ProgramPlacement.h - Reductions of a program -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings a program with decided layouts before the minimum cut of
// ReductionPlacement.h, one mesh axis after the other (the last declared
// first), and writes which values are partial:
//
//   %a = dot %u, %w      [{}, {t}] x [{t}, {}] -> [{}, {}]
//   %b = add %a, %x      [{}, {}]
//   %c = exp %b
//   // becomes: %a and %b are [{}, {}] partial (sum) over t, or %a alone
//
// Results of `@microbatch` that are summed over microbatches reach `@update` as
// they are: there a reduction happens once, before it once for each microbatch.
// Prices are those of the reshard planner and count what earlier axes have left
// partial, so that reductions over several axes meet in one collective.
//
// Test: test/Transforms/Sharding/place-reductions.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_PROGRAMPLACEMENT_H
#define LLMC_ANALYSIS_LAYOUTS_PROGRAMPLACEMENT_H

#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"

namespace llmc {

/// A value that is reduced over `axis` towards a layout that uses want.
struct PlacedReduction {
  Value value;
  dist::LayoutAttr from, to;
  dist::AxisAttr axis;
  ReductionKind kind;
  /// How often in a step.
  int64_t times = 1;
};

/// Reads `dist.layout` and `dist.layouts` of the program functions and adds
/// partial axes. Reports errors.
LogicalResult placeProgramReductions(ModuleOp module, LayoutReshards &reshards,
                                     SmallVectorImpl<PlacedReduction> &placed);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_PROGRAMPLACEMENT_H
