//===- Remainder.cpp - The remainder of a division ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long division of the mantissas, eleven bits of the quotient at a time; the
// remainder is exact.
//
//   x = m 2^i, y = n 2^j, i >= j:   x mod y = (m 2^(i - j) mod n) 2^j
//
// Test: test/Codegen/FunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Doubles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::codegen {

/// (mantissa 2^shifts) mod divisor, both below 2^53.
Value Doubles::reduceMantissa(Value mantissa, Value divisor, Value shifts) {
  Value first = op<arith::RemUIOp>(mantissa, divisor);
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{b.getI64Type(), b.getI64Type()},
      ValueRange{first, shifts},
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        Value isLeft = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sgt, values[1], integer(0));
        scf::ConditionOp::create(builder, loc, isLeft, values);
      },
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        Value by = op<arith::MinSIOp>(values[1], integer(11));
        Value rest = op<arith::RemUIOp>(left(values[0], by), divisor);
        scf::YieldOp::create(builder, loc,
                             ValueRange{rest, minus(values[1], by)});
      });
  b.setInsertionPointAfter(loop);
  return loop.getResult(0);
}

Value Doubles::fmod(Value x, Value y) {
  constexpr int64_t one = int64_t(1) << 52;
  Value size = abs(x), divisor = abs(y);
  // Else nothing is divided.
  Value isDivided =
      both(less(size, number(infinity)),
           both(less(number(0), divisor), less(divisor, number(infinity))));
  size = choose(isDivided, size, number(1));
  divisor = choose(isDivided, divisor, number(1));
  auto exponentOf = [&](Value raw) {
    return op<arith::MaxUIOp>(right(raw, integer(52)), integer(1));
  };
  auto mantissaOf = [&](Value raw, Value value) {
    Value isOrdinary =
        compare(arith::CmpFPredicate::OGE, value, number(0x1p-1022));
    return either(masked(raw, one - 1),
                  choose(isOrdinary, integer(one), integer(0)));
  };
  Value i = exponentOf(bits(size)), j = exponentOf(bits(divisor));
  Value rest = reduceMantissa(mantissaOf(bits(size), size),
                              mantissaOf(bits(divisor), divisor), minus(i, j));
  // 2^(j - 1075) is no number of its own where the divisor is tiny.
  Value exponent = minus(j, integer(1075));
  Value half = op<arith::ShRSIOp>(exponent, integer(1));
  Value result =
      mul(mul(toNumber(rest), power(half)), power(minus(exponent, half)));
  result = choose(less(size, divisor), size, result);
  // Of a finite number by an infinite one nothing is taken away.
  Value isSame =
      both(less(abs(x), number(infinity)), equal(abs(y), number(infinity)));
  Value isNone = either(either(isNotANumber(x), isNotANumber(y)),
                        isNot(either(isDivided, isSame)));
  result = choose(isSame, x, withSign(result, x));
  return choose(isNone, number(NAN), result);
}

} // namespace llmc::codegen
