//===- SampleOrderTest.cpp - Which sample comes when ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/SampleOrder.h"
#include "llmc/Runtime/Base/Random.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

using namespace llmc::rt;

using RowPlace = std::tuple<size_t, size_t, int64_t>;

static RowPlace rowPlaceOf(const SampleOrder &order, uint64_t seed,
                           uint64_t i) {
  SamplePlace place = order.find(seed, i);
  return {place.part, place.file, place.row};
}

static DataRule ruleOf(DataKind kind, bool shuffle = true, bool once = false) {
  DataRule rule;
  rule.kind = kind;
  rule.shuffle = shuffle;
  rule.once = once;
  return rule;
}

/// Rows of one file of the first samples.
static std::vector<int64_t> rowsOf(const DataRule &rule, int64_t rows,
                                   int64_t window, uint64_t samples,
                                   uint64_t seed = 1) {
  SampleOrder order(rule, {{rows}}, window, window, Split::training);
  std::vector<int64_t> found;
  for (uint64_t i = 0; i < samples; ++i) {
    found.push_back(order.find(seed, i).row);
  }
  return found;
}

// Windows of tokens are spread over the file.
TEST(SampleOrder, TokensDrawn) {
  std::vector<int64_t> rows = rowsOf(ruleOf(DataKind::tokens), 100, 91, 2000);
  for (uint64_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i], int64_t(RandomStream(1, "data").bits(i) % 10));
  }
  EXPECT_EQ(std::set<int64_t>(rows.begin(), rows.end()).size(), 10u);
  EXPECT_NE(rows, rowsOf(ruleOf(DataKind::tokens), 100, 91, 2000, 2));
}

// One window after the other; what is left at the end is no window.
TEST(SampleOrder, TokensInOrder) {
  EXPECT_EQ(rowsOf(ruleOf(DataKind::text, false), 11, 3, 5),
            (std::vector<int64_t>{0, 3, 6, 0, 3}));
  EXPECT_EQ(rowsOf(ruleOf(DataKind::tokens, false), 3, 3, 2),
            (std::vector<int64_t>{0, 0}));
}

TEST(SampleOrder, ArraysInOrder) {
  EXPECT_EQ(rowsOf(ruleOf(DataKind::array, false), 5, 3, 5),
            (std::vector<int64_t>{0, 1, 2, 0, 1}));
}

// Each epoch has each row once, in an order of its own.
TEST(SampleOrder, ArraysShuffled) {
  std::vector<int64_t> rows = rowsOf(ruleOf(DataKind::array), 13, 2, 24, 9);
  std::vector<int64_t> first(rows.begin(), rows.begin() + 12);
  std::vector<int64_t> second(rows.begin() + 12, rows.end());
  EXPECT_NE(first, second);
  for (const std::vector<int64_t> &epoch : {first, second}) {
    std::set<int64_t> seen(epoch.begin(), epoch.end());
    EXPECT_EQ(seen.size(), 12u);
    EXPECT_EQ(*seen.rbegin(), 11);
  }
}

// Files of tokens: an epoch has each window that lies side by side in a file
// once, and no other; drawn windows end within their file too.
TEST(SampleOrder, WindowsOfFiles) {
  const RowsOfFiles files = {{7, 30, 5, 10}};
  for (bool once : {true, false}) {
    SampleOrder order(ruleOf(DataKind::tokens, true, once), files, 5, 5,
                      Split::training);
    EXPECT_FALSE(order.findEmpty());
    EXPECT_EQ(order.epoch(), 1 + 6 + 1 + 2);
    EXPECT_EQ(order.distinct(0), once ? 10 : 3 + 26 + 1 + 6);
    std::set<RowPlace> epochs[2], all;
    for (uint64_t i = 0; i < 2000; ++i) {
      RowPlace place = rowPlaceOf(order, 4, i);
      auto [part, file, row] = place;
      EXPECT_LE(row + 5, files[0][file]);
      all.insert(place);
      if (i < 20) {
        epochs[i / 10].insert(place);
      }
    }
    EXPECT_EQ(all.size(), uint64_t(order.distinct(0)));
    if (once) {
      EXPECT_EQ(epochs[0].size(), 10u);
      EXPECT_EQ(epochs[0], epochs[1]);
    }
  }
}

// Rows of an array's files are counted on from file to file.
TEST(SampleOrder, FilesOfAnArray) {
  SampleOrder order(ruleOf(DataKind::array, false), {{2, 0, 3}}, 1, 1,
                    Split::training);
  EXPECT_EQ(rowPlaceOf(order, 1, 1), RowPlace(0, 0, 1));
  EXPECT_EQ(rowPlaceOf(order, 1, 2), RowPlace(0, 2, 0));
  EXPECT_EQ(rowPlaceOf(order, 1, 4), RowPlace(0, 2, 2));
}

