//===- DType.cpp - Element types and their conversions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/DTypeTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace llmc::rt {

namespace {
struct Row {
  std::string_view name;
  int64_t size;
  bool isFloat;
  bool isSigned;
};
} // namespace

static constexpr Row rows[numDTypes] = {
    {"f64", 8, true, true},        {"f32", 4, true, true},
    {"bf16", 2, true, true},       {"f16", 2, true, true},
    {"i8", 1, false, true},        {"i16", 2, false, true},
    {"i32", 4, false, true},       {"i64", 8, false, true},
    {"u8", 1, false, false},       {"u16", 2, false, false},
    {"u32", 4, false, false},      {"u64", 8, false, false},
    {"i1", 1, false, false},       {"f8E4M3FN", 1, true, true},
    {"f8E5M2", 1, true, true},     {"f8E4M3FNUZ", 1, true, true},
    {"f8E5M2FNUZ", 1, true, true}, {"f8E4M3B11FNUZ", 1, true, true},
    {"i4", 1, false, true},        {"u4", 1, false, false}};

static const Row &row(DType type) { return rows[static_cast<int>(type)]; }

int64_t sizeOf(DType type) { return row(type).size; }
std::string_view nameOf(DType type) { return row(type).name; }
bool isFloat(DType type) { return row(type).isFloat; }
bool isSignedInteger(DType type) {
  return !row(type).isFloat && row(type).isSigned;
}

