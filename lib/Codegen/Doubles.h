//===- Doubles.h - Scalar code of f64 ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the functions of Functions.h are written with. A `Pair` is a sum of two
// numbers that is not rounded: `low` is at most half a unit in the last place
// of `high`. Sums and products of pairs are those of Dekker (1971) and Knuth
// (The Art of Computer Programming 2, 4.2.2); they need each op rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_DOUBLES_H
#define LLMC_LIB_CODEGEN_DOUBLES_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include <cmath>

namespace llmc::codegen {

/// high + low.
struct Pair {
  Value high, low;
};

/// A number of more than 53 bits: high + low.
struct LongConstant {
  double high, low;
};

constexpr double infinity = INFINITY;
constexpr LongConstant ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
                       perLn2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56},
                       perLn10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57},
                       halfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
/// ln 2 in two parts, of which the first has 32 bits: its product with an
/// exponent is exact.
constexpr LongConstant ln2Parts = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};

/// Makes scalar code of f64.
class Doubles {
public:
  Doubles(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value number(double value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value integer(int64_t value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  template <typename Op> Value op(Value x) { return Op::create(b, loc, x); }
  template <typename Op> Value op(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  Value add(Value x, Value y) { return op<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return op<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return op<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return op<mlir::arith::DivFOp>(x, y); }
  Value negate(Value x) { return op<mlir::arith::NegFOp>(x); }
  Value fma(Value x, Value y, Value z) {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  Value abs(Value x) { return op<mlir::math::AbsFOp>(x); }
  Value sqrt(Value x) { return op<mlir::math::SqrtOp>(x); }
  Value floor(Value x) { return op<mlir::math::FloorOp>(x); }
  Value round(Value x) { return op<mlir::math::RoundEvenOp>(x); }
  Value withSign(Value x, Value sign) {
    return op<mlir::math::CopySignOp>(x, sign);
  }
  Value compare(mlir::arith::CmpFPredicate how, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, how, x, y);
  }
  Value less(Value x, Value y) {
    return compare(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  Value isNotANumber(Value x) {
    return compare(mlir::arith::CmpFPredicate::UNO, x, x);
  }
  /// Of -0 too.
  Value isNegative(Value x) { return less(withSign(number(1), x), number(0)); }
  Value choose(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value both(Value x, Value y) { return op<mlir::arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return op<mlir::arith::OrIOp>(x, y); }

  Value isNot(Value condition) {
    return op<mlir::arith::XOrIOp>(condition, mlir::arith::ConstantOp::create(
                                                  b, loc, b.getBoolAttr(true)));
  }

  // Integers of 64 bits.
  Value bits(Value x) {
    return mlir::arith::BitcastOp::create(b, loc, b.getI64Type(), x);
  }
  Value fromBits(Value x) {
    return mlir::arith::BitcastOp::create(b, loc, b.getF64Type(), x);
  }
  Value toInteger(Value x) {
    return mlir::arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
  }
  Value toNumber(Value x) {
    return mlir::arith::SIToFPOp::create(b, loc, b.getF64Type(), x);
  }
  Value plus(Value x, Value y) { return op<mlir::arith::AddIOp>(x, y); }
  Value minus(Value x, Value y) { return op<mlir::arith::SubIOp>(x, y); }
  Value times(Value x, Value y) { return op<mlir::arith::MulIOp>(x, y); }
  Value masked(Value x, int64_t mask) { return both(x, integer(mask)); }
  Value left(Value x, Value by) { return op<mlir::arith::ShLIOp>(x, by); }
  Value right(Value x, Value by) { return op<mlir::arith::ShRUIOp>(x, by); }
  Value compare(mlir::arith::CmpIPredicate how, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, how, x, y);
  }
  /// 2^x of an integer from -1022 to 1023.
  Value power(Value x) {
    return fromBits(left(plus(x, integer(1023)), integer(52)));
  }

  /// x + y; of `quickSum` x is not less than y in size.
  Pair sum(Value x, Value y);
  Pair quickSum(Value x, Value y);
  Pair product(Value x, Value y);
  Pair product(Pair x, Pair y);
  Pair constant(LongConstant x) { return {number(x.high), number(x.low)}; }
  Value rounded(Pair x) { return add(x.high, x.low); }
  /// Σ coefficients[k] x^k.
  Value polynomial(Value x, ArrayRef<double> coefficients);

  // Exponentials.cpp. Each is right to three units in the last place.
  /// e^(x + tail) 2^-halvings, where `tail` is small beside 1.
  Value expOf(Value x, Value tail, int halvings = 0);
  Value exp(Value x) { return expOf(x, number(0)); }
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value pow(Value x, Value y);
  Value sinh(Value x);
  Value cosh(Value x);
  Value tanh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value cbrt(Value x);

  // Angles.cpp.
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value atan(Value x) { return atan2(x, number(1)); }
  Value atan2(Value y, Value x);

  // ErrorFunctions.cpp.
  Value erf(Value x);
  Value erfc(Value x);

  // Remainder.cpp.
  Value fmod(Value x, Value y);

private:
  struct Split;
  struct Turn;

  // Exponentials.cpp.
  Pair growth(Value r, Value tail);
  Value scaled(Value x, Value n, int halvings);
  Split split(Value x);
  Value atEnds(Value x, Value result);
  Pair logPair(Value x);
  Value logInBase(Value x, LongConstant factor);

  // Angles.cpp.
  Turn turn(Value x);
  Turn turnSmall(Value x);
  Turn turnLarge(Value x);
  void findDigits(Value place, Value (&words)[3]);
  Turn makeTurn(Value product, Value high, Value low);
  Pair sine(Pair r);
  Pair cosine(Pair r);
  Value wave(Value x, bool isCosine);
  Pair quotient(Pair x, Pair y);
  Pair angleOfSmall(Value a, Value b);
  Pair angleFrom(LongConstant whole, Pair part);

  // ErrorFunctions.cpp.
  Value erfOfSmall(Value x);
  Value erfcOfLarge(Value x);

  // Remainder.cpp.
  Value reduceMantissa(Value mantissa, Value divisor, Value shifts);

  OpBuilder &b;
  Location loc;
};

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_DOUBLES_H