// In each round of all weights each part comes as often as its weight, and
// goes through all its samples before one comes again.
TEST(SampleOrder, ProportionsAreExact) {
  for (DataKind kind : {DataKind::tokens, DataKind::array}) {
    DataRule rule = ruleOf(kind, true, kind == DataKind::tokens);
    rule.weights = {5, 1, 3};
    SampleOrder order(rule, {{40}, {16}, {12}}, 4, 4, Split::training);
    std::vector<std::vector<RowPlace>> of(3);
    std::set<std::vector<size_t>> turns;
    for (uint64_t round = 0; round < 60; ++round) {
      std::map<size_t, int> count;
      std::vector<size_t> turn;
      for (uint64_t i = 0; i < 9; ++i) {
        RowPlace place = rowPlaceOf(order, 3, 9 * round + i);
        turn.push_back(std::get<0>(place));
        ++count[turn.back()];
        of[turn.back()].push_back(place);
      }
      EXPECT_EQ(count, (std::map<size_t, int>{{0, 5}, {1, 1}, {2, 3}}));
      turns.insert(turn);
    }
    EXPECT_GT(turns.size(), 40u);
    // No sample of a part comes a time more than another, but once.
    for (size_t part : {0, 1, 2}) {
      std::map<RowPlace, size_t> times;
      for (const RowPlace &place : of[part]) {
        ++times[place];
      }
      auto samples = static_cast<size_t>(order.distinct(part));
      EXPECT_EQ(times.size(), samples);
      for (auto [place, count] : times) {
        EXPECT_EQ(count - of[part].size() / samples <= 1, true) << part;
      }
    }
  }
}

/// The rows that samples of a split have, by part and file.
static std::set<RowPlace> rowsOfSplit(const DataRule &rule,
                                      const RowsOfFiles &files, int64_t window,
                                      int64_t widest, Split split,
                                      uint64_t seed) {
  SampleOrder order(rule, files, window, widest, split);
  std::set<RowPlace> rows;
  for (uint64_t i = 0; i < 3000; ++i) {
    auto [part, file, row] = rowPlaceOf(order, seed, i);
    for (int64_t r = 0; r < window; ++r) {
      rows.insert({part, file, row + r});
    }
  }
  return rows;
}

// Training never has a row of what is held out, whatever the kind, the order
// and the window; what is held out is the same for every seed.
TEST(SampleOrder, WhatIsHeldOutIsNeverTrained) {
  struct Case {
    DataRule rule;
    RowsOfFiles files;
    int64_t window, widest;
  };
  std::vector<Case> cases;
  for (auto [shuffle, once] : {std::pair(true, false), std::pair(true, true),
                               std::pair(false, false)}) {
    cases.push_back(
        {ruleOf(DataKind::tokens, shuffle, once), {{90, 41}}, 4, 4});
    if (!once) {
      cases.push_back({ruleOf(DataKind::array, shuffle), {{61}}, 1, 1});
      cases.push_back({ruleOf(DataKind::array, shuffle), {{61}}, 3, 3});
      cases.push_back({ruleOf(DataKind::array, shuffle), {{59}}, 1, 3});
    }
  }
  for (Case &each : cases) {
    each.rule.heldOut = 0.2;
    std::set<RowPlace> held, first;
    for (uint64_t seed : {1, 2}) {
      held = rowsOfSplit(each.rule, each.files, each.window, each.widest,
                         Split::heldOut, seed);
      first = first.empty() ? held : first;
      EXPECT_EQ(held, first);
      for (const RowPlace &row :
           rowsOfSplit(each.rule, each.files, each.window, each.widest,
                       Split::training, seed)) {
        EXPECT_FALSE(held.count(row));
      }
    }
    EXPECT_GT(held.size(), 8u);
  }
}

// Rows of a shuffled array are held out all over it, those of one in order at
// its end; together with those of training they are all.
TEST(SampleOrder, SplitsOfArrays) {
  for (bool shuffle : {true, false}) {
    DataRule rule = ruleOf(DataKind::array, shuffle);
    rule.heldOut = 0.25;
    std::set<RowPlace> held =
        rowsOfSplit(rule, {{40}}, 1, 1, Split::heldOut, 1);
    std::set<RowPlace> rest =
        rowsOfSplit(rule, {{40}}, 1, 1, Split::training, 1);
    EXPECT_EQ(held.size(), 10u);
    EXPECT_EQ(rest.size(), 30u);
    EXPECT_EQ(*held.begin() == RowPlace(0, 0, 30), !shuffle);
  }
}

// A share of a file that has no window of its own is no error, unless none has.
TEST(SampleOrder, PartsWithoutSamples) {
  DataRule rule = ruleOf(DataKind::tokens);
  auto empty = [&](const RowsOfFiles &files, Split split) {
    return SampleOrder(rule, files, 4, 4, split).findEmpty();
  };
  EXPECT_EQ(empty({{9, 3}}, Split::training)->file, 1u);
  EXPECT_FALSE(empty({{9, 4}}, Split::training));
  EXPECT_EQ(empty({{9}, {3, 9}}, Split::training)->part, 1u);
  rule.heldOut = 0.5;
  EXPECT_EQ(empty({{7}}, Split::training)->file, 0u);
  EXPECT_FALSE(empty({{8, 20}}, Split::training));
  EXPECT_FALSE(empty({{8, 5}}, Split::heldOut));
  EXPECT_TRUE(empty({{5, 5}}, Split::heldOut));
  rule.kind = DataKind::array;
  EXPECT_TRUE(empty({{2, 1}}, Split::training));
}

// The greatest numbers of samples wrap nowhere.
TEST(SampleOrder, GreatestNumbers) {
  DataRule rule = ruleOf(DataKind::tokens, true, true);
  rule.weights = {1000000, 999999};
  SampleOrder order(rule, {{int64_t(1) << 60}, {100}}, 50, 50, Split::training);
  for (uint64_t i : {uint64_t(0), uint64_t(1) << 63, ~uint64_t(0)}) {
    SamplePlace place = order.find(1, i);
    EXPECT_GE(place.row, 0);
    EXPECT_LE(place.row, place.part ? 50 : (int64_t(1) << 60) - 50);
  }
}
