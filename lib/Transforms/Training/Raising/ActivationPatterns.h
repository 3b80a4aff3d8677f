//===- ActivationPatterns.h - GELU and SiLU in a graph ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matchers and their rewriting, for `llmc-raise`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ACTIVATIONPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_ACTIVATIONPATTERNS_H

#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// Replaces the product around `op`, an erf, erfc or tanh, by an `nn.gelu`
/// where it is one. `reason` says why not (empty where nothing looks like it).
bool raiseGelu(Operation *op, StringRef &reason);

/// The same for a logistic function and an `nn.silu`.
bool raiseSilu(Operation *op, StringRef &reason);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ACTIVATIONPATTERNS_H
