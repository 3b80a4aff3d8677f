//===- Angles.cpp - sin, cos, tan and their inverses ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An angle is a whole number of quarter turns and a rest of at most π/4, which
// is a pair. Up to 2^30 quarter turns are taken away in three parts of π/2
// (Cody and Waite 1980), of which the first leaves no error. Beyond, the angle
// is multiplied by those digits of 2/π that are not whole turns (Payne and
// Hanek 1983): all f64 are right. Of the rest there are Taylor's series.
//
// Inverses are the angle of a point (x, y): turned into the first octant, then
// by 0, π/8 or π/4 towards the axis, it is at most π/16.
//
//   atan(a / b)  =  atan c + atan((a - c b) / (b + c a)),  c = tan of these
//
// Test: test/Codegen/FunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Doubles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::codegen {

/// Quarter turns, of which the last two bits count, and the rest.
struct Doubles::Turn {
  Value quarters;
  Pair rest;
};

/// Of π/2, below `halfPi`.
static constexpr double halfPiRest = -0x1.f1976b7ed8fbcp-110;

/// The binary digits of 2/π after 32 zeros.
static constexpr uint64_t perHalfPi[] = {
    0x00000000a2f9836e, 0x4e441529fc2757d1, 0xf534ddc0db629599,
    0x3c439041fe5163ab, 0xdebbc561b7246e3a, 0x424dd2e006492eea,
    0x09d1921cfe1deb1c, 0xb129a73ee88235f5, 0x2ebb4484e99c7026,
    0xb45f7e413991d639, 0x835339f49c845f8b, 0xbdf9283b1ff897ff,
    0xde05980fef2f118b, 0x5a0a6d1f6d367ecf, 0x27cb09b74f463f66,
    0x9e5fea2d7527bac7, 0xebe5f17b3d0739f7, 0x8a5292ea6bfb5fb1,
    0x1f8d5d0856033046};

/// Of a number from 0 to 2^30.
Doubles::Turn Doubles::turnSmall(Value x) {
  Value n = round(mul(x, number(1 / halfPi.high)));
  // Exact: a multiple of 2^-52 below 1, or x.
  Value r = fma(n, number(-halfPi.high), x);
  Pair second = product(n, number(halfPi.low));
  Pair rest = sum(r, negate(second.high));
  Value low = fma(n, number(-halfPiRest), sub(rest.low, second.low));
  return {toInteger(n), quickSum(rest.high, low)};
}

/// 192 digits of 2/π from `place` of the table on.
void Doubles::findDigits(Value place, Value (&words)[3]) {
  SmallVector<Value> table;
  for (uint64_t word : perHalfPi)
    table.push_back(integer(static_cast<int64_t>(word)));
  Value first = right(place, integer(6));
  // Each bit of the word's number halves what is left.
  for (int64_t bit : {8, 4, 2, 1}) {
    Value isSet =
        compare(arith::CmpIPredicate::ne, masked(first, bit), integer(0));
    SmallVector<Value> chosen;
    for (int64_t i = 0; i < 3 + bit; ++i)
      chosen.push_back(choose(isSet, table[i + bit], table[i]));
    table = chosen;
  }
  Value shift = masked(place, 63), back = minus(integer(63), shift);
  for (int i = 0; i < 3; ++i)
    words[i] = either(left(table[i], shift),
                      right(right(table[i + 1], integer(1)), back));
}

/// The quarter turns of `product` 2^-62, and π/2 of the fraction that the words
/// `high` and `low` are.
Doubles::Turn Doubles::makeTurn(Value product, Value high, Value low) {
  // As a number from -1/2 to 1/2: sign, and size in 128 bits.
  Value sign = op<arith::ShRSIOp>(high, integer(63));
  Value quarters = minus(right(product, integer(62)), sign);
  high = op<arith::XOrIOp>(high, sign);
  low = op<arith::XOrIOp>(low, sign);
  // The first bit that is set comes to the top. It is none of the first.
  Value zeros =
      op<arith::MinUIOp>(op<math::CountLeadingZerosOp>(high), integer(63));
  high = either(left(high, zeros),
                right(right(low, minus(integer(63), zeros)), integer(1)));
  low = left(low, zeros);
  Value last =
      either(left(masked(high, 0x7ff), integer(42)), right(low, integer(22)));
  Value scale = power(minus(integer(-53), zeros));
  scale = choose(compare(arith::CmpIPredicate::ne, sign, integer(0)),
                 negate(scale), scale);
  Pair fraction = {mul(toNumber(right(high, integer(11))), scale),
                   mul(mul(toNumber(last), number(0x1p-53)), scale)};
  return {quarters, this->product(fraction, constant(halfPi))};
}

