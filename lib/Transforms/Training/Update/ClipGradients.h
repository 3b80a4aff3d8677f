//===- ClipGradients.h - Bounds of gradients --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of one gradient in an update, by the norm of all (Pascanu et al., 1211.5063,
// algorithm 1) or element by element.
//
// Tests: test/Transforms/Training/build-update.mlir, averages.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_CLIPGRADIENTS_H
#define LLMC_TRANSFORMS_TRAINING_CLIPGRADIENTS_H

#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// A scalar as a tensor of the type of `like`.
Value broadcastTo(OpBuilder &builder, Location loc, Value scalar, Value like);

/// min(1, bound / norm)
Value getClipFactor(OpBuilder &builder, Location loc, Value norm, double bound);

/// max(-bound, min(bound, gradient))
Value clipByValue(OpBuilder &builder, Location loc, Value gradient,
                  double bound);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_CLIPGRADIENTS_H
