//===- DType.h - Element types and their conversions ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of buffers, with one table of sizes and names. Elements
// convert through double or int64; narrowing rounds to nearest, ties to even.
//
// Test: test/Runtime/Base/DTypeTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_DTYPE_H
#define LLMC_RUNTIME_BASE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmc::rt {

/// The numbers are stored in plan files: append only. An i1 takes a byte, 0 or
/// 1, and so does an i4 or u4, of which the low four bits count. The same names
/// as in MLIR, with `u8` for `ui8`.
enum class DType : uint8_t {
  f64 = 0,
  f32 = 1,
  bf16 = 2,
  f16 = 3,
  i8 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  u8 = 8,
  u16 = 9,
  u32 = 10,
  u64 = 11,
  i1 = 12,
  f8E4M3FN = 13,
  f8E5M2 = 14,
  f8E4M3FNUZ = 15,
  f8E5M2FNUZ = 16,
  f8E4M3B11FNUZ = 17,
  i4 = 18,
  u4 = 19,
};
inline constexpr int numDTypes = 20;

/// How a float of eight bits is made: a sign, then exponent and mantissa. The
/// kinds differ in what the bits of the largest numbers stand for (Micikevicius
/// et al., FP8 Formats for Deep Learning, 2022; Noune et al., 2022).
struct SmallFloat {
  enum class Kind {
    /// With infinities, as IEEE 754 has them.
    ieee,
    /// No infinity; all bits set are not a number.
    finite,
    /// Nor a negative zero, whose bits are not a number.
    finiteUnsignedZero,
  };
  int mantissaBits;
  int bias;
  Kind kind;

  /// Bits without the sign: the largest number, what lies beyond it, and not a
  /// number (with its sign bit where there is no negative zero).
  int largest() const;
  int beyond() const;
  int notANumber() const;
};
/// Null for another type.
const SmallFloat *findSmallFloat(DType type);
/// Rounds to nearest, ties to even; what is too large becomes infinite, or not
/// a number where there is no infinity.
uint8_t toSmallFloat(const SmallFloat &format, double value);
double fromSmallFloat(const SmallFloat &format, uint8_t bits);

/// Bytes of one element.
int64_t sizeOf(DType type);
/// "f32", "u8", ...
std::string_view nameOf(DType type);
std::optional<DType> parseDType(std::string_view name);
bool isFloat(DType type);
/// Integers with a sign; i1 counts as unsigned.
bool isSignedInteger(DType type);

/// Rounds to nearest, ties to even; NaN stays a (quiet) NaN.
uint16_t toBFloat16(float value);
float fromBFloat16(uint16_t bits);
uint16_t toFloat16(float value);
float fromFloat16(uint16_t bits);

/// Reads or writes element `index` of an array of `type`. Values outside an
/// integer type's range are clamped to it, NaN becomes 0.
double loadElement(DType type, const void *base, int64_t index);
void storeElement(DType type, void *base, int64_t index, double value);
/// For integers beyond 2^53; a float type is truncated towards zero.
int64_t loadInteger(DType type, const void *base, int64_t index);
/// Wraps modulo 2^bits.
void storeInteger(DType type, void *base, int64_t index, int64_t value);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_DTYPE_H
