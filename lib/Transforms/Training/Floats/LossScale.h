//===- LossScale.h - Cotangents that narrow floats hold ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before the loss is derived it is multiplied by a number, and gradients are
// divided by it in the update (Micikevicius et al. 2018, 3.2). The number is a
// state: halved where a gradient overflows, doubled after many good steps.
//
//   microbatch   cotangent of the loss sum = scale / nominal
//   update       g = gradient / (count * scale / nominal)
//                ok = norm is finite
//                good = ok ? good + 1 : 0, 0 when it has reached `steps`
//                scale = ok ? scale (* 2 when it has) : max(scale / 2, 1)
//
// The nominal count makes the scale one of the mean rather than of the sum; any
// number would do, and it is a power of two, so nothing is rounded.
//
// Test: test/Transforms/Training/loss-scale.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_LOSSSCALE_H
#define LLMC_TRANSFORMS_TRAINING_LOSSSCALE_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::training {

/// The two states of a recipe with `loss_scale`.
struct LossScale {
  dist::StateOp scale, good;
  int64_t steps = 0;
  /// Power of two near the count of a microbatch.
  double nominal = 1;

  /// Makes the states in front of the microbatch function.
  static LossScale make(dist::TrainingOp recipe, mlir::func::FuncOp microbatch);
  /// Finds those that `make` made; nothing for a recipe without a scale.
  static std::optional<LossScale> find(dist::TrainingOp recipe,
                                       mlir::func::FuncOp microbatch);

  dist::PortAttr getPort(dist::StateOp state) const;
  /// The cotangent of the loss sum, of its element type.
  Value buildSeed(OpBuilder &builder, Location loc, Value scale,
                  Type element) const;
  /// What gradients are divided by beside the count.
  Value buildDivisor(OpBuilder &builder, Location loc, Value scale) const;
  /// The next values of scale and good, by whether the step counts.
  std::pair<Value, Value> buildNext(OpBuilder &builder, Location loc,
                                    Value scale, Value good,
                                    Value isGood) const;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_LOSSSCALE_H
