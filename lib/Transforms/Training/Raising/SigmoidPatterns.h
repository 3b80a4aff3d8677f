//===- SigmoidPatterns.h - Sigmoids written as quotients --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matcher and its rewriting, for `llmc-raise`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_SIGMOIDPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_SIGMOIDPATTERNS_H

#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// Replaces `op` by a `stablehlo.logistic`, or a product with one, where it is
/// a quotient of that form; returns whether it was.
bool raiseSigmoid(Operation *op);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_SIGMOIDPATTERNS_H
