//===- DeviceFunctions.cpp - Functions that a device has no library of ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32, computed in f64 and rounded, as code of their own. Each is
// right to far more bits than f32 has, so that the rounded value is what the C
// library's function, rounded, gives, but for arguments within some 2^-45 of a
// tie. Everything is made of two series:
//
//   exp x  =  2^n · Σ r^k / k!,       r = x - n ln 2, |r| <= (ln 2) / 2
//   log x  =  e ln 2 + 2 Σ s^(2k+1) / (2k+1),  x = 2^e m, s = (m-1) / (m+1)
//
// with as many terms as f64 can tell. What is not here is refused.
//
// Test: test/Codegen/DeviceFunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace llmc::codegen {

namespace {
/// Makes scalar code of f64.
class Doubles {
public:
  Doubles(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
  Value floor(Value x) { return math::FloorOp::create(b, loc, x); }
  Value withSign(Value x, Value sign) {
    return math::CopySignOp::create(b, loc, x, sign);
  }
  Value compare(arith::CmpFPredicate how, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, how, x, y);
  }
  Value less(Value x, Value y) {
    return compare(arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return compare(arith::CmpFPredicate::OEQ, x, y);
  }
  Value isNotANumber(Value x) {
    return compare(arith::CmpFPredicate::UNO, x, x);
  }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value bits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getI64Type(), x);
  }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getF64Type(), x);
  }
  /// Σ coefficients[k] x^k.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  Value exp(Value x, bool minusOne = false);
  Value log(Value x);
  Value log1p(Value x);
  Value expm1(Value x) { return exp(x, /*minusOne=*/true); }
  Value pow(Value x, Value y);
  Value asinh(Value x);
  Value acosh(Value x);
  Value sinh(Value x);

  OpBuilder &b;
  Location loc;
};
} // namespace

static constexpr double infinity = INFINITY, ln2 = 0x1.62e42fefa39efp-1,
                        ln2Rest = 0x1.abc9e3b39803fp-56;

Value Doubles::exp(Value x, bool minusOne) {
  // Beyond, f32 has infinity and zero.
  Value isItself = isNotANumber(x);
  Value inside = choose(less(x, number(-708)), number(-708), x);
  inside = choose(less(number(709), inside), number(709), inside);
  inside = choose(isItself, number(0), inside);
  Value n = math::RoundEvenOp::create(b, loc, mul(inside, number(1 / ln2)));
  Value r = fma(n, number(-ln2), inside);
  r = fma(n, number(-ln2Rest), r);
  SmallVector<double> terms = {1};
  for (int k = 2; k <= 14; ++k)
    terms.push_back(terms.back() / k);
  // (e^r - 1) / r
  Value series = polynomial(r, terms);
  Value power = arith::AddIOp::create(
      b, loc, arith::FPToSIOp::create(b, loc, b.getI64Type(), n),
      integer(1023));
  Value scale = fromBits(arith::ShLIOp::create(b, loc, power, integer(52)));
  Value result = mul(fma(series, r, number(1)), scale);
  if (minusOne)
    result =
        choose(equal(n, number(0)), mul(series, r), sub(result, number(1)));
  // Zeros keep their sign.
  if (minusOne)
    isItself = either(isItself, equal(x, number(0)));
  return choose(isItself, x, result);
}

Value Doubles::log(Value x) {
  Value raw = bits(x);
  Value mantissa = arith::OrIOp::create(
      b, loc,
      arith::AndIOp::create(b, loc, raw, integer((int64_t(1) << 52) - 1)),
      integer(int64_t(1023) << 52));
  Value m = fromBits(mantissa);
  Value exponent = arith::SubIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, raw, integer(52)), integer(1023));
  Value e = arith::SIToFPOp::create(b, loc, b.getF64Type(), exponent);
  Value isLarge = less(number(std::sqrt(2.0)), m);
  m = choose(isLarge, mul(m, number(0.5)), m);
  e = choose(isLarge, add(e, number(1)), e);
  Value s = div(sub(m, number(1)), add(m, number(1)));
  Value z = mul(s, s), twice = add(s, s);
  SmallVector<double> terms;
  for (int k = 1; k <= 11; ++k)
    terms.push_back(1.0 / (2 * k + 1));
  Value part = fma(mul(twice, z), polynomial(z, terms), twice);
  Value result = fma(e, number(ln2), fma(e, number(ln2Rest), part));
  result = choose(equal(x, number(0)), number(-infinity), result);
  result = choose(less(x, number(0)), number(NAN), result);
  Value isSame = either(isNotANumber(x), equal(x, number(infinity)));
  return choose(isSame, x, result);
}

/// What 1 + x loses is added by the derivative.
Value Doubles::log1p(Value x) {
  Value u = add(number(1), x);
  Value lost = div(sub(sub(u, number(1)), x), u);
  Value result = log(u);
  Value isPlain = either(equal(u, number(infinity)), equal(u, number(0)));
  result = choose(isPlain, result, sub(result, lost));
  // Zeros keep their sign.
  return choose(equal(x, number(0)), x, result);
}

Value Doubles::pow(Value x, Value y) {
  Value size = abs(x);
  Value result = exp(mul(y, log(size)));
  Value isWhole = equal(floor(y), y);
  Value half = mul(y, number(0.5));
  Value one = number(1), zero = number(0);
  // The sign of x, also of zeros.
  Value isNegative = less(withSign(one, x), zero);
  Value isOdd =
      both(isWhole, compare(arith::CmpFPredicate::UNE, floor(half), half));
  Value flipped = sub(zero, result);
  Value isFlipped = both(isNegative, isOdd);
  result = choose(isFlipped, flipped, result);
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
  Value e = expm1(abs(x));
  Value sum = add(e, div(e, add(e, number(1))));
  return withSign(mul(sum, number(0.5)), x);
}

Value Doubles::asinh(Value x) {
  Value size = abs(x), square = mul(size, size);
  Value more = div(square, add(number(1), sqrt(add(square, number(1)))));
  Value result = log1p(add(size, more));
  result = choose(equal(size, number(infinity)), size, result);
  return withSign(result, x);
}

Value Doubles::acosh(Value x) {
  Value t = sub(x, number(1));
  Value result = log1p(add(t, sqrt(mul(t, add(t, number(2))))));
  result = choose(less(x, number(1)), number(NAN), result);
  return choose(equal(x, number(infinity)), x, result);
}

Value makeDeviceFunction(OpBuilder &builder, Location loc, StringRef name,
                         ValueRange x) {
  Doubles f(builder, loc);
  if (name == "exp")
    return f.exp(x[0]);
  if (name == "expm1")
    return f.expm1(x[0]);
  if (name == "exp2")
    return f.exp(f.mul(x[0], f.number(ln2)));
  if (name == "log")
    return f.log(x[0]);
  if (name == "log1p")
    return f.log1p(x[0]);
  if (name == "log2")
    return f.mul(f.log(x[0]), f.number(1 / ln2));
  if (name == "log10")
    return f.div(f.log(x[0]), f.number(std::log(10.0)));
  if (name == "pow")
    return f.pow(x[0], x[1]);
  if (name == "sinh")
    return f.sinh(x[0]);
  if (name == "cosh")
    return f.mul(f.add(f.exp(x[0]), f.exp(f.sub(f.number(0), x[0]))),
                 f.number(0.5));
  if (name == "asinh")
    return f.asinh(x[0]);
  if (name == "acosh")
    return f.acosh(x[0]);
  if (name == "cbrt")
    return f.withSign(f.exp(f.div(f.log(f.abs(x[0])), f.number(3))), x[0]);
  return {};
}

} // namespace llmc::codegen
