//===- OpLayoutSumsTest.cpp - Which ops carry partial sums, and joins -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpLayoutsFixture.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::test;

namespace {

using OpLayoutSumsTest = OpLayoutsTest;

TEST_F(OpLayoutSumsTest, PartialSumsAreCarriedWhereDecided) {
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

TEST_F(OpLayoutSumsTest, TheFactorThatIsDefinedLastCarries) {
  context.allowUnregisteredDialects();
  const char *first = "[{}, {}] P{t}, [{}, {}]";
  const char *second = "[{}, {}], [{}, {}] P{t}";
  auto carries = [&](const std::string &operands, bool isNested = false) {
    std::string around =
        isNested ? "\"t.r\"() ({ %c = \"t.c\"() : () -> f32 " : "";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "\"t.f\"() ({ ^bb0(%x: f32): %a = \"t.a\"() : () -> f32 "
        "%b = \"t.b\"() : () -> f32 " +
            around + "\"t.m\"(" + operands + ") : (f32, f32) -> () " +
            (isNested ? "}) : () -> () " : "") + "}) : () -> ()",
        ParserConfig(&context));
    LayoutProblem decided =
        problem(elementwise(2, {{0}, {1}}), {partial, partial, partial});
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == "t.m")
        decided.op = op;
    });
    EXPECT_TRUE(decided.op);
    OpLayouts layouts = getOpLayouts(decided);
    return show(layouts.operands[0]) + ", " + show(layouts.operands[1]);
  };
  EXPECT_EQ(carries("%a, %b"), second);
  EXPECT_EQ(carries("%b, %a"), first);
  // An argument is defined before all ops.
  EXPECT_EQ(carries("%x, %a"), second);
  EXPECT_EQ(carries("%a, %x"), first);
  // Of two blocks the second operand counts as the later one.
  EXPECT_EQ(carries("%a, %c", /*isNested=*/true), second);
  EXPECT_EQ(carries("%c, %a", /*isNested=*/true), second);
}

TEST_F(OpLayoutSumsTest, OneDeviceContributesAnAddend) {
  EXPECT_EQ(run(scatter(), {whole, "[{\"data\"}]", dataRows, rows}),
            "[{t}, {}] P{d}, [{d}], [{d}, {}] -> [{t}, {}] P{d}");
}

TEST_F(OpLayoutSumsTest, WholeFactorsAreGathered) {
  ShardingRule sort = elementwise(1, {});
  sort.factors[1].kind = FactorKind::Whole;
  EXPECT_EQ(run(sort, {columns, columns}), "[{}, {}] -> [{}, {}]");
  EXPECT_EQ(run(sort, {rows, rows}), "[{t}, {}] -> [{t}, {}]");
}

TEST_F(OpLayoutSumsTest, AnOpLivesWhereItsResultDoes) {
  EXPECT_EQ(
      run(elementwise(1, {}), {"[{\"data\"}, {}], at = {\"pipe\" = [0]}",
                               "[{\"data\"}, {}], at = {\"pipe\" = [1]}"}),
      "[{d}, {}]@1 -> [{d}, {}]@1");
}

TEST_F(OpLayoutSumsTest, ASumOfValuesAtDisjointStagesIsAJoin) {
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

TEST_F(OpLayoutSumsTest, ASumThatIsDecidedWholeCarriesNothing) {
  const char *sum = "[{}, {}], partial = [sum{\"pipe\"}], "
                    "at = {\"pipe\" = [0, 1]}";
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(add(), {sum, both, both}),
            "[{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutSumsTest, AnOpWithAnotherOperandIsNoSum) {
  // Two terms of three operands: what is sent to where the op runs.
  ShardingRule rule = elementwise(3, {{0, 1}});
  rule.addends = {0, 1};
  const char *at1 = "[{}, {}], at = {\"pipe\" = [1]}";
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(rule, {at1, both, both, both}),
            "[{}, {}]@0@1, [{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutSumsTest, AFactorThatIsElsewhereIsBroughtToAllStages) {
  const char *sum = "[{}, {}], partial = [sum{\"pipe\"}], "
                    "at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(elementwise(2, {{0}}), {sum, "[{}, {}], at = {\"pipe\" = [1]}",
                                        "[{}, {}], at = {\"pipe\" = [0, 1]}"}),
            "[{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutSumsTest, AnOpOfOneOperandIsNoSum) {
  EXPECT_EQ(run(elementwise(1, {{0}}), {"[{}, {}], at = {\"pipe\" = [1]}",
                                        "[{}, {}], at = {\"pipe\" = [0, 1]}"}),
            "[{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutSumsTest, AProductIsCarriedAcrossStagesWhereAllAreTerms) {
  ShardingRule multiply = elementwise(2, {{0, 1}}, ReductionKind::product);
  const char *overTensor = "[{}, {}], partial = [product{\"tensor\"}]";
  EXPECT_EQ(run(multiply, {overTensor, whole, overTensor}),
            "[{}, {}] M{t}, [{}, {}] M{t} -> [{}, {}] M{t}");
  const char *both = "[{}, {}], at = {\"pipe\" = [0, 1]}";
  const char *product = "[{}, {}], partial = [product{\"pipe\"}], "
                        "at = {\"pipe\" = [0, 1]}";
  EXPECT_EQ(run(multiply, {product, product, product}),
            "[{}, {}] M{p}@0@1, [{}, {}] M{p}@0@1 -> [{}, {}] M{p}@0@1");
  EXPECT_EQ(run(multiply, {product, both, product}),
            "[{}, {}]@0@1, [{}, {}]@0@1 -> [{}, {}]@0@1");
}

TEST_F(OpLayoutSumsTest, AnAddendOfAMaximumMayBeWithAll) {
  ShardingRule rule = scatter();
  rule.factors[2].reduction = ReductionKind::max;
  EXPECT_EQ(run(rule, {whole, "[{\"data\"}]", dataRows, whole}),
            "[{}, {}], [{d}], [{d}, {}] -> [{}, {}] M{d}");
  EXPECT_EQ(run(rule, {"[{}, {}], partial = [max{\"data\"}]", "[{\"data\"}]",
                       dataRows, whole}),
            "[{}, {}] M{d}, [{d}], [{d}, {}] -> [{}, {}] M{d}");
}

TEST_F(OpLayoutSumsTest, AJoinKeepsOtherPins) {
  const char *at0 = "[{}, {}], at = {\"data\" = [1], \"pipe\" = [0]}";
  const char *at1 = "[{}, {}], at = {\"data\" = [1], \"pipe\" = [1]}";
  const char *both = "[{}, {}], partial = [sum{\"pipe\"}], "
                     "at = {\"data\" = [1], \"pipe\" = [0, 1]}";
  LayoutProblem decided = problem(add(), {at1, at0, both});
  OpLayouts layouts = getOpLayouts(decided);
  EXPECT_TRUE(layouts.joined);
  EXPECT_EQ(layouts.operands[0], layout(at1));
  EXPECT_EQ(layouts.operands[1], layout(at0));
}

} // namespace
