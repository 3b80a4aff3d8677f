//===- OpLayoutsTest.cpp - In which splits an op runs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of docs/layout-algebra.md, section 3, by hand, and the property that
// what an op wants and makes is legal by its rule, whatever layouts were
// decided.
//
//===----------------------------------------------------------------------===//

#include "OpLayoutsFixture.h"
#include <random>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::test;

namespace {

TEST_F(OpLayoutsTest, ReducedFactorsAreSplitAsOperandsSay) {
  // Column- and row-parallel products.
  EXPECT_EQ(
      run(dot(8, 8, 8), {dataRows, columns, "[{\"data\"}, {\"tensor\"}]"}),
      "[{d}, {}], [{}, {t}] -> [{d}, {t}]");
  EXPECT_EQ(run(dot(8, 8, 8), {"[{\"data\"}, {\"tensor\"}]", rows, dataRows}),
            "[{d}, {t}], [{t}, {}] -> [{d}, {}] P{t}");
  // The one operand that is whole is sliced.
  EXPECT_EQ(run(dot(8, 32, 8), {whole, rows, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
  // Of a weight's gradient.
  EXPECT_EQ(run(dot(8, 8, 8),
                {"[{}, {\"data\"}]", "[{\"data\"}, {\"tensor\"}]", columns}),
            "[{}, {d}], [{d}, {t}] -> [{}, {t}] P{d}");
}

TEST_F(OpLayoutsTest, TheDearerSideGivesWayForAnAxis) {
  // Sequence parallel: a result of 64 against operands of 128 and 128.
  EXPECT_EQ(run(dot(8, 16, 8), {columns, rows, rows}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
  // A huge result stays split; the left operand goes all-to-all.
  EXPECT_EQ(run(dot(64, 2, 64), {columns, rows, rows}),
            "[{t}, {}], [{}, {}] -> [{t}, {}]");
}

TEST_F(OpLayoutsTest, AnAxisGoesWhereLessMoves) {
  // Over t of 2: m n / 2 elements of the result are scattered, or m k / 4 of
  // the left and k n / 2 of the right operand are moved, four times as dear
  // where both are split alike.
  const char *taken = "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}";
  const char *left = "[{t}, {}], [{}, {}] -> [{t}, {}]";
  EXPECT_EQ(run(dot(12, 2, 12), {columns, rows, rows}), taken);
  EXPECT_EQ(run(dot(14, 2, 12), {columns, rows, rows}), left);
  // The right operand is whole: the price of the left one, once.
  EXPECT_EQ(run(dot(8, 8, 4), {columns, whole, rows}), taken);
  EXPECT_EQ(run(dot(8, 8, 6), {columns, whole, rows}), left);
  // Other axes split what each device holds: of m n and of m k.
  const char *dataTensor = "[{\"data\", \"tensor\"}, {}]";
  const char *lhs = "[{\"data\"}, {\"tensor\"}]";
  EXPECT_EQ(run(dot(20, 2, 20), {lhs, rows, dataTensor}),
            "[{d}, {t}], [{t}, {}] -> [{d}, {}] P{t}");
  EXPECT_EQ(run(dot(24, 2, 20), {lhs, rows, dataTensor}),
            "[{dt}, {}], [{}, {}] -> [{dt}, {}]");
  // An operand without the factor agrees with any split of it.
  ShardingRule biased = dot(12, 2, 12);
  biased.operands.push_back({{1}});
  EXPECT_EQ(run(biased, {columns, rows, "[{}]", rows}),
            "[{}, {t}], [{t}, {}], [{}] -> [{}, {}] P{t}");
}

TEST_F(OpLayoutsTest, ASumThatSendsMoreThanTheOperandIsNotMade) {
  // A head over 256 words: 2 * 8 * 256 elements of logits are added up, or 8 *
  // 16 elements of the activations gathered.
  EXPECT_EQ(run(dot(8, 16, 256), {columns, whole, whole}),
            "[{}, {}], [{}, {}] -> [{}, {}]");
  // With few words, and where both operands are split, sums are made.
  EXPECT_EQ(run(dot(8, 16, 4), {columns, whole, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
  EXPECT_EQ(run(dot(8, 16, 256), {columns, rows, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
}

TEST_F(OpLayoutsTest, ATableIsGatheredWhereItsRowsAreMore) {
  // Rows of a table: 2 * 64 * 4 elements of the result are added up, or 32 * 4
  // elements of the table gathered.
  auto lookUp = [](int64_t table, int64_t found) {
    ShardingRule rule;
    int row = rule.addFactor(found), column = rule.addFactor(4);
    int key = rule.addFactor(table, FactorKind::Reduced);
    rule.operands = {{{key}, {column}}, {{row}}};
    rule.results = {{{row}, {column}}};
    rule.addLinear(ReductionKind::sum, {{0}});
    return rule;
  };
  const char *split = "[{t}, {}], [{}] -> [{}, {}] P{t}";
  const char *gathered = "[{}, {}], [{}] -> [{}, {}]";
  EXPECT_EQ(run(lookUp(32, 64), {rows, "[{}]", whole}), gathered);
  EXPECT_EQ(run(lookUp(32, 17), {rows, "[{}]", whole}), gathered);
  EXPECT_EQ(run(lookUp(32, 16), {rows, "[{}]", whole}), split);
  EXPECT_EQ(run(lookUp(256, 64), {rows, "[{}]", whole}), split);
}

TEST_F(OpLayoutsTest, TheLargestOperandSplitsAReducedFactor) {
  const char *dataColumns = "[{}, {\"data\"}]";
  const char *first = "[{}, {d}], [{d}, {}] -> [{}, {}] P{d}";
  EXPECT_EQ(run(dot(64, 512, 8), {dataColumns, rows, whole}), first);
  EXPECT_EQ(run(dot(8, 512, 64), {dataColumns, rows, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
  EXPECT_EQ(run(dot(8, 512, 8), {dataColumns, rows, whole}), first);
}

TEST_F(OpLayoutsTest, AnAxisThatIsTakenEndsTheSplit) {
  // Rows of the result have "data", so "tensor" is not the first axis of k.
  EXPECT_EQ(
      run(dot(64, 4, 64), {"[{}, {\"data\", \"tensor\"}]", whole, dataRows}),
      "[{d}, {}], [{}, {}] -> [{d}, {}]");
}

TEST_F(OpLayoutsTest, AResultThatCannotBeStoredIsWhole) {
  // The second result is 2 x 4 merged; the first one has taken "data".
  ShardingRule rule;
  int c = rule.addFactor(8), a = rule.addFactor(2), b = rule.addFactor(4);
  rule.operands = {{{c}, {a}, {b}}};
  rule.results = {{{c}}, {{a, b}}};
  LayoutProblem decided = problem(rule, {"[{}, {}, {}]", "[{\"data\"}]"});
  decided.results.push_back(layout("[{\"data\", \"tensor\"}]"));
  EXPECT_EQ(show(getOpLayouts(decided).results[1]), "[{}]");
}

TEST_F(OpLayoutsTest, TheFirstResultDecides) {
  ShardingRule pair = elementwise(1, {});
  pair.results.push_back(pair.results[0]);
  LayoutProblem decided = problem(pair, {rows, rows});
  decided.results.push_back(layout(columns));
  OpLayouts layouts = getOpLayouts(decided);
  EXPECT_EQ(show(layouts.results[0]), "[{t}, {}]");
  EXPECT_EQ(show(layouts.results[1]), "[{t}, {}]");
  EXPECT_EQ(legality(decided, layouts), "");
  // What the first one leaves open, the second one splits.
  decided = problem(pair, {whole, whole});
  decided.results.push_back(layout(columns));
  EXPECT_EQ(show(getOpLayouts(decided).results[0]), "[{}, {t}]");
}

TEST_F(OpLayoutsTest, ReadingNeedsTheSameSplitsAndStages) {
  auto at = [&](StringRef stages, StringRef rest = "[{}, {}]") {
    return layout((rest + ", at = {\"pipe\" = [" + stages + "]}").str());
  };
  EXPECT_TRUE(isReadableAs(at("0, 1"), at("1")));
  EXPECT_FALSE(isReadableAs(at("1"), at("0, 1")));
  EXPECT_FALSE(isReadableAs(at("0, 1"), at("1", rows)));
  EXPECT_FALSE(
      isReadableAs(at("0, 1", "[{}, {}], partial = [sum{\"pipe\"}]"), at("1")));
}

TEST_F(OpLayoutsTest, ReadingKeepsWhatIsPartialAndWhatIsReplicated) {
  auto at = [&](StringRef stages, StringRef rest = "[{}, {}]") {
    return layout((rest + ", at = {\"pipe\" = [" + stages + "]}").str());
  };
  // A sum over the stages is read at all of them, one over data at any.
  const char *overPipe = "[{}, {}], partial = [sum{\"pipe\"}]";
  const char *overData = "[{}, {}], partial = [sum{\"data\"}]";
  EXPECT_FALSE(isReadableAs(at("0, 1, 2", overPipe), at("0, 1", overPipe)));
  EXPECT_TRUE(isReadableAs(at("0, 1", overPipe), at("0, 1", overPipe)));
  EXPECT_TRUE(isReadableAs(at("0, 1", overData), at("1", overData)));
  // Everywhere is at each stage, and at no list of them.
  EXPECT_TRUE(isReadableAs(layout(whole), at("1")));
  EXPECT_FALSE(isReadableAs(at("0, 1"), layout(whole)));
  EXPECT_FALSE(isReadableAs(layout("[{}, {}], replicated = {\"tensor\"}"),
                            layout(whole)));
  EXPECT_TRUE(isReadableAs(layout(rows), layout(rows)));
}

TEST_F(OpLayoutsTest, ValuesWithoutLayoutAskForNothing) {
  EXPECT_EQ(run(add(), {"", "", ""}), "none, none -> none");
  // An operand says where the op is when no result does.
  EXPECT_EQ(run(dot(8, 8, 8), {"[{}, {\"tensor\"}]", rows, ""}),
            "[{}, {t}], [{t}, {}] -> none");
  EXPECT_EQ(run(dot(8, 8, 8), {"", rows, whole}),
            "none, [{t}, {}] -> [{}, {}] P{t}");
  EXPECT_EQ(run(dot(8, 8, 8), {columns, "", rows}),
            "[{}, {t}], none -> [{}, {}] P{t}");
  EXPECT_EQ(run(add(), {"", partial, partial}),
            "none, [{}, {}] P{t} -> [{}, {}] P{t}");
  // It is no term at a stage either.
  const char *at0 = "[{}, {}], at = {\"pipe\" = [0]}";
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(add(), {"", at0, both}),
            "none, [{}, {}] P{p}@0@1 -> [{}, {}] P{p}@0@1");
}

TEST_F(OpLayoutsTest, TheSecondResultHasALayoutOfItsOwn) {
  ShardingRule pair = elementwise(1, {});
  pair.results.push_back(pair.results[0]);
  LayoutProblem decided = problem(pair, {whole, ""});
  decided.results.push_back(layout(columns));
  OpLayouts layouts = getOpLayouts(decided);
  EXPECT_EQ(show(layouts.operands[0]), "[{}, {t}]");
  EXPECT_EQ(show(layouts.results[0]), "none");
  EXPECT_EQ(show(layouts.results[1]), "[{}, {t}]");
  // Nor does it split by an axis over which the first one is partial.
  ShardingRule sums;
  int i = sums.addFactor(8), j = sums.addFactor(8);
  sums.operands = {{{i}, {j}}};
  sums.results = {{{i}}, {{j}}};
  sums.addLinear(ReductionKind::sum, {{0}});
  decided = problem(sums, {partial, "[{}], partial = [sum{\"tensor\"}]"});
  decided.results.push_back(layout("[{\"tensor\"}]"));
  layouts = getOpLayouts(decided);
  EXPECT_EQ(show(layouts.results[1]), "[{}] P{t}");
  decided.results[1] = layout("[{\"data\"}]");
  EXPECT_EQ(show(getOpLayouts(decided).results[1]), "[{d}] P{t}");
}

TEST_F(OpLayoutsTest, AFactorOfOperandsAloneIsSplitAsTheySay) {
  // Not reduced: what it is split by is not taken from the result.
  ShardingRule rule = dot(8, 8, 8);
  rule.factors[2].kind = FactorKind::Pass;
  EXPECT_EQ(run(rule, {columns, rows, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}]");
  EXPECT_EQ(run(rule, {columns, rows, rows}),
            "[{t}, {}], [{}, {}] -> [{t}, {}]");
  rule.factors[2].kind = FactorKind::Whole;
  EXPECT_EQ(run(rule, {columns, rows, whole}),
            "[{}, {}], [{}, {}] -> [{}, {}]");
}

TEST_F(OpLayoutsTest, WhatIsPinnedAlongAnAxisIsNotSplitByIt) {
  EXPECT_EQ(run(dot(8, 8, 8), {"[{}, {\"data\"}]", dataRows,
                               "[{}, {}], at = {\"data\" = [0]}"}),
            "[{}, {}]@0, [{}, {}]@0 -> [{}, {}]@0");
}

TEST_F(OpLayoutsTest, WaysToRunAreEqualInAllParts) {
  LayoutProblem decided = problem(add(), {partial, partial, partial});
  const OpLayouts one = getOpLayouts(decided);
  EXPECT_TRUE(one == getOpLayouts(decided));
  auto data = dist::AxisAttr::get(&context, "data");
  auto differs = [&](llvm::function_ref<void(OpLayouts &)> change) {
    OpLayouts other = one;
    change(other);
    return !(other == one) && !(one == other);
  };
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.operands[1] = layout(whole); }));
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.results[0] = layout(whole); }));
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.splits[1]->axes = {data}; }));
  EXPECT_TRUE(differs(
      [&](OpLayouts &o) { o.reduced.push_back({data, ReductionKind::sum}); }));
  ASSERT_EQ(one.carried.size(), 1u);
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.carried[0].axis = data; }));
  EXPECT_TRUE(
      differs([&](OpLayouts &o) { o.carried[0].kind = ReductionKind::max; }));
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.carried[0].group = {0}; }));
  EXPECT_TRUE(differs([&](OpLayouts &o) { o.joined = data; }));
}

