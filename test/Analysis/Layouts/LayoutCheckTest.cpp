//===- LayoutCheckTest.cpp - Layouts of an op against its rule ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One legal and one illegal case for each error of docs/layout-algebra.md,
// section 3, on a mesh of data = 2 and tensor = 2, from plain rules.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutCheck.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

namespace {

class LayoutCheck : public ::testing::Test {
protected:
  LayoutCheck() { context.loadDialect<dist::DistDialect>(); }

  dist::LayoutAttr layout(StringRef text) {
    return dyn_cast_or_null<dist::LayoutAttr>(
        parseAttribute("#dist.layout<@mesh, " + text.str() + ">", &context));
  }

  /// Layouts of the operands, then of the one result.
  std::string check(const ShardingRule &rule, std::vector<std::string> texts) {
    std::string result = texts.back();
    texts.pop_back();
    return check(rule, texts, {result});
  }

  /// Of several results; "" is a value without a layout.
  std::string check(const ShardingRule &rule, std::vector<std::string> operands,
                    std::vector<std::string> results) {
    LayoutProblem problem;
    problem.rule = rule;
    problem.mesh =
        dist::MeshAxesAttr::get(&context,
                                {StringAttr::get(&context, "data"),
                                 StringAttr::get(&context, "tensor")},
                                {2, 2});
    for (const std::string &text : operands)
      problem.operands.push_back(text.empty() ? nullptr : layout(text));
    for (const std::string &text : results)
      problem.results.push_back(text.empty() ? nullptr : layout(text));
    return checkLayouts(problem);
  }

  /// mk, kn -> mn.
  ShardingRule dot() {
    ShardingRule rule;
    int m = rule.addFactor(8), n = rule.addFactor(8);
    int k = rule.addFactor(8, FactorKind::Reduced);
    rule.operands = {{{m}, {k}}, {{k}, {n}}};
    rule.results = {{{m}, {n}}};
    rule.addLinear(ReductionKind::sum, {{0}, {1}});
    return rule;
  }
  /// Same shapes of two dimensions; `groups` of jointly linear operands.
  ShardingRule elementwise(int numOperands,
                           std::vector<SmallVector<int>> groups,
                           int64_t size = 8) {
    ShardingRule rule;
    int i = rule.addFactor(size), j = rule.addFactor(8);
    rule.operands.assign(numOperands, {{i}, {j}});
    rule.results = {{{i}, {j}}};
    if (!groups.empty())
      rule.addLinear(ReductionKind::sum, groups);
    return rule;
  }
  /// Reduces dim 1.
  ShardingRule reduce(ReductionKind reduction = ReductionKind::sum) {
    ShardingRule rule;
    int i = rule.addFactor(8);
    int j = rule.addFactor(8, FactorKind::Reduced, reduction);
    rule.operands = {{{i}, {j}}};
    rule.results = {{{i}}};
    rule.addLinear(reduction, {{0}});
    return rule;
  }

