//===- RotaryPatterns.h - Rotary embeddings in a graph ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matcher and rewriting of `llmc-raise`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ROTARYPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_ROTARYPATTERNS_H

#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// Replaces the op, whose result is that of a rotation, by an `nn.rotary`, or
/// two pieces of the concatenation that it is by one. `reason` says why not
/// (empty where nothing looks like a rotation).
bool raiseRotary(Operation *op, StringRef &reason);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ROTARYPATTERNS_H
