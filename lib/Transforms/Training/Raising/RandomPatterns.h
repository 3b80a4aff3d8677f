//===- RandomPatterns.h - Random bits as texts draw them --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   number  = the number of each element, of 64 bits, plus a scalar
//   x, y    = its halves, each plus a word of the key
//   x, y    = twenty rounds of threefry, with words of the key between them
//   bits    = x xor y, or both in 64 bits
//   flags   = f(bits) < number, f a function that does not decrease
//
// as jax.random and `stablehlo.rng_bit_generator` become ops. The matcher goes
// back from the flags: whatever it accepts is these bits, and nothing else.
//
// Test: test/Transforms/Training/raise-attention-dropout.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_RANDOMPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_RANDOMPATTERNS_H

#include "MaskPatterns.h"
#include "llmc/Runtime/Base/RandomBits.h"

namespace llmc::training {

/// A scalar that the program computes, or null, plus a number.
struct ScalarSum {
  Value scalar;
  uint64_t number = 0;

  bool operator==(const ScalarSum &other) const {
    return scalar == other.scalar && number == other.number;
  }
};

/// The elements' bits, by the key's words and a counter of ui64 for each.
struct BitDraw {
  rt::RandomBits bits = rt::RandomBits::none;
  ScalarSum key[2];
  Value counter;
};

std::optional<BitDraw> matchDraw(Value bits, ConstantCones &cones);

/// Splits what is added to all elements of an integer tensor from the rest,
/// which is left in `tensor`; nothing where two scalars are added.
std::optional<ScalarSum> splitScalar(Value &tensor, ConstantCones &cones);

/// Flags that are true where bits lie below the limit, or from it on.
struct BitThreshold {
  Value bits;
  bool isBelow = false;
  uint64_t limit = 0;
};

std::optional<BitThreshold> matchThreshold(Value flags, ConstantCones &cones);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_RANDOMPATTERNS_H
