//===- DTypeTest.cpp - Element types and their sizes ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DType.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>

using namespace llmc::rt;

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < numDTypes; ++i) {
    auto type = static_cast<DType>(i);
    EXPECT_EQ(parseDType(nameOf(type)), type);
  }
  EXPECT_FALSE(parseDType("f8"));
}

TEST(DType, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float value = fromFloat16(half);
    if (value == value) {
      EXPECT_EQ(toFloat16(value), half);
    }
    float brain = fromBFloat16(half);
    if (brain == brain) {
      EXPECT_EQ(toBFloat16(brain), half);
    }
  }
}

TEST(DType, HalfRoundsToNearestEven) {
  EXPECT_EQ(toFloat16(65519.0f), 0x7bff);
  EXPECT_EQ(toFloat16(65520.0f), 0x7c00);
  EXPECT_EQ(toFloat16(0x1p-25f), 0);
  EXPECT_EQ(toFloat16(0x1.8p-25f), 1);
  EXPECT_EQ(toFloat16(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(toFloat16(1.0f + 0x1.8p-10f), 0x3c02);
  EXPECT_EQ(toBFloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(toBFloat16(1.0f + 0x1.8p-7f), 0x3f82);
  EXPECT_TRUE(std::isnan(fromBFloat16(toBFloat16(NAN))));
  EXPECT_TRUE(std::isnan(fromFloat16(toFloat16(NAN))));
}

// All numbers of a format come back; between two neighbours the nearer one is
// taken, and half way the one whose last bit is not set.
TEST(DType, SmallFloatsRoundToNearestEven) {
  for (DType type : {DType::f8E4M3FN, DType::f8E5M2, DType::f8E4M3FNUZ,
                     DType::f8E5M2FNUZ, DType::f8E4M3B11FNUZ}) {
    const SmallFloat &format = *findSmallFloat(type);
    for (int bits = 0; bits < 256; ++bits) {
      double value = fromSmallFloat(format, static_cast<uint8_t>(bits));
      if (value == value) {
        EXPECT_EQ(toSmallFloat(format, value), bits) << nameOf(type);
      }
    }
    for (int code = 0; code < format.largest(); ++code) {
      double low = fromSmallFloat(format, static_cast<uint8_t>(code)),
             high = fromSmallFloat(format, static_cast<uint8_t>(code + 1)),
             middle = (low + high) / 2;
      EXPECT_LT(low, high) << nameOf(type);
      EXPECT_EQ(toSmallFloat(format, middle), code + code % 2);
      EXPECT_EQ(toSmallFloat(format, std::nextafter(middle, 0)), code);
      EXPECT_EQ(toSmallFloat(format, std::nextafter(middle, high)), code + 1);
    }
  }
}

// The largest numbers as the formats' papers give them, and what lies beyond.
TEST(DType, SmallFloatsEndAsPublished) {
  struct End {
    DType type;
    double largest, least;
    uint8_t beyond;
    bool isInfinite;
  };
  for (const End &end : {End{DType::f8E4M3FN, 448, 0x1p-9, 0x7f, false},
                         {DType::f8E5M2, 57344, 0x1p-16, 0x7c, true},
                         {DType::f8E4M3FNUZ, 240, 0x1p-10, 0x80, false},
                         {DType::f8E5M2FNUZ, 57344, 0x1p-17, 0x80, false},
                         {DType::f8E4M3B11FNUZ, 30, 0x1p-13, 0x80, false}}) {
    const SmallFloat &format = *findSmallFloat(end.type);
    auto largest = static_cast<uint8_t>(format.largest());
    EXPECT_EQ(fromSmallFloat(format, largest), end.largest);
    EXPECT_EQ(fromSmallFloat(format, 1), end.least);
    EXPECT_EQ(toSmallFloat(format, 1e30), end.beyond) << nameOf(end.type);
    EXPECT_EQ(std::isinf(fromSmallFloat(format, end.beyond)), end.isInfinite);
    EXPECT_TRUE(std::isnan(fromSmallFloat(format, toSmallFloat(format, NAN))));
    EXPECT_EQ(std::signbit(fromSmallFloat(format, toSmallFloat(format, -0.0))),
              end.beyond != 0x80);
  }
}

TEST(DType, StoresClampAndLoadsReturn) {
  for (int i = 0; i < numDTypes; ++i) {
    auto type = static_cast<DType>(i);
    alignas(8) char cell[16] = {};
    storeElement(type, cell, 1, 1.0);
    EXPECT_EQ(loadElement(type, cell, 1), 1.0) << nameOf(type);
    EXPECT_EQ(loadInteger(type, cell, 1), 1) << nameOf(type);
    EXPECT_EQ(loadElement(type, cell, 0), 0.0) << nameOf(type);
  }
  uint64_t cell = 0;
  storeElement(DType::i8, &cell, 0, 300.0);
  EXPECT_EQ(loadElement(DType::i8, &cell, 0), 127);
  storeElement(DType::u64, &cell, 0, 1e30);
  EXPECT_EQ(cell, UINT64_MAX);
  storeElement(DType::i64, &cell, 0, NAN);
  EXPECT_EQ(cell, 0u);
  storeInteger(DType::u8, &cell, 0, 257);
  EXPECT_EQ(loadInteger(DType::u8, &cell, 0), 1);
}

TEST(DType, TheTable) {
  struct Row {
    DType type;
    const char *name;
    int64_t size;
    bool isFloat, isSigned;
  };
  const Row rows[] = {{DType::f64, "f64", 8, true, false},
                      {DType::f32, "f32", 4, true, false},
                      {DType::bf16, "bf16", 2, true, false},
                      {DType::f16, "f16", 2, true, false},
                      {DType::i8, "i8", 1, false, true},
                      {DType::i16, "i16", 2, false, true},
                      {DType::i32, "i32", 4, false, true},
                      {DType::i64, "i64", 8, false, true},
                      {DType::u8, "u8", 1, false, false},
                      {DType::u16, "u16", 2, false, false},
                      {DType::u32, "u32", 4, false, false},
                      {DType::u64, "u64", 8, false, false},
                      {DType::i1, "i1", 1, false, false},
                      {DType::f8E4M3FN, "f8E4M3FN", 1, true, false},
                      {DType::f8E5M2, "f8E5M2", 1, true, false},
                      {DType::f8E4M3FNUZ, "f8E4M3FNUZ", 1, true, false},
                      {DType::f8E5M2FNUZ, "f8E5M2FNUZ", 1, true, false},
                      {DType::f8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1, true, false},
                      {DType::i4, "i4", 1, false, true},
                      {DType::u4, "u4", 1, false, false}};
  ASSERT_EQ(std::size(rows), size_t(numDTypes));
  for (int i = 0; i < numDTypes; ++i) {
    EXPECT_EQ(int(rows[i].type), i);
    EXPECT_EQ(nameOf(rows[i].type), rows[i].name);
    EXPECT_EQ(sizeOf(rows[i].type), rows[i].size) << rows[i].name;
    EXPECT_EQ(isFloat(rows[i].type), rows[i].isFloat) << rows[i].name;
    EXPECT_EQ(isSignedInteger(rows[i].type), rows[i].isSigned) << rows[i].name;
  }
}

// Least and greatest value, what lies beyond them, fractions, not a number.
TEST(DType, StoresClampAtBothEnds) {
  struct Ends {
    DType type;
    double low, high;
  };
  for (const Ends &each : {Ends{DType::i8, -128, 127},
                           {DType::i16, -32768, 32767},
                           {DType::i32, -2147483648.0, 2147483647.0},
                           {DType::u8, 0, 255},
                           {DType::u16, 0, 65535},
                           {DType::i4, -8, 7},
                           {DType::u4, 0, 15},
                           {DType::u32, 0, 4294967295.0}}) {
    auto stored = [&](double value) {
      uint64_t cell = 0;
      storeElement(each.type, &cell, 0, value);
      return loadElement(each.type, &cell, 0);
    };
    EXPECT_EQ(stored(each.low), each.low) << nameOf(each.type);
    EXPECT_EQ(stored(each.low - 1), each.low) << nameOf(each.type);
    EXPECT_EQ(stored(each.low + 1), each.low + 1) << nameOf(each.type);
    EXPECT_EQ(stored(each.high), each.high) << nameOf(each.type);
    EXPECT_EQ(stored(each.high + 1), each.high) << nameOf(each.type);
    EXPECT_EQ(stored(each.high - 1), each.high - 1) << nameOf(each.type);
    EXPECT_EQ(stored(2.75), 2) << nameOf(each.type);
    EXPECT_EQ(stored(-2.75), std::max(each.low, -2.0)) << nameOf(each.type);
    EXPECT_EQ(stored(NAN), 0) << nameOf(each.type);
  }
}

TEST(DType, WideIntegersKeepAllBits) {
  int64_t cells[2] = {};
  storeInteger(DType::i64, cells, 1, INT64_MIN + 1);
  EXPECT_EQ(loadInteger(DType::i64, cells, 1), INT64_MIN + 1);
  EXPECT_EQ(cells[0], 0);
  storeInteger(DType::u64, cells, 0, -1);
  EXPECT_EQ(loadElement(DType::u64, cells, 0), 0x1p64);
  EXPECT_EQ(loadInteger(DType::u64, cells, 0), -1);
  storeElement(DType::i64, cells, 0, -0x1p70);
  EXPECT_EQ(cells[0], INT64_MIN);
  // Floats truncate when they are read as integers, and convert when stored.
  float halves[] = {2.75f, -2.75f, 0};
  storeInteger(DType::f32, halves, 2, 3);
  EXPECT_EQ(halves[2], 3.0f);
  EXPECT_EQ(loadInteger(DType::f32, halves, 0), 2);
  EXPECT_EQ(loadInteger(DType::f32, halves, 1), -2);
}

// Each integer type wraps by itself and leaves its neighbours alone.
TEST(DType, StoresWrapAndTouchOneElement) {
  for (DType type : {DType::i8, DType::i16, DType::i32, DType::u8, DType::u16,
                     DType::u32, DType::i64, DType::u64}) {
    int64_t bits = 8 * sizeOf(type);
    int64_t cells[3] = {};
    storeInteger(type, cells, 1, -2);
    bool isSigned = isSignedInteger(type) || bits == 64;
    EXPECT_EQ(loadInteger(type, cells, 1),
              isSigned ? -2 : (int64_t(1) << bits) - 2)
        << nameOf(type);
    EXPECT_EQ(loadInteger(type, cells, 0), 0) << nameOf(type);
    EXPECT_EQ(loadInteger(type, cells, 2), 0) << nameOf(type);
  }
  uint8_t flags[] = {7, 2, 0};
  EXPECT_EQ(loadInteger(DType::i1, flags, 0), 1);
  EXPECT_EQ(loadElement(DType::i1, flags, 1), 1);
  storeInteger(DType::i1, flags, 0, 2);
  EXPECT_EQ(flags[0], 0);
  storeElement(DType::i1, flags, 2, 0.5);
  EXPECT_EQ(flags[2], 1);
}

// Rounding against the real line: each half between two neighbours, and the
// floats just below and above it.
TEST(DType, HalvesRoundToTheNearest) {
  auto check = [](uint16_t (*narrow)(float), float (*widen)(uint16_t),
                  uint16_t last) {
    int wrong = 0;
    for (uint16_t bits = 0; bits < last; ++bits) {
      float low = widen(bits), high = widen(bits + 1);
      float middle = static_cast<float>((double(low) + high) / 2);
      uint16_t even = bits % 2 ? bits + 1 : bits;
      wrong += narrow(middle) != even;
      wrong += narrow(std::nextafter(middle, low)) != bits;
      wrong += narrow(std::nextafter(middle, high)) != bits + 1;
      wrong += narrow(-middle) != (even | 0x8000);
    }
    EXPECT_EQ(wrong, 0);
  };
  check(toFloat16, fromFloat16, 0x7bff);
  // Below the least normal of bf16, middles are denormals of f32: exact too.
  check(toBFloat16, fromBFloat16, 0x7f7e);
  EXPECT_EQ(toFloat16(INFINITY), 0x7c00);
  EXPECT_EQ(toFloat16(-1e30f), 0xfc00);
  EXPECT_EQ(toBFloat16(-INFINITY), 0xff80);
  EXPECT_EQ(toBFloat16(3.4e38f), 0x7f80);
  EXPECT_EQ(toFloat16(-NAN) & 0x7e00, 0x7e00);
  // A NaN whose only bits are those that are cut.
  uint32_t bits = 0x7f800001;
  float small;
  std::memcpy(&small, &bits, 4);
  EXPECT_TRUE(std::isnan(fromBFloat16(toBFloat16(small))));
  EXPECT_TRUE(std::isnan(fromFloat16(toFloat16(small))));
  EXPECT_TRUE(std::isinf(fromFloat16(0x7c00)));
  EXPECT_TRUE(std::isnan(fromFloat16(0x7c01)));
  EXPECT_EQ(fromFloat16(0x8001), -0x1p-24f);
}
