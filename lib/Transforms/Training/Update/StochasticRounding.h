//===- StochasticRounding.h - States that are rounded by chance -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter that is kept in bf16 or f16, without a copy in f32, loses every
// update that is smaller than half its last bit. Rounded up or down by chance
// it does not, on average: x between two numbers becomes the upper one as often
// as it is near to it (Gupta et al. 2015, Deep learning with limited numerical
// precision).
//
//   bits     = jax32(key, place)                   key of seed, step and name
//   stored   = (x + (bits mod 2^16)) cut to bf16   on the bits of f32
//   stored   = (x + (bits mod 2^13)) cut to f16    likewise, from 2^-14 on
//   stored   = 2^-24 floor(x / 2^-24 + bits / 2^32)           below, by
//   integers
//
// The place is that in the whole tensor, so the bits depend on no layout, and
// not on how often something is computed. What is not finite is converted, and
// so is what is above the largest number of f16.
//
// Test: test/Transforms/Training/stochastic-rounding.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_STOCHASTICROUNDING_H
#define LLMC_TRANSFORMS_TRAINING_STOCHASTICROUNDING_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// Whether states of the type can be rounded so.
bool canRoundStochastically(Type element);

/// `x`, which is wider than `to`, as a tensor of `to` for the state `name`.
Value roundStochastically(OpBuilder &builder, Location loc, Value x, Type to,
                          StringRef name, Value seed, Value step);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_STOCHASTICROUNDING_H
