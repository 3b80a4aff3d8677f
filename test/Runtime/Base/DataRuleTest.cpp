//===- DataRuleTest.cpp - Where a sample lies in its source ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/Random.h"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(DataRule, EqualInEachField) {
  const DataRule rule{DataKind::array, DType::u8, true, "x"};
  EXPECT_TRUE(rule == rule);
  for (auto edit : std::vector<void (*)(DataRule &)>{
           [](DataRule &r) { r.kind = DataKind::tokens; },
           [](DataRule &r) { r.dtype = DType::u16; },
           [](DataRule &r) { r.shuffle = false; },
           [](DataRule &r) { r.tensor = "y"; },
           [](DataRule &r) { r.once = true; },
           [](DataRule &r) { r.heldOut = 0.5; },
           [](DataRule &r) { r.weights = {1}; },
           [](DataRule &r) { r.finite = false; }}) {
    DataRule other = rule;
    edit(other);
    EXPECT_FALSE(rule == other);
  }
  EXPECT_EQ(nameOf(DataKind::tokens), "tokens");
  EXPECT_EQ(nameOf(DataKind::array), "array");
  EXPECT_EQ(nameOf(DataKind::text), "text");
}

TEST(DataRule, FaultsOfNumbers) {
  auto fault = [](void (*edit)(DataRule &)) {
    DataRule rule;
    edit(rule);
    return std::string(faultOf(rule));
  };
  EXPECT_EQ(fault([](DataRule &) {}), "");
  EXPECT_EQ(fault([](DataRule &r) { r.weights = {1, 1000000}; }), "");
  EXPECT_EQ(fault([](DataRule &r) { r.heldOut = 0.999; }), "");
  const std::string weights =
      "expected at most 4096 weights, each from 1 to 1000000";
  EXPECT_EQ(fault([](DataRule &r) { r.weights = {1, 0}; }), weights);
  EXPECT_EQ(fault([](DataRule &r) { r.weights = {1000001}; }), weights);
  EXPECT_EQ(fault([](DataRule &r) { r.weights.assign(4097, 1); }), weights);
  for (double share : {-0.1, 1.0, std::nan("")}) {
    DataRule rule;
    rule.heldOut = share;
    EXPECT_EQ(faultOf(rule), "expected a share in [0, 1) that is held out");
  }
  EXPECT_EQ(fault([](DataRule &r) {
              r.once = true;
              r.kind = DataKind::array;
            }),
            "expected windows of tokens where each comes once");
}
