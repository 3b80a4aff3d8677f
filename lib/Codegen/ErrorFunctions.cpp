//===- ErrorFunctions.cpp - erf and erfc ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Below 1, erf is Taylor's series. From 1/2 on,
//
//   erfc x  =  e^(-x^2) P((x - 4) / (x + 4)) / (1 + 2 x)
//
// where P is a polynomial of degree 21 (the form is that of Shepherd and
// Laframboise 1981): the interpolation at Chebyshev's points of [-7/9, 3/4],
// computed to 300 bits; it differs by 4e-18.
//
// Test: test/Codegen/FunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Doubles.h"

using namespace mlir;

namespace llmc::codegen {

static constexpr double erfcTerms[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd575p-7,
    0x1.16ecefcfa547fp-4,   -0x1.9ddb23c3e7cf5p-4,  0x1.7fee004e106bdp-4,
    -0x1.0fb06dfe6b25cp-4,  0x1.3079edf6b9159p-5,   -0x1.0962387dac933p-6,
    0x1.49c6727ace9e5p-8,   -0x1.8d4aa17050e08p-11, -0x1.a1df222b3ca59p-13,
    0x1.3be0d61957f14p-13,  -0x1.9958d66770982p-16, -0x1.78a3b73fcffbfp-17,
    0x1.7f19bc91ad5ccp-18,  0x1.41a5d9b6c3abbp-22,  -0x1.b99bb9bcb0974p-21,
    0x1.1fde3f8d8313bp-24,  0x1.c5e4aa4a32304p-24,  -0x1.a403ddb107533p-27,
    -0x1.67fa3128dee34p-27,
};

/// Of |x| < 1: 2/√π Σ (-1)^k x^(2k+1) / (k! (2k+1)).
Value Doubles::erfOfSmall(Value x) {
  constexpr LongConstant factor = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
  SmallVector<double> terms;
  double inverse = 1;
  for (int k = 1; k <= 19; ++k) {
    inverse /= -k;
    terms.push_back(factor.high * inverse / (2 * k + 1));
  }
  Value z = mul(x, x);
  Value more = fma(z, polynomial(z, terms), number(factor.low));
  return fma(x, number(factor.high), mul(x, more));
}

/// Of x >= 1/2.
Value Doubles::erfcOfLarge(Value x) {
  // Beyond, it is zero.
  x = choose(less(number(28), x), number(28), x);
  Value t = div(sub(x, number(4)), add(x, number(4)));
  Pair square = product(x, x);
  Value power = expOf(negate(square.high), negate(square.low));
  return div(mul(power, polynomial(t, erfcTerms)),
             fma(x, number(2), number(1)));
}

Value Doubles::erf(Value x) {
  Value size = abs(x);
  Value large = sub(number(1), erfcOfLarge(size));
  Value result = choose(less(size, number(1)), erfOfSmall(size), large);
  return withSign(choose(isNotANumber(x), x, result), x);
}

Value Doubles::erfc(Value x) {
  Value size = abs(x);
  Value large = erfcOfLarge(size);
  large = choose(less(x, number(0)), sub(number(2), large), large);
  Value small = sub(number(1), erfOfSmall(x));
  Value result = choose(less(size, number(0.5)), small, large);
  return choose(isNotANumber(x), x, result);
}

} // namespace llmc::codegen