/// Of a finite number from 2^30 on.
Doubles::Turn Doubles::turnLarge(Value x) {
  Value raw = bits(x);
  Value m =
      either(masked(raw, (int64_t(1) << 52) - 1), integer(int64_t(1) << 52));
  // x = m 2^e; digits that make whole turns are left out.
  Value e = minus(right(raw, integer(52)), integer(1075));
  Value words[3];
  findDigits(plus(e, integer(30)), words);
  // The last 192 bits of the product.
  auto multiply = [&](Value word) {
    return arith::MulUIExtendedOp::create(b, loc, m, word);
  };
  arith::MulUIExtendedOp third = multiply(words[2]),
                         second = multiply(words[1]);
  Value middle = plus(second.getLow(), third.getHigh());
  Value carries = compare(arith::CmpIPredicate::ult, middle, third.getHigh());
  Value high = plus(plus(times(m, words[0]), second.getHigh()),
                    choose(carries, integer(1), integer(0)));
  Value two = integer(2), back = integer(62);
  return makeTurn(high, either(left(high, two), right(middle, back)),
                  either(left(middle, two), right(third.getLow(), back)));
}

/// Of the size of `x`; what is not finite is taken for zero.
Doubles::Turn Doubles::turn(Value x) {
  Value size = abs(x);
  size = choose(less(size, number(infinity)), size, number(0));
  auto branch = scf::IfOp::create(
      b, loc, TypeRange{b.getI64Type(), b.getF64Type(), b.getF64Type()},
      less(size, number(0x1p30)), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isSmall : {true, false}) {
    b.setInsertionPointToStart(isSmall ? branch.thenBlock()
                                       : branch.elseBlock());
    Turn made = isSmall ? turnSmall(size) : turnLarge(size);
    scf::YieldOp::create(
        b, loc, ValueRange{made.quarters, made.rest.high, made.rest.low});
  }
  return {branch.getResult(0), {branch.getResult(1), branch.getResult(2)}};
}

/// Of |r| <= π/4.
Pair Doubles::sine(Pair r) {
  Value z = mul(r.high, r.high);
  SmallVector<double> terms = {-1.0 / 6};
  for (int k = 2; k <= 9; ++k)
    terms.push_back(-terms.back() / (2 * k * (2 * k + 1)));
  Value more = mul(mul(r.high, z), polynomial(z, terms));
  // The rest by the derivative.
  more = fma(r.low, fma(z, number(-0.5), number(1)), more);
  return quickSum(r.high, more);
}

Pair Doubles::cosine(Pair r) {
  Value z = mul(r.high, r.high), half = mul(z, number(0.5));
  SmallVector<double> terms = {1.0 / 24};
  for (int k = 3; k <= 9; ++k)
    terms.push_back(-terms.back() / (2 * k * (2 * k - 1)));
  Value more = mul(mul(z, z), polynomial(z, terms));
  more = fma(negate(r.high), r.low, more);
  // What z has lost.
  more = fma(fma(r.high, r.high, negate(z)), number(-0.5), more);
  Pair plain = quickSum(number(1), negate(half));
  return quickSum(plain.high, add(plain.low, more));
}

/// sin and cos: quarter turns take turns with both.
Value Doubles::wave(Value x, bool isCosine) {
  Turn made = turn(x);
  Value quarters = made.quarters;
  if (isCosine)
    quarters = plus(quarters, integer(1));
  auto isSet = [&](int64_t bit) {
    return compare(arith::CmpIPredicate::ne, masked(quarters, bit), integer(0));
  };
  Value result =
      choose(isSet(1), rounded(cosine(made.rest)), rounded(sine(made.rest)));
  Value isFlipped = isSet(2);
  if (!isCosine)
    isFlipped = op<arith::XOrIOp>(isFlipped, isNegative(x));
  result = choose(isFlipped, negate(result), result);
  return choose(less(abs(x), number(infinity)), result, sub(x, x));
}

Value Doubles::sin(Value x) { return wave(x, /*isCosine=*/false); }
Value Doubles::cos(Value x) { return wave(x, /*isCosine=*/true); }