std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < numDTypes; ++i) {
    if (rows[i].name == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

template <typename To, typename From> static To bitCast(From from) {
  return __builtin_bit_cast(To, from);
}

uint16_t toBFloat16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float fromBFloat16(uint16_t bits) {
  return bitCast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t toFloat16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u);
  }
  // 65520 is half way between the largest number and what would follow it.
  if (magnitude >= 0x477ff000u) {
    return static_cast<uint16_t>(sign | 0x7c00u);
  }
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 moves the bits to the end of the mantissa, and
    // the addition itself rounds to nearest even.
    float shifted = bitCast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign |
                                 (bitCast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float fromFloat16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1fu) {
    return bitCast<float>(sign | 0x7f800000u | (mantissa << 13));
  }
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return bitCast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

//===----------------------------------------------------------------------===//
// Floats of eight bits
//===----------------------------------------------------------------------===//

int SmallFloat::largest() const {
  if (kind == Kind::ieee) {
    return beyond() - 1;
  }
  return kind == Kind::finite ? 0x7e : 0x7f;
}

int SmallFloat::beyond() const {
  return kind == Kind::ieee ? 0x7f >> mantissaBits << mantissaBits
                            : notANumber();
}

int SmallFloat::notANumber() const {
  if (kind == Kind::ieee) {
    return beyond() | 1 << (mantissaBits - 1);
  }
  return kind == Kind::finite ? 0x7f : 0x80;
}

const SmallFloat *findSmallFloat(DType type) {
  using Kind = SmallFloat::Kind;
  static constexpr SmallFloat formats[] = {
      {3, 7, Kind::finite},
      {2, 15, Kind::ieee},
      {3, 8, Kind::finiteUnsignedZero},
      {2, 16, Kind::finiteUnsignedZero},
      {3, 11, Kind::finiteUnsignedZero},
  };
  int place = static_cast<int>(type) - static_cast<int>(DType::f8E4M3FN);
  bool isSmall = place >= 0 && place < static_cast<int>(std::size(formats));
  return isSmall ? &formats[place] : nullptr;
}

uint8_t toSmallFloat(const SmallFloat &format, double value) {
  bool hasNegativeZero = format.kind != SmallFloat::Kind::finiteUnsignedZero;
  int sign = std::signbit(value) ? 0x80 : 0;
  if (value != value) {
    return static_cast<uint8_t>(format.notANumber() | sign);
  }
  double magnitude = std::fabs(value);
  int lowest = 1 - format.bias;
  int exponent =
      magnitude < std::ldexp(1.0, lowest) ? lowest : std::ilogb(magnitude);
  int code = 0x100;
  if (exponent <= 16) {
    // In units in the last place; a carry goes into the exponent by itself.
    double units =
        std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
    code =
        static_cast<int>(units) + ((exponent - lowest) << format.mantissaBits);
  }
  if (code > format.largest()) {
    code = format.beyond();
  } else if (code == 0 && !hasNegativeZero) {
    sign = 0;
  }
  return static_cast<uint8_t>(code | sign);
}

double fromSmallFloat(const SmallFloat &format, uint8_t bits) {
  int code = bits & 0x7f;
  double sign = bits & 0x80 ? -1.0 : 1.0;
  bool hasNegativeZero = format.kind != SmallFloat::Kind::finiteUnsignedZero;
  if (hasNegativeZero ? code > format.largest() : bits == 0x80) {
    bool isInfinite =
        format.kind == SmallFloat::Kind::ieee && code == format.beyond();
    return isInfinite ? sign * std::numeric_limits<double>::infinity()
                      : std::copysign(std::numeric_limits<double>::quiet_NaN(),
                                      hasNegativeZero ? sign : 1.0);
  }
  int unit = 1 << format.mantissaBits, exponent = code >> format.mantissaBits;
  int mantissa = code & (unit - 1);
  if (exponent > 0) {
    mantissa += unit;
    --exponent;
  }
  return sign *
         std::ldexp(mantissa, exponent + 1 - format.bias - format.mantissaBits);
}

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

template <typename T> static T loadAs(const void *base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> static void storeAs(void *base, int64_t index, T value) {
  std::memcpy(static_cast<char *>(base) + index * sizeof(T), &value, sizeof(T));
}

double loadElement(DType type, const void *base, int64_t index) {
  switch (type) {
  case DType::f64:
    return loadAs<double>(base, index);
  case DType::f32:
    return loadAs<float>(base, index);
  case DType::bf16:
    return fromBFloat16(loadAs<uint16_t>(base, index));
  case DType::f16:
    return fromFloat16(loadAs<uint16_t>(base, index));
  case DType::u64:
    return static_cast<double>(loadAs<uint64_t>(base, index));
  default:
    if (const SmallFloat *format = findSmallFloat(type)) {
      return fromSmallFloat(*format, loadAs<uint8_t>(base, index));
    }
    return static_cast<double>(loadInteger(type, base, index));
  }
}

/// Truncates towards zero and clamps to T.
template <typename T> static T clampTo(double value) {
  if (!(value == value)) {
    return 0;
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  // The maximum of a 64-bit type rounds up to a power of two in double.
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

void storeElement(DType type, void *base, int64_t index, double value) {
  switch (type) {
  case DType::f64:
    return storeAs<double>(base, index, value);
  case DType::f32:
    return storeAs<float>(base, index, static_cast<float>(value));
  case DType::bf16:
    return storeAs<uint16_t>(base, index,
                             toBFloat16(static_cast<float>(value)));
  case DType::f16:
    return storeAs<uint16_t>(base, index, toFloat16(static_cast<float>(value)));
  case DType::i8:
    return storeAs<int8_t>(base, index, clampTo<int8_t>(value));
  case DType::i16:
    return storeAs<int16_t>(base, index, clampTo<int16_t>(value));
  case DType::i32:
    return storeAs<int32_t>(base, index, clampTo<int32_t>(value));
  case DType::i64:
    return storeAs<int64_t>(base, index, clampTo<int64_t>(value));
  case DType::u8:
    return storeAs<uint8_t>(base, index, clampTo<uint8_t>(value));
  case DType::u16:
    return storeAs<uint16_t>(base, index, clampTo<uint16_t>(value));
  case DType::u32:
    return storeAs<uint32_t>(base, index, clampTo<uint32_t>(value));
  case DType::u64:
    return storeAs<uint64_t>(base, index, clampTo<uint64_t>(value));
  case DType::i1:
    return storeAs<uint8_t>(base, index, value != 0);
  case DType::i4:
    return storeAs<int8_t>(base, index,
                           std::clamp<int8_t>(clampTo<int8_t>(value), -8, 7));
  case DType::u4:
    return storeAs<uint8_t>(base, index,
                            std::min<uint8_t>(clampTo<uint8_t>(value), 15));
  case DType::f8E4M3FN:
  case DType::f8E5M2:
  case DType::f8E4M3FNUZ:
  case DType::f8E5M2FNUZ:
  case DType::f8E4M3B11FNUZ:
    return storeAs<uint8_t>(base, index,
                            toSmallFloat(*findSmallFloat(type), value));
  }
}

int64_t loadInteger(DType type, const void *base, int64_t index) {
  switch (type) {
  case DType::i8:
    return loadAs<int8_t>(base, index);
  case DType::i16:
    return loadAs<int16_t>(base, index);
  case DType::i32:
    return loadAs<int32_t>(base, index);
  case DType::i64:
    return loadAs<int64_t>(base, index);
  case DType::u8:
    return loadAs<uint8_t>(base, index);
  case DType::u16:
    return loadAs<uint16_t>(base, index);
  case DType::u32:
    return loadAs<uint32_t>(base, index);
  case DType::u64:
    return static_cast<int64_t>(loadAs<uint64_t>(base, index));
  case DType::i1:
    return loadAs<uint8_t>(base, index) != 0;
  case DType::i4:
    return ((loadAs<uint8_t>(base, index) & 15) ^ 8) - 8;
  case DType::u4:
    return loadAs<uint8_t>(base, index) & 15;
  default:
    return clampTo<int64_t>(loadElement(type, base, index));
  }
}

void storeInteger(DType type, void *base, int64_t index, int64_t value) {
  if (isFloat(type)) {
    return storeElement(type, base, index, static_cast<double>(value));
  }
  if (type == DType::i1) {
    return storeAs<uint8_t>(base, index, value & 1);
  }
  if (type == DType::i4 || type == DType::u4) {
    storeAs<uint8_t>(base, index, static_cast<uint8_t>(value));
    return storeAs<uint8_t>(
        base, index, static_cast<uint8_t>(loadInteger(type, base, index)));
  }
  switch (sizeOf(type)) {
  case 1:
    return storeAs<uint8_t>(base, index, static_cast<uint8_t>(value));
  case 2:
    return storeAs<uint16_t>(base, index, static_cast<uint16_t>(value));
  case 4:
    return storeAs<uint32_t>(base, index, static_cast<uint32_t>(value));
  default:
    return storeAs<int64_t>(base, index, value);
  }
}

} // namespace llmc::rt
