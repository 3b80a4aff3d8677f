//===- FactorScales.h - Scales of floats of eight bits ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors of eight bits are a tensor times a scale (Micikevicius et al. 2022,
// FP8 formats for deep learning). The scale is a power of two, so nothing is
// rounded by it, and brings the greatest element near the largest number of the
// type:
//
//   amax   = max(max |x|, 0)
//   scale  = the power of two at or below largest / 2^margin / amax, at most
//            2^126
//   q      = nn.quantize x, scale
//   y      = dot(q, r) * (1 / scale of q * 1 / scale of r)
//
// A scale is "current" where amax is of the tensor itself. A "delayed" one is
// of the greatest of the last microbatches, which a carried state remembers; it
// is 1 until there are any. Weights and inputs, which no op of the microbatch
// makes, have current scales. A tensor that is not finite is not remembered.
//
// A tensor that each trip of a loop makes has a scale for each trip. Its state
// has a dim for the trips of each loop around it: scales are made before the
// loop, and enter by rows; greatest elements leave it stacked.
//
//   %s = scales of %state : tensor<12xf32>      %state : tensor<12x16xf32>
//   %t = dist.enter row %s, %q = nn.quantize %x, %t
//   %n = dist.leave stack (amax of %x) : tensor<12xf32>
//
// Test: test/Transforms/Training/scales.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_FACTORSCALES_H
#define LLMC_TRANSFORMS_TRAINING_FACTORSCALES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::training {

/// The mark `dist.scaling` of a step.
struct Scaling {
  /// Microbatches that are remembered; 0: none, scales are current.
  int64_t history = 0;
  /// Powers of two that are left free.
  int64_t margin = 0;

  static Scaling of(dist::StepOp step);
};

/// A factor, and one over its scale; null where it has none.
struct ScaledValue {
  Value value, inverse;
};

class FactorScales {
public:
  /// `step` is null for functions that only read, which have current scales.
  FactorScales(mlir::func::FuncOp function, Scaling scaling, dist::StepOp step)
      : function(function), scaling(scaling), step(step) {}

  /// `x` as floats of `type`, at the builder's place. Scales of what is made in
  /// the microbatch may be delayed. `loop` is the innermost one that has a
  /// value of `x` in each of its trips, with those around it; null: none. In
  /// one that its condition ends, whose trips nobody can number, scales are
  /// current.
  ScaledValue build(OpBuilder &builder, Location loc, Value x,
                    mlir::FloatType type, bool isMade, dist::LoopAttr loop);
  /// What is made of the result of a product of factors with scales.
  static Value unscale(OpBuilder &builder, Location loc, Value product,
                       ArrayRef<Value> inverses);
  /// States that the function now reads become results of it.
  void finish();

private:
  /// A scale and one over it.
  using Scale = std::pair<Value, Value>;

  BlockArgument addState(Location loc, ArrayRef<int64_t> shape);
  Value remember(OpBuilder &builder, Location loc, Value amax,
                 ArrayRef<dist::LoopAttr> loops);
  Value buildScale(OpBuilder &builder, Location loc, Value amax,
                   mlir::FloatType type);
  Scale buildCurrent(OpBuilder &builder, Location loc, Value amax,
                     mlir::FloatType type);
  Scale buildDelayed(OpBuilder &builder, Location loc, Value amax,
                     mlir::FloatType type, dist::LoopAttr loop);

  mlir::func::FuncOp function;
  Scaling scaling;
  dist::StepOp step;
  /// What the states are after the microbatch.
  SmallVector<std::pair<dist::PortAttr, Value>> next;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_FACTORSCALES_H
