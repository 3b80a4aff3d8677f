//===- OpLayoutsTest.cpp - In which splits an op runs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of docs/layout-algebra.md, section 3, by hand, and the property that
// what an op wants and makes is legal by its rule, whatever layouts were
// decided.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

namespace {

class OpLayoutsTest : public ::testing::Test {
protected:
  OpLayoutsTest() { context.loadDialect<dist::DistDialect>(); }

  dist::LayoutAttr layout(StringRef text) {
    return dyn_cast_or_null<dist::LayoutAttr>(
        parseAttribute("#dist.layout<@mesh, " + text.str() + ">", &context));
  }

  dist::MeshAxesAttr mesh() {
    return cast<dist::MeshAxesAttr>(parseAttribute(
        "#dist.mesh_axes<\"pipe\"=2, \"data\"=2, \"tensor\"=2>", &context));
  }

  /// Layouts of the operands, then of the one result.
  LayoutProblem problem(const ShardingRule &rule,
                        std::vector<std::string> texts) {
    LayoutProblem problem;
    problem.rule = rule;
    problem.mesh = mesh();
    for (const std::string &text : texts)
      problem.operands.push_back(layout(text));
    problem.results.push_back(problem.operands.pop_back_val());
    return problem;
  }

  /// Wanted and made layouts, "a, b -> c", without the mesh.
  std::string run(const ShardingRule &rule, std::vector<std::string> texts) {
    LayoutProblem decided = problem(rule, texts);
    OpLayouts layouts = getOpLayouts(decided);
    if (!layouts.joined)
      EXPECT_EQ(legality(decided, layouts), "");
    std::string text;
    for (dist::LayoutAttr want : layouts.operands)
      text += (text.empty() ? "" : ", ") + show(want);
    return text + " -> " + show(layouts.results[0]);
  }

  std::string legality(const LayoutProblem &decided, const OpLayouts &layouts) {
    LayoutProblem made = decided;
    made.operands = layouts.operands;
    made.results = layouts.results;
    return checkLayouts(made);
  }

  /// `[{d}, {}] P{t} @[0]`
  std::string show(dist::LayoutAttr layout) {
    if (!layout)
      return "none";
    std::string text = "[";
    for (dist::DimAttr dim : layout.getDims()) {
      text += text.size() > 1 ? ", {" : "{";
      for (dist::AxisAttr axis : dim.getAxes())
        text += axis.getName().getValue().front();
      text += "}";
    }
    text += "]";
    for (dist::PartialAttr part : layout.getPartial()) {
      text += part.getKind() == ReductionKind::sum ? " P{" : " M{";
      for (dist::AxisAttr axis : part.getAxes())
        text += axis.getName().getValue().front();
      text += "}";
    }
    for (dist::PinAttr pin : layout.getAt())
      for (int64_t c : pin.getCoordinates())
        text += "@" + std::to_string(c);
    return text;
  }

  ShardingRule dot(int64_t m, int64_t k, int64_t n) {
    ShardingRule rule;
    int fm = rule.addFactor(m), fn = rule.addFactor(n);
    int fk = rule.addFactor(k, FactorKind::Reduced);
    rule.operands = {{{fm}, {fk}}, {{fk}, {fn}}};
    rule.results = {{{fm}, {fn}}};
    rule.addLinear(ReductionKind::sum, {{0}, {1}});
    return rule;
  }
  ShardingRule elementwise(int numOperands,
                           std::vector<SmallVector<int>> groups,
                           ReductionKind kind = ReductionKind::sum) {
    ShardingRule rule;
    int i = rule.addFactor(8), j = rule.addFactor(8);
    rule.operands.assign(numOperands, {{i}, {j}});
    rule.results = {{{i}, {j}}};
    if (!groups.empty())
      rule.addLinear(kind, groups);
    return rule;
  }
  ShardingRule add() {
    ShardingRule rule = elementwise(2, {{0, 1}});
    rule.addends = {0, 1};
    return rule;
  }
  /// Rows of a table at positions, added up: table, positions, updates.
  ShardingRule scatter() {
    ShardingRule rule;
    int v = rule.addFactor(16), h = rule.addFactor(8);
    int p = rule.addFactor(8, FactorKind::Reduced);
    rule.operands = {{{v}, {h}}, {{p}}, {{p}, {h}}};
    rule.results = {{{v}, {h}}};
    rule.addLinear(ReductionKind::sum, {{0, 2}});
    rule.addends = {0, 2};
    return rule;
  }

