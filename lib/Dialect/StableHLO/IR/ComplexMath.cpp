//===- ComplexMath.cpp - Arithmetic on pairs of parts ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ComplexMath.h. Test: test/EndToEnd/complex.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;
using Direction = ComparisonDirection;

static bool isZeroConstant(Value x) { return isNeutral(x, ReductionKind::sum); }

bool stablehlo::hasNoImaginaryPart(ComplexPair x) {
  return !x.imag || isZeroConstant(x.imag);
}

//===----------------------------------------------------------------------===//
// Of real numbers
//===----------------------------------------------------------------------===//

Value ComplexMath::isZero(Value x) const {
  return is(Direction::EQ, x, number(x, 0));
}

Value ComplexMath::isInfinite(Value x) const {
  Value infinity = number(x, std::numeric_limits<double>::infinity());
  return is(Direction::EQ, stablehlo::abs(b, loc, x), infinity);
}

Value ComplexMath::isNegative(Value x) const {
  Type bits = b.getIntegerType(
      cast<RankedTensorType>(x.getType()).getElementTypeBitWidth());
  Value seen = BitcastConvertOp::create(
      b, loc, cast<RankedTensorType>(x.getType()).clone(bits), x);
  return is(Direction::LT, seen, number(seen, 0));
}

Value ComplexMath::signOf(Value x) const {
  return choose(isNegative(x), number(x, -1), number(x, 1));
}

Value ComplexMath::angle(Value y, Value x) const {
  return Atan2Op::create(b, loc, y, x);
}

Value ComplexMath::powerOfTwo(Value x) const {
  auto type = cast<RankedTensorType>(x.getType());
  bool isDouble = type.getElementType().isF64();
  Type bits = b.getIntegerType(isDouble ? 64 : 32);
  Value seen = BitcastConvertOp::create(b, loc, type.clone(bits), x);
  // The bits of the exponent: both masks are exact as doubles.
  Value mask = number(seen, isDouble ? 0x1.ffcp62 : 0x1.fep30);
  Value power =
      BitcastConvertOp::create(b, loc, type, logicalAnd(b, loc, seen, mask));
  return max(b, loc, power, number(x, isDouble ? 0x1p-1022 : 0x1p-126));
}

Value ComplexMath::sinh(Value x) const {
  Value up = Expm1Op::create(b, loc, x);
  Value down = Expm1Op::create(b, loc, neg(b, loc, x));
  return times(minus(up, down), 0.5);
}

Value ComplexMath::cosh(Value x) const {
  Value up = stablehlo::exp(b, loc, x);
  Value down = stablehlo::exp(b, loc, neg(b, loc, x));
  return plus(times(up, 0.5), times(down, 0.5));
}

ComplexPair ComplexMath::fromPolar(Value abs, Value angle) const {
  return {times(abs, stablehlo::cosine(b, loc, angle)),
          times(abs, stablehlo::sine(b, loc, angle))};
}

//===----------------------------------------------------------------------===//
// Two numbers
//===----------------------------------------------------------------------===//

ComplexPair ComplexMath::add(ComplexPair x, ComplexPair y) const {
  return {plus(x.real, y.real), plus(x.imag, y.imag)};
}

ComplexPair ComplexMath::multiply(ComplexPair x, ComplexPair y) const {
  bool isRealX = hasNoImaginaryPart(x), isRealY = hasNoImaginaryPart(y);
  Value real = times(x.real, y.real);
  if (isRealX && isRealY)
    return {real, number(real, 0)};
  if (isRealX)
    return {real, times(x.real, y.imag)};
  if (isRealY)
    return {real, times(x.imag, y.real)};
  return {minus(real, times(x.imag, y.imag)),
          plus(times(x.real, y.imag), times(x.imag, y.real))};
}

ComplexPair ComplexMath::divide(ComplexPair x, ComplexPair y) const {
  if (hasNoImaginaryPart(y))
    return {over(x.real, y.real), over(x.imag, y.real)};
  // With p the greater part of y and q the other one, and r = q/p:
  // (a + ib) / (p + iq) = (a + br + i(b - ar)) / (p + qr)
  // (a + ib) / (q + ip) = (ar + b + i(br - a)) / (p + qr)
  Value isReal = is(Direction::GE, stablehlo::abs(b, loc, y.real),
                    stablehlo::abs(b, loc, y.imag));
  Value p = choose(isReal, y.real, y.imag), q = choose(isReal, y.imag, y.real);
  Value ratio = over(q, choose(isZero(p), number(p, 1), p));
  Value bottom = plus(p, times(q, ratio));
  Value first = choose(isReal, x.real, x.imag);
  Value second = choose(isReal, x.imag, x.real);
  Value real = plus(first, times(second, ratio));
  Value imag = minus(second, times(first, ratio));
  return {over(real, bottom),
          over(choose(isReal, imag, neg(b, loc, imag)), bottom)};
}

