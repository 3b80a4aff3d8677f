//===- ReductionCutTest.cpp - In which order reductions add up ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reduction/ReductionCut.h"

#include <gtest/gtest.h>
#include <string>

using namespace llmc;

// A row is long when each of 32 threads reads 16 bytes of it four times.
TEST(ReductionCut, AccumulatorsOfRows) {
  struct Row {
    int64_t bytes, wide;
  };
  for (Row row : {Row{1, 512}, {2, 256}, {4, 128}, {8, 64}}) {
    for (int64_t length :
         {int64_t(0), int64_t(1), int64_t(32), 4 * row.wide - 1})
      EXPECT_EQ(getRowAccumulators(length, row.bytes), 32) << length;
    for (int64_t length : {4 * row.wide, 4 * row.wide + 1, int64_t(1) << 40})
      EXPECT_EQ(getRowAccumulators(length, row.bytes), row.wide) << length;
  }
}

// Parts are whole dims where these are about as long as they are many, else as
// near to the root of the length as its divisors are.
TEST(ReductionCut, PartsOfLongRows) {
  auto cut = [](const std::vector<int64_t> &sizes) {
    RowCut found = cutRows(1, sizes);
    return std::pair(found.part, static_cast<int64_t>(found.numDims));
  };
  std::pair<int64_t, int64_t> whole = {0, 0};
  EXPECT_EQ(cut({}), whole);
  EXPECT_EQ(cut({longestRow}), whole);
  EXPECT_EQ(cut({0, 1 << 20}), whole);
  EXPECT_EQ(cut({longestRow + 2}), std::pair(int64_t(331), int64_t(0)));
  EXPECT_EQ(cut({256, 512}), std::pair(int64_t(512), int64_t(1)));
  EXPECT_EQ(cut({768, 12, 64}), std::pair(int64_t(768), int64_t(2)));
  EXPECT_EQ(cut({1 << 10, 1 << 14}), std::pair(int64_t(1) << 14, int64_t(1)));
  EXPECT_EQ(cut({1 << 10, 1 << 15}), std::pair(int64_t(1) << 13, int64_t(0)))
      << "apart by a factor of 32";
  EXPECT_EQ(cut({1 << 20, 4}), std::pair(int64_t(1) << 11, int64_t(0)));
  EXPECT_EQ(cutRows(mostCutRows, {256, 512}).part, 512);
  EXPECT_EQ(cutRows(mostCutRows + 1, {256, 512}).part, 0);
  EXPECT_EQ(cut({65537}), whole) << "a prime";
  EXPECT_EQ(cut({15 * 65537}), whole);
  EXPECT_EQ(cut({16 * 65537}), std::pair(int64_t(65537), int64_t(0)));
}

TEST(ReductionCut, LevelsOfColumns) {
  for (int64_t length : {0, 1, 64})
    EXPECT_EQ(getColumnLevels(length), 0) << length;
  for (int64_t length : {65, 4096})
    EXPECT_EQ(getColumnLevels(length), 1) << length;
  for (int64_t length : {4097, 262144})
    EXPECT_EQ(getColumnLevels(length), 2) << length;
  EXPECT_EQ(getColumnLevels(262145), 3);
}

/// The order of additions as text; the start is "".
static std::string join(const std::string &a, const std::string &b) {
  return a.empty() ? b : b.empty() ? a : "(" + a + "+" + b + ")";
}
static std::string name(int64_t j) { return std::to_string(j); }

TEST(ReductionCut, OrderInRows) {
  auto rowOf = [](int64_t length, int64_t bytes) {
    return reduceRow(length, bytes, std::string(), name, join);
  };
  EXPECT_EQ(rowOf(0, 4), "");
  EXPECT_EQ(rowOf(3, 4), "((0+2)+1)"); // 0 meets 2 before 1
  EXPECT_EQ(rowOf(4, 4), "((0+2)+(1+3))");
  EXPECT_NE(rowOf(33, 4).find("(0+32)"), std::string::npos);
  EXPECT_NE(rowOf(511, 4).find("((0+32)+64)"), std::string::npos);
  EXPECT_NE(rowOf(511, 2).find("((0+32)+64)"), std::string::npos);
  EXPECT_NE(rowOf(512, 4).find("((((0+128)+256)+384)+(((64+192)+320)+448))"),
            std::string::npos);
}

TEST(ReductionCut, OrderInColumns) {
  auto columnOf = [](int64_t length) {
    return reduceColumn(length, std::string(), name, join);
  };
  EXPECT_EQ(columnOf(0), "");
  EXPECT_EQ(columnOf(4), "(((0+1)+2)+3)");
  EXPECT_NE(columnOf(64).find("+62)+63)"), std::string::npos);
  // The second block of 64, and the second block of 64 blocks.
  EXPECT_NE(columnOf(66).find("+63)+(64+65))"), std::string::npos);
  EXPECT_NE(columnOf(4098).find("+4095))+(4096+4097))"), std::string::npos);
}