  MLIRContext context;
};

const char *const whole = "[{}, {}]";
const char *const partial = "[{}, {}], partial = [sum{\"tensor\"}]";
const char *const rows = "[{\"tensor\"}, {}]";
const char *const columns = "[{}, {\"tensor\"}]";

TEST_F(LayoutCheck, E1AFactorIsSplitAlikeEverywhere) {
  EXPECT_EQ(check(dot(), {columns, rows, partial}), "");
  EXPECT_EQ(check(dot(), {whole, rows, partial}),
            "factor 2 is split by {} in #0 and by {\"tensor\"} in #1");
  EXPECT_EQ(check(dot(), {rows, whole, rows}), "");
  EXPECT_EQ(check(dot(), {rows, whole, whole}),
            "factor 0 is split by {\"tensor\"} in #0 and by {} in result 0");
  EXPECT_EQ(check(dot(), {"[{\"data\", \"tensor\"}, {}]", whole,
                          "[{\"tensor\", \"data\"}, {}]"}),
            "factor 0 is split by {\"data\", \"tensor\"} in #0 and by "
            "{\"tensor\", \"data\"} in result 0");
}

TEST_F(LayoutCheck, E1AFactorHasOneExtent) {
  ShardingRule add = elementwise(2, {{0, 1}}, /*size=*/7);
  const char *eight = "[{\"data\"}:8, {}]", *ten = "[{\"data\"}:10, {}]";
  EXPECT_EQ(check(add, {eight, eight, eight}), "");
  EXPECT_EQ(check(add, {eight, ten, eight}),
            "factor 0 has extent 8 in #0 and 10 in #1");
}

TEST_F(LayoutCheck, E2AnAxisSplitsOneFactor) {
  EXPECT_EQ(check(dot(), {rows, whole, rows}), "");
  EXPECT_EQ(check(dot(), {rows, columns, "[{\"tensor\"}, {}]"}),
            "factor 1 is split by {\"tensor\"} in #1 and by {} in result 0");
  // Without a result that could show it.
  ShardingRule outer;
  int m = outer.addFactor(8), n = outer.addFactor(8);
  outer.operands = {{{m}}, {{n}}};
  outer.results = {{}};
  EXPECT_EQ(check(outer, {"[{\"tensor\"}]", "[{\"tensor\"}]", "[]"}),
            "axis \"tensor\" splits factor 0 and factor 1");
  EXPECT_EQ(check(outer, {"[{\"tensor\"}]", "[{\"data\"}]", "[]"}), "");
}

TEST_F(LayoutCheck, TwoPartsOfAnAxisMaySplitOneFactor) {
  LayoutProblem problem;
  problem.rule = elementwise(1, {});
  problem.mesh = dist::MeshAxesAttr::get(
      &context, {StringAttr::get(&context, "tensor")}, {4});
  const char *parts = "[{\"tensor\":(2)2, \"tensor\":(1)2}, {}]";
  problem.operands = {layout(parts)};
  problem.results = {layout(parts)};
  ASSERT_TRUE(problem.operands[0]);
  EXPECT_EQ(checkLayouts(problem), "");
  problem.operands = {layout("[{\"tensor\":(1)2}, {\"tensor\":(2)2}]")};
  problem.results = problem.operands;
  EXPECT_EQ(checkLayouts(problem),
            "axis \"tensor\" splits factor 0 and factor 1");
}

TEST_F(LayoutCheck, E3WholeFactorsAreWhole) {
  ShardingRule sort = elementwise(1, {});
  for (FactorKind kind : {FactorKind::Whole, FactorKind::Permuted}) {
    sort.factors[1].kind = kind;
    EXPECT_EQ(check(sort, {rows, rows}), "");
    EXPECT_EQ(check(sort, {columns, columns}),
              "factor 1 must be whole, but is split by {\"tensor\"}");
    EXPECT_EQ(check(sort, {"[{}, {}:10]", "[{}, {}:10]"}),
              "factor 1 must be whole, but is padded to 10");
    EXPECT_EQ(check(sort, {"[{}:10, {}]", "[{}:10, {}]"}), "");
  }
}

TEST_F(LayoutCheck, E4OperandsArePartialWithOneKind) {
  ShardingRule add = elementwise(2, {{0, 1}});
  EXPECT_EQ(check(add, {partial, partial, partial}), "");
  EXPECT_EQ(
      check(add, {partial, "[{}, {}], partial = [max{\"tensor\"}]", partial}),
      "operands are partial over \"tensor\" with kinds sum and max");
}

TEST_F(LayoutCheck, E5APartialValueIsNotSplitByTheSameAxis) {
  EXPECT_EQ(check(dot(), {partial, whole, partial}), "");
  EXPECT_EQ(check(dot(), {partial, columns, columns}),
            "#0 is partial over \"tensor\", which also splits factor 1: reduce "
            "it first");
  // Nor by one that the op reduces.
  ShardingRule rule = dot();
  rule.operands[1] = {{}, {1}};
  EXPECT_EQ(check(rule, {columns, partial, partial}),
            "#1 is partial over \"tensor\", which also splits factor 2: reduce "
            "it first");
}

TEST_F(LayoutCheck, E6OnlyLinearOpsPassPartialValues) {
  ShardingRule multiply = elementwise(2, {{0}, {1}});
  EXPECT_EQ(check(multiply, {partial, whole, partial}), "");
  EXPECT_EQ(check(multiply, {whole, partial, partial}), "");
  EXPECT_EQ(check(multiply, {partial, partial, partial}),
            "#0 and #1 are both partial over \"tensor\": one must be full");
  ShardingRule exponential = elementwise(1, {});
  EXPECT_EQ(check(exponential, {whole, whole}), "");
  EXPECT_EQ(check(exponential, {partial, partial}),
            "not linear in #0, which is partial (sum) over \"tensor\"");
}

TEST_F(LayoutCheck, E7AllSummandsArePartial) {
  ShardingRule add = elementwise(2, {{0, 1}});
  EXPECT_EQ(check(add, {partial, whole, partial}),
            "#1 is full over \"tensor\" where #0 is partial (sum): keep it on "
            "one coordinate first");
  // A maximum with a full value counts it once or often alike.
  ShardingRule maximum = elementwise(2, {});
  maximum.addLinear(ReductionKind::max, {{0, 1}});
  const char *partialMax = "[{}, {}], partial = [max{\"tensor\"}]";
  EXPECT_EQ(check(maximum, {partialMax, whole, partialMax}), "");
}

TEST_F(LayoutCheck, E7AddendsOfAReducedFactorArePartial) {
  ShardingRule scatter;
  int i = scatter.addFactor(8);
  int j = scatter.addFactor(8, FactorKind::Reduced);
  scatter.operands = {{{i}}, {{j}, {i}}};
  scatter.results = {{{i}}};
  scatter.addends = {0, 1};
  const char *sum = "[{}], partial = [sum{\"tensor\"}]";
  EXPECT_EQ(check(scatter, {sum, rows, sum}), "");
  EXPECT_EQ(check(scatter, {"[{}]", rows, sum}),
            "#0 is full over \"tensor\" where the others are partial (sum): "
            "keep it on one coordinate first");
}

TEST_F(LayoutCheck, E7AddendsArePartialAsTheReductionIs) {
  ShardingRule scatter;
  int i = scatter.addFactor(8);
  int j = scatter.addFactor(8, FactorKind::Reduced, ReductionKind::max);
  scatter.operands = {{{i}}, {{j}, {i}}, {{j}}};
  scatter.results = {{{i}}};
  scatter.addends = {0, 1};
  const char *max = "[{}], partial = [max{\"tensor\"}]";
  const char *sum = "[{}], partial = [sum{\"tensor\"}]";
  const char *split = "[{\"tensor\"}]";
  EXPECT_EQ(check(scatter, {max, rows, split, max}), "");
  EXPECT_EQ(check(scatter, {sum, rows, split, max}),
            "#0 is partial over \"tensor\", which also splits factor 1: reduce "
            "it first");
  // All devices may bring the same maximum.
  EXPECT_EQ(check(scatter, {"[{}]", rows, split, max}), "");
  // The second addend alone.
  scatter.factors[j].reduction = ReductionKind::sum;
  scatter.operands = {{{j}, {i}}, {{i}}, {{j}}};
  EXPECT_EQ(check(scatter, {rows, sum, split, sum}), "");
  EXPECT_EQ(check(scatter, {rows, "[{}]", split, sum}),
            "#1 is full over \"tensor\" where the others are partial (sum): "
            "keep it on one coordinate first");
}

TEST_F(LayoutCheck, E8EveryResultIsPartialWhereTheRuleSaysSo) {
  ShardingRule pair = reduce();
  pair.results.push_back(pair.results[0]);
  const char *sum = "[{}], partial = [sum{\"tensor\"}]";
  EXPECT_EQ(check(pair, {columns}, {sum, sum}), "");
  EXPECT_EQ(check(pair, {columns}, {sum, "[{}]"}),
            "result must be partial (sum) over \"tensor\"");
  EXPECT_EQ(check(pair, {columns}, {"", sum}), "");
  EXPECT_EQ(check(pair, {columns}, {"", "[{}]"}),
            "result must be partial (sum) over \"tensor\"");
  EXPECT_EQ(check(pair, {columns}, {"", ""}), "");
}

TEST_F(LayoutCheck, E8ResultsArePartialWhereTheRuleSaysSo) {
  EXPECT_EQ(check(reduce(), {columns, "[{}], partial = [sum{\"tensor\"}]"}),
            "");
  EXPECT_EQ(check(reduce(), {columns, "[{}]"}),
            "result must be partial (sum) over \"tensor\"");
  EXPECT_EQ(check(reduce(), {columns, "[{}], partial = [max{\"tensor\"}]"}),
            "result must be partial (sum) over \"tensor\"");
  EXPECT_EQ(check(reduce(), {whole, "[{}], partial = [sum{\"tensor\"}]"}),
            "result must be full over \"tensor\", got partial (sum)");
  EXPECT_EQ(check(reduce(ReductionKind::max),
                  {columns, "[{}], partial = [max{\"tensor\"}]"}),
            "");
}

TEST_F(LayoutCheck, E9OperandsLiveWhereTheOpDoes) {
  ShardingRule exp = elementwise(1, {}), copy = elementwise(1, {{0}});
  std::string at0 = std::string(whole) + ", at = {\"data\" = [0]}";
  std::string at1 = std::string(whole) + ", at = {\"data\" = [1]}";
  std::string both = std::string(whole) + ", at = {\"data\" = [0, 1]}";
  std::string sum = "[{}, {}], partial = [sum{\"data\"}], "
                    "at = {\"data\" = [0, 1]}";
  EXPECT_EQ(check(exp, {both, at1}), "");
  EXPECT_EQ(check(exp, {whole, at1}), "");
  EXPECT_EQ(check(exp, {at0, at1}), "#0 lives at [0], the op at [1]");
  EXPECT_EQ(check(exp, {at0, both}), "#0 lives at [0], the op at [0, 1]");
  EXPECT_EQ(check(exp, {at0, whole}), "#0 lives at [0], the op everywhere");
  EXPECT_EQ(check(copy, {sum, sum}), "");
  EXPECT_EQ(check(copy, {"[{}, {}], partial = [sum{\"data\"}]", sum}),
            "#0 is partial over \"data\" everywhere, the op lives at [0, 1]");
}

TEST_F(LayoutCheck, E9ResultsLiveInOnePlace) {
  ShardingRule pair = elementwise(2, {});
  pair.results.push_back(pair.results[0]);
  std::string at0 = std::string(whole) + ", at = {\"data\" = [0]}";
  std::string at1 = std::string(whole) + ", at = {\"data\" = [1]}";
  std::string both = std::string(whole) + ", at = {\"data\" = [0, 1]}";
  EXPECT_EQ(check(pair, {at1, both}, {at1, at1}), "");
  EXPECT_EQ(check(pair, {at1, both}, {at1, at0}),
            "results live at [1] and at [0]");
  EXPECT_EQ(check(pair, {both, both}, {both, whole}),
            "results live at [0, 1] and everywhere");
  // The first one that has a layout says where; none says nothing.
  EXPECT_EQ(check(pair, {both, at0}, {"", at1}),
            "#1 lives at [0], the op at [1]");
  EXPECT_EQ(check(pair, {at1, at0}, {at1, ""}),
            "#1 lives at [0], the op at [1]");
  EXPECT_EQ(check(pair, {at1, at0}, {"", ""}), "");
}

TEST_F(LayoutCheck, AxesPourIntoFactorsMajorToMinor) {
  // 16 = 2 x 8 split into its factors.
  ShardingRule split;
  int a = split.addFactor(2), b = split.addFactor(8);
  split.operands = {{{a, b}}};
  split.results = {{{a}, {b}}};
  EXPECT_EQ(
      check(split, {"[{\"data\", \"tensor\"}]", "[{\"data\"}, {\"tensor\"}]"}),
      "");
  EXPECT_EQ(check(split, {"[{\"data\"}]", "[{}, {\"data\"}]"}),
            "factor 0 is split by {\"data\"} in #0 and by {} in result 0");
  ShardingRule odd = elementwise(1, {}, /*size=*/7);
  EXPECT_EQ(check(odd, {rows, rows}),
            "axis \"tensor\" of size 2 does not divide what is left (7) of dim "
            "0 of #0");
}

TEST_F(LayoutCheck, ValuesWithoutLayoutAreLeftAlone) {
  LayoutProblem problem;
  problem.rule = elementwise(2, {});
  problem.mesh = dist::MeshAxesAttr::get(
      &context, {StringAttr::get(&context, "tensor")}, {2});
  problem.operands = {layout(rows), dist::LayoutAttr()};
  problem.results = {layout(rows)};
  EXPECT_EQ(checkLayouts(problem), "");
  // A factor that no layout mentions, before one that is split twice.
  ShardingRule outer;
  int k = outer.addFactor(8), m = outer.addFactor(8), n = outer.addFactor(8);
  outer.operands = {{{k}}, {{m}}, {{n}}};
  outer.results = {{}};
  EXPECT_EQ(check(outer, {"", "[{\"tensor\"}]", "[{\"tensor\"}]", "[]"}),
            "axis \"tensor\" splits factor 1 and factor 2");
}

} // namespace
