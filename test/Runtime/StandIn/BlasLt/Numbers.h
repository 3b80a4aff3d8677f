//===- Numbers.h - Narrow floats, and how they are rounded ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_BLASLT_NUMBERS_H
#define LLMC_TEST_RUNTIME_STANDIN_BLASLT_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace llmc::standin {

/// A float of `exponentBits` and `mantissaBits`; the greatest exponent is that
/// of infinities, except in e4m3, which has none and one NaN.
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool finite; // e4m3: rounds to the greatest number where it would overflow
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};
constexpr FloatFormat kF16{5, 10, false}, kBF16{8, 7, false}, kE5M2{5, 2, true},
    kE4M3{4, 3, true}, kTF32{8, 10, false};

/// Rounds to the nearest number of the format, ties to even.
inline float roundTo(const FloatFormat &format, float value) {
  if (std::isnan(value) || value == 0)
    return value;
  bool e4m3 = format.exponentBits == 4;
  float most =
      std::ldexp(e4m3 ? 1.75f : 2.0f - std::ldexp(1.0f, -format.mantissaBits),
                 e4m3 ? 8 : format.bias());
  if (std::isinf(value))
    return format.finite ? std::copysign(most, value) : value;
  int exponent = std::ilogb(value);
  int lowest = 1 - format.bias();
  int step = (exponent < lowest ? lowest : exponent) - format.mantissaBits;
  float rounded = static_cast<float>(std::ldexp(
      std::nearbyint(std::ldexp(static_cast<double>(value), -step)), step));
  if (std::fabs(rounded) <= most)
    return rounded;
  return std::copysign(
      format.finite ? most : std::numeric_limits<float>::infinity(), value);
}

/// The number of some bits.
inline float decode(const FloatFormat &format, uint32_t bits) {
  int mantissaBits = format.mantissaBits;
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  int exponents = 1 << format.exponentBits;
  int exponent = (bits >> mantissaBits) & (exponents - 1);
  float sign = (bits >> (mantissaBits + format.exponentBits)) & 1 ? -1 : 1;
  bool e4m3 = format.exponentBits == 4;
  if (exponent == exponents - 1 && (!e4m3 || mantissa == 7))
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : sign * std::numeric_limits<float>::infinity();
  if (!exponent)
    return sign * std::ldexp(static_cast<float>(mantissa),
                             1 - format.bias() - mantissaBits);
  return sign * std::ldexp(static_cast<float>(mantissa + (1u << mantissaBits)),
                           exponent - format.bias() - mantissaBits);
}

/// The bits of the nearest number.
inline uint32_t encode(const FloatFormat &format, float value) {
  int mantissaBits = format.mantissaBits;
  uint32_t sign =
      std::signbit(value) ? 1u << (mantissaBits + format.exponentBits) : 0;
  uint32_t top = ((1u << format.exponentBits) - 1) << mantissaBits;
  if (std::isnan(value))
    return top | ((1u << mantissaBits) - 1);
  float rounded = std::fabs(roundTo(format, value));
  if (rounded == 0)
    return sign;
  if (std::isinf(rounded))
    return sign | top;
  int exponent = std::ilogb(rounded), lowest = 1 - format.bias();
  if (exponent < lowest)
    return sign |
           static_cast<uint32_t>(std::ldexp(rounded, mantissaBits - lowest));
  auto mantissa =
      static_cast<uint32_t>(std::ldexp(rounded, mantissaBits - exponent));
  uint32_t number = (exponent + format.bias()) << mantissaBits;
  return sign | (number + mantissa - (1u << mantissaBits));
}

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_BLASLT_NUMBERS_H
