//===- Exponentials.cpp - exp, log and their relatives --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two series, with as many terms as f64 can tell:
//
//   exp x  =  2^n (1 + r + r^2 Σ r^k / (k+2)!),    r = x - n ln 2,
//             |r| <= (ln 2) / 2
//   log x  =  e ln 2 + f - s (f - Σ 2 s^(2k) / (2k+1)),   x = 2^e (1 + f),
//             s = f / (2 + f), 1/√2 <= 1 + f <= √2
//
// A power needs the logarithm to 65 bits, since its error grows by the
// exponent; so the first terms of a second form are pairs:
//
//   log (1 + f)  =  2 s (1 + s^2 (1/3 + Σ s^(2k) / (2k+3)))
//
// Test: test/Codegen/FunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Doubles.h"

using namespace mlir;

namespace llmc::codegen {

/// x = 2^exponent (1 + f).
struct Doubles::Split {
  Value exponent, f;
};

/// e^(r + tail) - 1 as a sum of two, |r| <= (ln 2) / 2.
Pair Doubles::growth(Value r, Value tail) {
  Pair x = quickSum(r, tail);
  SmallVector<double> terms = {0.5};
  for (int k = 3; k <= 15; ++k)
    terms.push_back(terms.back() / k);
  return {x.high, fma(mul(x.high, x.high), polynomial(x.high, terms), x.low)};
}

/// x 2^(n - halvings), rounded once. |n| < 2000, a whole number.
Value Doubles::scaled(Value x, Value n, int halvings) {
  Value whole = toInteger(n);
  Value half = op<arith::ShRSIOp>(whole, integer(1));
  Value rest = minus(minus(whole, half), integer(halvings));
  return mul(mul(x, power(half)), power(rest));
}

Value Doubles::expOf(Value x, Value tail, int halvings) {
  // Beyond, f64 has infinity and zero.
  Value isItself = isNotANumber(x);
  Value inside = choose(less(x, number(-800)), number(-800), x);
  inside = choose(less(number(800), inside), number(800), inside);
  inside = choose(isItself, number(0), inside);
  Value n = round(mul(inside, number(perLn2.high)));
  Value r = fma(n, number(-ln2Parts.high), inside);
  Pair grown = growth(r, fma(n, number(-ln2Parts.low), tail));
  Value result = add(number(1), rounded(grown));
  return choose(isItself, x, scaled(result, n, halvings));
}

Value Doubles::exp2(Value x) {
  Value isItself = isNotANumber(x);
  Value inside = choose(less(x, number(-1200)), number(-1200), x);
  inside = choose(less(number(1200), inside), number(1200), inside);
  inside = choose(isItself, number(0), inside);
  Value n = round(inside);
  Pair r = product(sub(inside, n), number(ln2.high));
  Pair grown = growth(r.high, fma(sub(inside, n), number(ln2.low), r.low));
  return choose(isItself, x,
                scaled(add(number(1), rounded(grown)), n, /*halvings=*/0));
}

Value Doubles::expm1(Value x) {
  Value inside = choose(less(x, number(-60)), number(-60), x);
  // Where the one is lost, and for what is no number.
  Value isLarge = compare(arith::CmpFPredicate::UGT, inside, number(60));
  inside = choose(isLarge, number(0), inside);
  Value n = round(mul(inside, number(perLn2.high)));
  Value r = fma(n, number(-ln2Parts.high), inside);
  Pair grown = growth(r, mul(n, number(-ln2Parts.low)));
  // 2^n growth + (2^n - 1)
  Value scale = power(toInteger(n));
  Pair high = sum(sub(scale, number(1)), mul(scale, grown.high));
  Value result = add(high.high, fma(scale, grown.low, high.low));
  result = choose(isLarge, exp(x), result);
  // Zeros keep their sign.
  return choose(equal(x, number(0)), x, result);
}

Doubles::Split Doubles::split(Value x) {
  Value isTiny = less(x, number(0x1p-1022));
  x = choose(isTiny, mul(x, number(0x1p54)), x);
  Value raw = bits(x);
  Value m = fromBits(either(masked(raw, (int64_t(1) << 52) - 1),
                            integer(int64_t(1023) << 52)));
  Value exponent = toNumber(minus(right(raw, integer(52)), integer(1023)));
  exponent = choose(isTiny, sub(exponent, number(54)), exponent);
  Value isLarge = less(number(std::sqrt(2.0)), m);
  m = choose(isLarge, mul(m, number(0.5)), m);
  exponent = choose(isLarge, add(exponent, number(1)), exponent);
  return {exponent, sub(m, number(1))};
}

/// `result` as the logarithm of `x`, but where that is none or infinite.
Value Doubles::atEnds(Value x, Value result) {
  result = choose(equal(x, number(0)), number(-infinity), result);
  result = choose(less(x, number(0)), number(NAN), result);
  Value isSame = either(isNotANumber(x), equal(x, number(infinity)));
  return choose(isSame, x, result);
}

Value Doubles::log(Value x) {
  Split parts = split(x);
  Value f = parts.f, e = parts.exponent;
  Value s = div(f, add(f, number(2))), z = mul(s, s);
  SmallVector<double> terms;
  for (int k = 1; k <= 11; ++k)
    terms.push_back(2.0 / (2 * k + 1));
  Value half = mul(mul(f, f), number(0.5));
  // s f = f^2/2 - s f^2/2: near zero f remains as it is.
  Value rest = mul(s, fma(z, polynomial(z, terms), half));
  rest = sub(half, fma(e, number(ln2Parts.low), rest));
  Value result = fma(e, number(ln2Parts.high), sub(f, rest));
  return atEnds(x, result);
}

/// Of a positive number: to 2^-64 of its size.
Pair Doubles::logPair(Value x) {
  Split parts = split(x);
  Value f = parts.f, e = parts.exponent;
  // s = f / (2 + f)
  Pair below = quickSum(number(2), f);
  Pair s;
  s.high = div(f, below.high);
  Value rest = fma(negate(s.high), below.high, f);
  s.low = div(fma(negate(s.high), below.low, rest), below.high);
  Pair z = product(s, s);
  SmallVector<double> terms;
  for (int k = 2; k <= 13; ++k)
    terms.push_back(1.0 / (2 * k + 1));
  Pair third = constant({0x1.5555555555555p-2, 0x1.5555555555555p-56});
  Pair series = quickSum(third.high, mul(z.high, polynomial(z.high, terms)));
  series.low = add(series.low, third.low);
  Pair twice = {add(s.high, s.high), add(s.low, s.low)};
  Pair more = product(twice, product(z, series));
  Pair part = quickSum(twice.high, more.high);
  part.low = add(part.low, add(twice.low, more.low));
  Pair result = sum(mul(e, number(ln2Parts.high)), part.high);
  result.low = add(result.low, fma(e, number(ln2Parts.low), part.low));
  return quickSum(result.high, result.low);
}

Value Doubles::logInBase(Value x, LongConstant factor) {
  return atEnds(x, rounded(product(logPair(x), constant(factor))));
}
Value Doubles::log2(Value x) { return logInBase(x, perLn2); }
Value Doubles::log10(Value x) { return logInBase(x, perLn10); }

/// What 1 + x loses is added by the derivative.
Value Doubles::log1p(Value x) {
  Pair u = sum(number(1), x);
  Value result = log(u.high);
  Value isPlain =
      either(equal(u.high, number(infinity)), equal(u.high, number(0)));
  result = choose(isPlain, result, add(result, div(u.low, u.high)));
  // Zeros keep their sign.
  return choose(equal(x, number(0)), x, result);
}

Value Doubles::pow(Value x, Value y) {
  Value size = abs(x), one = number(1), zero = number(0);
  Pair log = logPair(size);
  Value isEnd = either(equal(size, zero), equal(size, number(infinity)));
  log.high = choose(isEnd, atEnds(size, zero), log.high);
  Pair exponent = product(y, log.high);
  // Else the power is zero, infinite, or not a number.
  Value isOrdinary = less(abs(exponent.high), number(800));
  Value tail = choose(isOrdinary, fma(y, log.low, exponent.low), zero);
  Value result = expOf(exponent.high, tail);
  result = choose(isNotANumber(x), x, result);
  Value isWhole = equal(floor(y), y);
  Value half = mul(y, number(0.5));
  Value isOdd =
      both(isWhole, compare(arith::CmpFPredicate::UNE, floor(half), half));
  Value isFlipped = both(isNegative(x), isOdd);
  result = choose(isFlipped, negate(result), result);
  // A negative number to a power that is not whole.
  Value isNone =
      both(less(x, zero), compare(arith::CmpFPredicate::UNE, floor(y), y));
  Value isFinite = less(size, number(infinity));
  result = choose(both(isNone, isFinite), number(NAN), result);
  Value isOneToAll = either(equal(x, one), equal(y, zero));
  // -1 to an infinite power.
  Value isMinusOne = both(equal(size, one), equal(abs(y), number(infinity)));
  return choose(either(isOneToAll, isMinusOne), one, result);
}

Value Doubles::sinh(Value x) {
  Value size = abs(x), half = number(0.5);
  Value e = expm1(size);
  Value small = mul(add(e, div(e, add(e, number(1)))), half);
  Value power = expOf(size, number(0), /*halvings=*/1);
  Value large = sub(power, div(number(0.25), power));
  return withSign(choose(less(size, number(1)), small, large), x);
}

Value Doubles::cosh(Value x) {
  Value power = expOf(abs(x), number(0), /*halvings=*/1);
  return add(power, div(number(0.25), power));
}

Value Doubles::tanh(Value x) {
  Value size = abs(x);
  Value e = expm1(add(size, size));
  Value result = div(e, add(e, number(2)));
  result = choose(less(number(22), size), number(1), result);
  return withSign(result, x);
}

Value Doubles::asinh(Value x) {
  Value size = abs(x), square = mul(size, size);
  Value more = div(square, add(number(1), sqrt(add(square, number(1)))));
  Value isLarge = less(number(0x1p28), size);
  Value large = add(log(size), number(ln2.high));
  return withSign(choose(isLarge, large, log1p(add(size, more))), x);
}

Value Doubles::acosh(Value x) {
  Value t = sub(x, number(1));
  Value result = log1p(add(t, sqrt(mul(t, add(t, number(2))))));
  Value large = add(log(x), number(ln2.high));
  result = choose(less(number(0x1p28), x), large, result);
  return choose(less(x, number(1)), number(NAN), result);
}

/// log((1 + x) / (1 - x)) / 2
Value Doubles::atanh(Value x) {
  Value size = abs(x), twice = add(size, size);
  Value more = div(mul(twice, size), sub(number(1), size));
  Value result = mul(log1p(add(twice, more)), number(0.5));
  result = choose(less(number(1), size), number(NAN), result);
  return withSign(result, x);
}

/// A third of the exponent, then two steps of Halley and one of Newton, whose
/// remainder is exact.
Value Doubles::cbrt(Value x) {
  Value size = abs(x);
  Value isLarge = less(number(0x1p900), size);
  Value isTiny = less(size, number(0x1p-900));
  Value scale = choose(isLarge, number(0x1p-120),
                       choose(isTiny, number(0x1p120), number(1)));
  Value back = choose(isLarge, number(0x1p40),
                      choose(isTiny, number(0x1p-40), number(1)));
  Value a = mul(size, scale);
  Value y = fromBits(plus(op<arith::DivUIOp>(bits(a), integer(3)),
                          integer((int64_t(682) << 52) - 0x0893700000000)));
  for (int step = 0; step < 2; ++step) {
    Value cube = mul(mul(y, y), y);
    y = mul(y, div(add(cube, add(a, a)), add(add(cube, cube), a)));
  }
  Pair square = product(y, y);
  Pair cube = product(square.high, y);
  Value rest = fma(negate(square.low), y, sub(sub(a, cube.high), cube.low));
  y = add(y, div(rest, mul(square.high, number(3))));
  Value isSame = either(equal(x, number(0)), compare(arith::CmpFPredicate::UEQ,
                                                     size, number(infinity)));
  return choose(isSame, x, withSign(mul(y, back), x));
}

} // namespace llmc::codegen
