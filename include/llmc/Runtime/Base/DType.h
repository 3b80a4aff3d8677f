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
/// 1. The same names as in MLIR, with `u8` for `ui8`.
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
};
inline constexpr int numDTypes = 13;

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
