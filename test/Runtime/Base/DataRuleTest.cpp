//===- DataRuleTest.cpp - Where a sample lies in its source ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/Random.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

using namespace llmc::rt;

static std::vector<uint64_t> order(uint64_t count, uint64_t seed,
                                   uint64_t epoch) {
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < count; ++i) {
    rows.push_back(permute(i, count, seed, epoch));
  }
  return rows;
}

// Each row once, whatever the number of rows.
TEST(Permute, IsAPermutation) {
  for (uint64_t count : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    std::vector<uint64_t> rows = order(count, 7, count % 3);
    std::set<uint64_t> seen(rows.begin(), rows.end());
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(*seen.rbegin(), count - 1);
  }
}

TEST(Permute, DependsOnSeedAndEpoch) {
  EXPECT_EQ(order(50, 1, 2), order(50, 1, 2));
  EXPECT_NE(order(50, 1, 2), order(50, 1, 3));
  EXPECT_NE(order(50, 1, 2), order(50, 2, 2));
  EXPECT_NE(order(50, 1, 2), order(50, 1 + (uint64_t(1) << 32), 2));
  EXPECT_NE(order(50, 1, 2), order(50, 1, 2 + (uint64_t(1) << 32)));
}

// All orders of four rows are about equally frequent over epochs: chi-squared
// with 23 degrees of freedom is below 50 but for one seed in a thousand.
TEST(Permute, AllOrdersAreAlike) {
  std::map<std::vector<uint64_t>, int> count;
  constexpr int epochs = 24000;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    ++count[order(4, 3, epoch)];
  }
  EXPECT_EQ(count.size(), 24u);
  double deviation = 0;
  for (const auto &[rows, times] : count) {
    deviation += (times - 1000.0) * (times - 1000.0) / 1000.0;
  }
  EXPECT_LT(deviation, 50);
}

// The greatest ranges need all 64 bits of both halves.
TEST(Permute, GreatestRanges) {
  for (uint64_t count :
       {uint64_t(1) << 62, uint64_t(INT64_MAX), ~uint64_t(0)}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < 100; ++i) {
      uint64_t row = permute(count - 1 - i, count, 1, 0);
      EXPECT_LT(row, count);
      seen.insert(row);
    }
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_GT(*seen.rbegin(), count / 2);
  }
}

// A window lies in the file, and windows of tokens are spread over it.
TEST(DataRule, TokensShuffled) {
  DataRule rule;
  std::set<int64_t> seen;
  bool differs = false;
  for (uint64_t i = 0; i < 2000; ++i) {
    int64_t at = findSample(rule, 1, i, 100, 91);
    EXPECT_EQ(at, int64_t(RandomStream(1, "data").bits(i) % 10));
    differs = differs || at != findSample(rule, 2, i, 100, 91);
    seen.insert(at);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_TRUE(differs);
}

// One window after the other; what is left at the end is no window.
TEST(DataRule, TokensInOrder) {
  DataRule rule;
  rule.shuffle = false;
  std::vector<int64_t> found;
  for (uint64_t i = 0; i < 5; ++i) {
    found.push_back(findSample(rule, 1, i, 11, 3));
  }
  EXPECT_EQ(found, (std::vector<int64_t>{0, 3, 6, 0, 3}));
  EXPECT_EQ(findSample(rule, 1, 4, 3, 3), 0);
}

TEST(DataRule, ArraysInOrder) {
  DataRule rule{DataKind::array, DType::u16, false, ""};
  std::vector<int64_t> found;
  for (uint64_t i = 0; i < 5; ++i) {
    found.push_back(findSample(rule, 1, i, 5, 3));
  }
  EXPECT_EQ(found, (std::vector<int64_t>{0, 1, 2, 0, 1}));
}

// Each epoch has each row once, in an order of its own.
TEST(DataRule, ArraysShuffled) {
  DataRule rule{DataKind::array, DType::u16, true, ""};
  std::vector<int64_t> epochs[2];
  for (uint64_t i = 0; i < 24; ++i) {
    epochs[i / 12].push_back(findSample(rule, 9, i, 13, 2));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  for (const std::vector<int64_t> &rows : epochs) {
    std::set<int64_t> seen(rows.begin(), rows.end());
    EXPECT_EQ(seen.size(), 12u);
    EXPECT_EQ(*seen.rbegin(), 11);
  }
}

TEST(DataRule, EqualInEachField) {
  const DataRule rule{DataKind::array, DType::u8, true, "x"};
  EXPECT_TRUE(rule == rule);
  for (auto edit : std::vector<void (*)(DataRule &)>{
           [](DataRule &r) { r.kind = DataKind::tokens; },
           [](DataRule &r) { r.dtype = DType::u16; },
           [](DataRule &r) { r.shuffle = false; },
           [](DataRule &r) { r.tensor = "y"; }}) {
    DataRule other = rule;
    edit(other);
    EXPECT_FALSE(rule == other);
  }
  EXPECT_EQ(nameOf(DataKind::tokens), "tokens");
  EXPECT_EQ(nameOf(DataKind::array), "array");
}
