//===- DTypeTest.cpp - Element types and their sizes ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DType.h"

#include <cmath>
#include <gtest/gtest.h>

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