/// Random decided layouts of random rules.
TEST_F(OpLayoutsTest, WhatAnOpWantsAndMakesIsLegal) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  std::vector<ShardingRule> rules = {
      dot(8, 32, 8),
      dot(8, 16, 4),
      add(),
      elementwise(2, {{0}, {1}}),
      elementwise(1, {}),
      elementwise(2, {{0, 1}}, ReductionKind::max),
      elementwise(2, {{0}}),
      scatter()};
  ShardingRule merge; // 6 x 4 -> 24
  int a = merge.addFactor(6), b = merge.addFactor(4);
  merge.operands = {{{a}, {b}}};
  merge.results = {{{a, b}}};
  merge.addLinear(ReductionKind::sum, {{0}});
  rules.push_back(merge);
  int numPartial = 0, numSplit = 0;
  for (int round = 0; round < 4000; ++round) {
    const ShardingRule &rule = rules[pick(rules.size())];
    auto randomLayout = [&](size_t rank) {
      std::vector<std::string> dims(rank), sums, maxima;
      for (const char *axis : {"data", "tensor"}) {
        std::string name = "\"" + std::string(axis) + "\"";
        int where = pick(static_cast<int>(rank) + 3);
        if (where < static_cast<int>(rank))
          dims[where] += (dims[where].empty() ? "" : ", ") + name;
        else if (where == static_cast<int>(rank))
          (pick(4) ? sums : maxima).push_back(name);
      }
      std::string text = "[";
      for (size_t d = 0; d < rank; ++d)
        text += (d ? ", {" : "{") + dims[d] + "}";
      text += "]";
      std::string sets;
      for (auto [list, kind] : {std::pair(&sums, "sum"), {&maxima, "max"}})
        if (!list->empty())
          sets += (sets.empty() ? "" : ", ") + std::string(kind) + "{" +
                  list->front() +
                  (list->size() > 1 ? ", " + list->back() : "") + "}";
      if (!sets.empty())
        text += ", partial = [" + sets + "]";
      const char *pins[] = {"[0]", "[1]", "[0, 1]"};
      return text + ", at = {\"pipe\" = " + pins[pick(3)] + "}";
    };
    std::vector<std::string> texts;
    for (const TensorFactors &tensor : rule.operands)
      texts.push_back(randomLayout(tensor.size()));
    texts.push_back(randomLayout(rule.results[0].size()));
    LayoutProblem decided = problem(rule, texts);
    OpLayouts layouts = getOpLayouts(decided);
    if (layouts.joined)
      continue;
    numPartial += layouts.results[0].isPartial();
    for (const std::optional<FactorSplit> &split : layouts.splits)
      numSplit += !split->axes.empty();
    ASSERT_EQ(legality(decided, layouts), "")
        << rule.str() << " of " << ::testing::PrintToString(texts);
  }
  EXPECT_GT(numPartial, 800);
  EXPECT_GT(numSplit, 3000);
}

} // namespace