ComplexPair ComplexMath::power(ComplexPair x, ComplexPair y) const {
  Value size = abs(x), isNone = isZero(size);
  Value one = number(size, 1), zero = number(size, 0);
  // log of 1 where the base is 0.
  ComplexPair root = log({choose(isNone, one, x.real), x.imag});
  Value grown = stablehlo::pow(b, loc, choose(isNone, one, size), y.real);
  Value turned = neg(b, loc, times(y.imag, root.imag));
  ComplexPair result =
      fromPolar(times(grown, stablehlo::exp(b, loc, turned)),
                plus(times(y.real, root.imag), times(y.imag, root.real)));
  // 0 to the power of 0 is 1, to that of a positive real part 0, else NaN.
  Value isPlain = logicalAnd(b, loc, isZero(y.real), isZero(y.imag));
  Value isPositive = is(Direction::GT, y.real, zero);
  Value none = number(size, std::nan(""));
  return {choose(isNone, choose(isPlain, one, choose(isPositive, zero, none)),
                 result.real),
          choose(isNone, choose(isPlain, zero, choose(isPositive, zero, none)),
                 result.imag)};
}

Value ComplexMath::isEqual(ComplexPair x, ComplexPair y) const {
  return logicalAnd(b, loc, is(Direction::EQ, x.real, y.real),
                    is(Direction::EQ, x.imag, y.imag));
}

//===----------------------------------------------------------------------===//
// Absolute value, exponential and logarithm
//===----------------------------------------------------------------------===//

Value ComplexMath::abs(ComplexPair x) const {
  Value width = stablehlo::abs(b, loc, x.real);
  if (hasNoImaginaryPart(x))
    return width;
  Value height = stablehlo::abs(b, loc, x.imag);
  Value scale = powerOfTwo(max(b, loc, width, height));
  Value real = over(x.real, scale), imag = over(x.imag, scale);
  Value square = plus(times(real, real), times(imag, imag));
  Value isNone = isZero(square);
  Value root =
      stablehlo::sqrt(b, loc, choose(isNone, number(square, 1), square));
  Value scaled = choose(isNone, number(square, 0), times(scale, root));
  Value isEndless =
      OrOp::create(b, loc, isInfinite(x.real), isInfinite(x.imag));
  return choose(isEndless,
                number(square, std::numeric_limits<double>::infinity()),
                scaled);
}

ComplexPair ComplexMath::exp(ComplexPair x) const {
  Value size = stablehlo::exp(b, loc, x.real);
  ComplexPair result = fromPolar(size, x.imag);
  // What is real stays so where it overflows.
  Value isReal = logicalAnd(b, loc, isInfinite(size), isZero(x.imag));
  return {result.real, choose(isReal, x.imag, result.imag)};
}

ComplexPair ComplexMath::expm1(ComplexPair x) const {
  // exp(a) cos(b) - 1 = (exp(a) - 1) cos(b) - 2 sin(b/2)^2
  Value half = stablehlo::sine(b, loc, times(x.imag, 0.5));
  Value grown = Expm1Op::create(b, loc, x.real);
  Value real = minus(times(grown, stablehlo::cosine(b, loc, x.imag)),
                     times(times(half, half), 2));
  return {real, exp(x).imag};
}

Value ComplexMath::logOfAbs(Value abs, Value excess) const {
  Value isNear =
      logicalAnd(b, loc, is(Direction::GT, excess, number(excess, -0.5)),
                 is(Direction::LT, excess, number(excess, 1)));
  Value near =
      Log1pOp::create(b, loc, choose(isNear, excess, number(excess, 0)));
  Value far = stablehlo::log(b, loc, choose(isNear, number(abs, 1), abs));
  return choose(isNear, times(near, 0.5), far);
}

ComplexPair ComplexMath::log(ComplexPair x) const {
  Value width = stablehlo::abs(b, loc, x.real);
  Value height = stablehlo::abs(b, loc, x.imag);
  Value greater = max(b, loc, width, height);
  Value less = min(b, loc, width, height);
  Value one = number(greater, 1);
  Value excess =
      plus(times(minus(greater, one), plus(greater, one)), times(less, less));
  return {logOfAbs(abs(x), excess), angle(x.imag, x.real)};
}