  MLIRContext context;
};

const char *const whole = "[{}, {}]";
const char *const rows = "[{\"tensor\"}, {}]";
const char *const columns = "[{}, {\"tensor\"}]";
const char *const dataRows = "[{\"data\"}, {}]";
const char *const partial = "[{}, {}], partial = [sum{\"tensor\"}]";

TEST_F(OpLayoutsTest, ReducedFactorsAreSplitAsOperandsSay) {
  // Column- and row-parallel products.
  EXPECT_EQ(
      run(dot(8, 8, 8), {dataRows, columns, "[{\"data\"}, {\"tensor\"}]"}),
      "[{d}, {}], [{}, {t}] -> [{d}, {t}]");
  EXPECT_EQ(run(dot(8, 8, 8), {"[{\"data\"}, {\"tensor\"}]", rows, dataRows}),
            "[{d}, {t}], [{t}, {}] -> [{d}, {}] P{t}");
  // The one operand that is whole is sliced.
  EXPECT_EQ(run(dot(8, 8, 8), {whole, rows, whole}),
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

TEST_F(OpLayoutsTest, TheLargestOperandSplitsAReducedFactor) {
  const char *dataColumns = "[{}, {\"data\"}]";
  const char *first = "[{}, {d}], [{d}, {}] -> [{}, {}] P{d}";
  EXPECT_EQ(run(dot(64, 8, 8), {dataColumns, rows, whole}), first);
  EXPECT_EQ(run(dot(8, 8, 64), {dataColumns, rows, whole}),
            "[{}, {t}], [{t}, {}] -> [{}, {}] P{t}");
  EXPECT_EQ(run(dot(8, 8, 8), {dataColumns, rows, whole}), first);
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

TEST_F(OpLayoutsTest, PartialSumsAreCarriedWhereDecided) {
  EXPECT_EQ(run(add(), {partial, partial, partial}),
            "[{}, {}] P{t}, [{}, {}] P{t} -> [{}, {}] P{t}");
  EXPECT_EQ(run(add(), {partial, whole, partial}),
            "[{}, {}] P{t}, [{}, {}] P{t} -> [{}, {}] P{t}");
  EXPECT_EQ(run(add(), {partial, partial, whole}),
            "[{}, {}], [{}, {}] -> [{}, {}]");
  // Of two factors the one that is defined last carries.
  EXPECT_EQ(run(elementwise(2, {{0}, {1}}), {partial, partial, partial}),
            "[{}, {}], [{}, {}] P{t} -> [{}, {}] P{t}");
  EXPECT_EQ(run(elementwise(1, {}), {partial, partial}),
            "[{}, {}] -> [{}, {}]");
  // Nothing is kept for an idempotent kind.
  EXPECT_EQ(run(elementwise(2, {{0, 1}}, ReductionKind::max),
                {"[{}, {}], partial = [max{\"tensor\"}]", whole,
                 "[{}, {}], partial = [max{\"tensor\"}]"}),
            "[{}, {}] M{t}, [{}, {}] -> [{}, {}] M{t}");
}

TEST_F(OpLayoutsTest, OneDeviceContributesAnAddend) {
  EXPECT_EQ(run(scatter(), {whole, "[{\"data\"}]", dataRows, rows}),
            "[{t}, {}] P{d}, [{d}], [{d}, {}] -> [{t}, {}] P{d}");
}

TEST_F(OpLayoutsTest, WholeFactorsAreGathered) {
  ShardingRule sort = elementwise(1, {});
  sort.factors[1].kind = FactorKind::Whole;
  EXPECT_EQ(run(sort, {columns, columns}), "[{}, {}] -> [{}, {}]");
  EXPECT_EQ(run(sort, {rows, rows}), "[{t}, {}] -> [{t}, {}]");
}

TEST_F(OpLayoutsTest, AnOpLivesWhereItsResultDoes) {
  EXPECT_EQ(
      run(elementwise(1, {}), {"[{\"data\"}, {}], at = {\"pipe\" = [0]}",
                               "[{\"data\"}, {}], at = {\"pipe\" = [1]}"}),
      "[{d}, {}]@1 -> [{d}, {}]@1");
}

TEST_F(OpLayoutsTest, ASumOfValuesAtDisjointStagesIsAJoin) {
  const char *at0 =
      "[{}, {}], partial = [sum{\"data\"}], at = {\"pipe\" = [0]}";
  const char *at1 =
      "[{}, {}], partial = [sum{\"data\"}], at = {\"pipe\" = [1]}";
  const char *both = "[{}, {}], partial = [sum{\"data\", \"pipe\"}], "
                     "at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(add(), {at1, at0, both}),
            "[{}, {}] P{d}@1, [{}, {}] P{d}@0 -> [{}, {}] P{dp}@0@1");
  EXPECT_TRUE(getOpLayouts(problem(add(), {at1, at0, both})).joined);
  // Decided without partial sums, as before reductions are placed.
  EXPECT_TRUE(
      getOpLayouts(problem(add(), {"[{}, {}], at = {\"pipe\" = [1]}",
                                   "[{}, {}], at = {\"pipe\" = [0]}",
                                   "[{}, {}], at = {\"pipe\" = [0, 1]}"}))
          .joined);
  // A third term is added to the sum at its stage.
  EXPECT_FALSE(getOpLayouts(problem(add(), {both, at0, both})).joined);
  EXPECT_EQ(run(add(), {both, at0, both}),
            "[{}, {}] P{dp}@0@1, [{}, {}] P{dp}@0@1 -> [{}, {}] P{dp}@0@1");
  // Two terms at one stage are added there.
  EXPECT_FALSE(getOpLayouts(problem(add(), {at0, at0, both})).joined);
  // A difference is no sum: both are lifted.
  ShardingRule subtract = elementwise(2, {{0, 1}});
  EXPECT_FALSE(getOpLayouts(problem(subtract, {at1, at0, both})).joined);
  EXPECT_EQ(run(subtract, {at1, at0, both}),
            "[{}, {}] P{dp}@0@1, [{}, {}] P{dp}@0@1 -> [{}, {}] P{dp}@0@1");
}

TEST_F(OpLayoutsTest, ASumThatIsDecidedWholeCarriesNothing) {
  const char *sum = "[{}, {}], partial = [sum{\"pipe\"}], "
                    "at = {\"pipe\" = [0, 1]}";
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(add(), {sum, both, both}),
            "[{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutsTest, AnOpWithAnotherOperandIsNoSum) {
  // Two terms of three operands: what is sent to where the op runs.
  ShardingRule rule = elementwise(3, {{0, 1}});
  rule.addends = {0, 1};
  const char *at1 = "[{}, {}], at = {\"pipe\" = [1]}";
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(rule, {at1, both, both, both}),
            "[{}, {}]@0@1, [{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutsTest, AFactorThatIsElsewhereIsBroughtToAllStages) {
  const char *sum = "[{}, {}], partial = [sum{\"pipe\"}], "
                    "at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(elementwise(2, {{0}}), {sum, "[{}, {}], at = {\"pipe\" = [1]}",
                                        "[{}, {}], at = {\"pipe\" = [0, 1]}"}),
            "[{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutsTest, AnOpOfOneOperandIsNoSum) {
  EXPECT_EQ(run(elementwise(1, {{0}}), {"[{}, {}], at = {\"pipe\" = [1]}",
                                        "[{}, {}], at = {\"pipe\" = [0, 1]}"}),
            "[{}, {}]@0@1 -> [{}, {}]@0@1");
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

/// Random decided layouts of random rules.
TEST_F(OpLayoutsTest, WhatAnOpWantsAndMakesIsLegal) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  std::vector<ShardingRule> rules = {
      dot(8, 8, 8),
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