/// x / y to twice the digits.
Pair Doubles::quotient(Pair x, Pair y) {
  Value high = div(x.high, y.high);
  Value rest = add(fma(negate(high), y.high, x.high), x.low);
  rest = fma(negate(high), y.low, rest);
  return {high, div(rest, y.high)};
}

Value Doubles::tan(Value x) {
  Turn made = turn(x);
  Pair sine = this->sine(made.rest), cosine = this->cosine(made.rest);
  Value isOdd =
      compare(arith::CmpIPredicate::ne, masked(made.quarters, 1), integer(0));
  Pair above = {choose(isOdd, negate(cosine.high), sine.high),
                choose(isOdd, negate(cosine.low), sine.low)};
  Pair below = {choose(isOdd, sine.high, cosine.high),
                choose(isOdd, sine.low, cosine.low)};
  Value result = rounded(quotient(above, below));
  result = choose(isNegative(x), negate(result), result);
  return choose(less(abs(x), number(infinity)), result, sub(x, x));
}

/// atan(small / large) for 0 <= small <= large.
Pair Doubles::angleOfSmall(Value small, Value large) {
  constexpr LongConstant tan8 = {0x1.a827999fcef32p-2, 0x1.08b2fb1366ea9p-56};
  // The tangents of π/16 and of three times as much.
  Value isNear = less(small, mul(large, number(0.1989123673796580)));
  Value isFar = less(mul(large, number(0.6681786379192989)), small);
  auto pick = [&](double ofNear, double ofMiddle, double ofFar) {
    return choose(isNear, number(ofNear),
                  choose(isFar, number(ofFar), number(ofMiddle)));
  };
  Value c = pick(0, tan8.high, 1);
  Pair part = product(c, large), turned = product(c, small);
  Pair above = sum(small, negate(part.high));
  above.low = sub(above.low, fma(pick(0, tan8.low, 0), large, part.low));
  Pair below = quickSum(large, turned.high);
  below.low = add(below.low, turned.low);
  Pair exact = quotient(above, below);
  Value t = exact.high, z = mul(t, t);
  SmallVector<double> terms;
  for (int k = 1; k <= 12; ++k)
    terms.push_back((k % 2 ? -1.0 : 1.0) / (2 * k + 1));
  Value more = fma(mul(t, z), polynomial(z, terms), exact.low);
  Pair base = sum(pick(0, halfPi.high / 4, halfPi.high / 2), t);
  more = add(more, pick(0, halfPi.low / 4, halfPi.low / 2));
  return {base.high, add(base.low, more)};
}

/// `whole` - part.
Pair Doubles::angleFrom(LongConstant whole, Pair part) {
  Pair rest = quickSum(number(whole.high), negate(part.high));
  return {rest.high, add(sub(rest.low, part.low), number(whole.low))};
}

Value Doubles::atan2(Value y, Value x) {
  Value one = number(1), zero = number(0);
  Value isNone = either(isNotANumber(x), isNotANumber(y));
  Value high = abs(y), wide = abs(x);
  Value isSteep = less(wide, high);
  Value small = choose(isSteep, wide, high),
        large = choose(isSteep, high, wide);
  // A point that stands for it, of which sums and products are ordinary.
  Value scale =
      choose(less(large, number(0x1p-900)), number(0x1p120),
             choose(less(number(0x1p900), large), number(0x1p-120), one));
  Value isEnd = equal(large, number(infinity));
  Value isZero = equal(large, zero);
  Value ofEnd = choose(equal(small, number(infinity)), one, zero);
  small = choose(isEnd, ofEnd, mul(small, scale));
  large = choose(either(isEnd, isZero), one, mul(large, scale));
  Pair angle = angleOfSmall(small, large);
  auto pick = [&](Value condition, Pair x, Pair y) -> Pair {
    return {choose(condition, x.high, y.high), choose(condition, x.low, y.low)};
  };
  angle = pick(isSteep, angleFrom(halfPi, angle), angle);
  LongConstant pi = {2 * halfPi.high, 2 * halfPi.low};
  angle = pick(isNegative(x), angleFrom(pi, angle), angle);
  return choose(isNone, add(x, y), withSign(rounded(angle), y));
}

/// The height or width of a point of the unit circle.
Value Doubles::asin(Value x) {
  return atan2(x, sqrt(fma(negate(x), x, number(1))));
}
Value Doubles::acos(Value x) {
  return atan2(sqrt(fma(negate(x), x, number(1))), x);
}

} // namespace llmc::codegen