ComplexPair ComplexMath::log1p(ComplexPair x) const {
  Value moved = plus(x.real, number(x.real, 1));
  Value excess = plus(times(x.real, plus(x.real, number(x.real, 2))),
                      times(x.imag, x.imag));
  return {logOfAbs(abs({moved, x.imag}), excess), angle(x.imag, moved)};
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

ComplexPair ComplexMath::sqrt(ComplexPair x) const {
  // t = sqrt((|a| + |x|) / 2) and b / 2t, each times i where a is negative.
  Value half =
      plus(times(times(signOf(x.real), x.real), 0.5), times(abs(x), 0.5));
  Value isNone = isZero(half), zero = number(half, 0);
  Value t = stablehlo::sqrt(b, loc, choose(isNone, number(half, 1), half));
  Value other = over(times(x.imag, 0.5), t);
  Value side = signOf(x.imag), isBehind = isNegative(x.real);
  Value real = choose(isBehind, times(side, other), t);
  Value imag = choose(isBehind, times(side, t), other);
  return {choose(isNone, zero, real), choose(isNone, x.imag, imag)};
}

ComplexPair ComplexMath::rsqrt(ComplexPair x) const {
  return divide({number(x.real, 1), number(x.real, 0)}, sqrt(x));
}

ComplexPair ComplexMath::cbrt(ComplexPair x) const {
  Value size = abs(x), isNone = isZero(size), zero = number(size, 0);
  Value root = CbrtOp::create(b, loc, choose(isNone, number(size, 1), size));
  Value turn = angle(x.imag, x.real);
  ComplexPair result = fromPolar(root, over(turn, number(turn, 3)));
  return {choose(isNone, zero, result.real), choose(isNone, zero, result.imag)};
}

ComplexPair ComplexMath::sign(ComplexPair x) const {
  Value size = abs(x), isNone = isZero(size);
  Value divisor = choose(isNone, number(size, 1), size);
  return {over(x.real, divisor), over(x.imag, divisor)};
}

//===----------------------------------------------------------------------===//
// Circular and hyperbolic functions
//===----------------------------------------------------------------------===//

ComplexPair ComplexMath::sine(ComplexPair x) const {
  return {times(stablehlo::sine(b, loc, x.real), cosh(x.imag)),
          times(stablehlo::cosine(b, loc, x.real), sinh(x.imag))};
}

ComplexPair ComplexMath::cosine(ComplexPair x) const {
  return {times(stablehlo::cosine(b, loc, x.real), cosh(x.imag)),
          neg(b, loc, times(stablehlo::sine(b, loc, x.real), sinh(x.imag)))};
}

ComplexPair ComplexMath::tanh(ComplexPair x) const {
  // With e = exp(-2|a|), numerators and the denominator times 2e:
  // ((1 - e^2) sign(a) + 4 e sin(b) cos(b) i) / ((1 - e)^2 + 4 e cos(b)^2)
  Value side = signOf(x.real);
  Value size = times(side, x.real);
  Value decay = stablehlo::exp(b, loc, times(size, -2));
  Value gap = Expm1Op::create(b, loc, times(size, -2));
  Value wide = Expm1Op::create(b, loc, times(size, -4));
  Value cosine = stablehlo::cosine(b, loc, x.imag);
  Value sine = stablehlo::sine(b, loc, x.imag);
  Value turn = times(times(decay, 4), cosine);
  Value bottom = plus(times(gap, gap), times(turn, cosine));
  return {over(neg(b, loc, times(side, wide)), bottom),
          over(times(turn, sine), bottom)};
}

ComplexPair ComplexMath::tan(ComplexPair x) const {
  // -i tanh(ix)
  ComplexPair turned = tanh({neg(b, loc, x.imag), x.real});
  return {turned.imag, neg(b, loc, turned.real)};
}

ComplexPair ComplexMath::logistic(ComplexPair x) const {
  // With e = exp(-|a|), where a is not negative, and where it is:
  // (1 + e cos(b) + e sin(b) i) / d, and (e^2 + e cos(b) + e sin(b) i) / d
  // with d = (1 - e)^2 + 4 e cos(b/2)^2
  Value size = neg(b, loc, times(signOf(x.real), x.real));
  Value decay = stablehlo::exp(b, loc, size),
        gap = Expm1Op::create(b, loc, size);
  Value half = stablehlo::cosine(b, loc, times(x.imag, 0.5));
  Value bottom =
      plus(times(gap, gap), times(times(times(decay, 4), half), half));
  ComplexPair turned = fromPolar(decay, x.imag);
  Value first =
      choose(isNegative(x.real), times(decay, decay), number(decay, 1));
  return {over(plus(first, turned.real), bottom), over(turned.imag, bottom)};
}
