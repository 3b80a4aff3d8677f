//===- ComplexMath.h - Arithmetic on pairs of parts -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of complex numbers, written with ops on their parts. Branch cuts
// are those of C and NumPy: the sign of a zero says on which side a number
// lies.
//
// What a function of the parts does at a point where its formula is 0/0 is said
// by a choice whose operands are finite on both sides, so that the derivative
// is finite where that of the function is.
//
// Test: test/EndToEnd/complex.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_COMPLEXMATH_H
#define LLMC_DIALECT_STABLEHLO_IR_COMPLEXMATH_H

#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::stablehlo {

using graph::ComplexPair;
using Pairs = SmallVectorImpl<ComplexPair>;

struct ComplexMath {
  OpBuilder &b;
  Location loc;

  ComplexPair add(ComplexPair x, ComplexPair y) const;
  /// Products with a part that is the constant 0 are left out.
  ComplexPair multiply(ComplexPair x, ComplexPair y) const;
  /// By the greater part of the divisor (Smith), so that nothing overflows of
  /// which the quotient does not.
  ComplexPair divide(ComplexPair x, ComplexPair y) const;
  ComplexPair power(ComplexPair x, ComplexPair y) const;
  /// A tensor of i1.
  Value isEqual(ComplexPair x, ComplexPair y) const;

  /// Of parts that are scaled by a power of two. Its derivative at 0 is 0.
  Value abs(ComplexPair x) const;
  ComplexPair cbrt(ComplexPair x) const;
  ComplexPair cosine(ComplexPair x) const;
  ComplexPair exp(ComplexPair x) const;
  ComplexPair expm1(ComplexPair x) const;
  ComplexPair log(ComplexPair x) const;
  ComplexPair log1p(ComplexPair x) const;
  ComplexPair logistic(ComplexPair x) const;
  ComplexPair rsqrt(ComplexPair x) const;
  ComplexPair sign(ComplexPair x) const;
  ComplexPair sine(ComplexPair x) const;
  ComplexPair sqrt(ComplexPair x) const;
  ComplexPair tan(ComplexPair x) const;
  ComplexPair tanh(ComplexPair x) const;

  /// Of a real number: -1 where the sign bit is set, else 1.
  Value signOf(Value x) const;

private:
  // Of real numbers.
  Value plus(Value x, Value y) const { return stablehlo::add(b, loc, x, y); }
  Value minus(Value x, Value y) const { return stablehlo::sub(b, loc, x, y); }
  Value times(Value x, Value y) const { return stablehlo::mul(b, loc, x, y); }
  Value over(Value x, Value y) const { return stablehlo::div(b, loc, x, y); }
  Value times(Value x, double factor) const {
    return times(x, number(x, factor));
  }
  Value number(Value like, double value) const {
    return constantLike(b, loc, like, value);
  }
  Value choose(Value condition, Value x, Value y) const {
    return select(b, loc, condition, x, y);
  }
  Value is(ComparisonDirection direction, Value x, Value y) const {
    return compare(b, loc, direction, x, y);
  }
  Value isZero(Value x) const;
  Value isInfinite(Value x) const;
  /// Whether the sign bit is set: of -0 too.
  Value isNegative(Value x) const;
  Value angle(Value y, Value x) const;
  /// log |x + iy| of the absolute value and of `excess` = x^2 + y^2 - 1.
  Value logOfAbs(Value abs, Value excess) const;
  /// The greatest power of two that is not above `x`, which is not negative; no
  /// derivative flows through it.
  Value powerOfTwo(Value x) const;
  Value sinh(Value x) const;
  Value cosh(Value x) const;
  ComplexPair fromPolar(Value abs, Value angle) const;
};

/// The pair of a number without an imaginary part.
bool hasNoImaginaryPart(ComplexPair x);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_COMPLEXMATH_H
