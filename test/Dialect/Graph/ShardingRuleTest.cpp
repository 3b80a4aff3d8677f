//===- ShardingRuleTest.cpp - Rules as values -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using graph::FactorKind;
using graph::ShardingRule;

namespace {
struct Rules : testing::Test {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    })");
  Operation *op = &getFunction(*module).front().front();
  ShardingRule rule =
      mlir::cast<graph::ShardingRuleOpInterface>(op).getShardingRule();

  template <typename Change> ShardingRule changed(Change change) {
    ShardingRule other = rule;
    change(other);
    return other;
  }
  template <typename Change> std::string verify(Change change) {
    bool ok = succeeded(graph::verifyRule(op, changed(change)));
    std::string messages = context.takeMessages();
    EXPECT_EQ(ok, messages.empty());
    return messages;
  }
};
using R = ShardingRule;

TEST_F(Rules, FactorsMultiplyToSizes) {
  std::string prefix = "'stablehlo.dot_general' op ";
  EXPECT_EQ(verify([](R &) {}), "");
  EXPECT_EQ(verify([](R &r) { r.operands.pop_back(); }),
            prefix + "expected a rule for 2 operands and 1 results, got 1 and "
                     "1\n");
  EXPECT_EQ(verify([](R &r) { r.results.emplace_back(); }),
            prefix + "expected a rule for 2 operands and 1 results, got 2 and "
                     "2\n");
  EXPECT_EQ(verify([](R &r) { r.operands[1].pop_back(); }),
            prefix + "expected a rule with 2 dimensions for operand #1, got "
                     "1\n");
  EXPECT_EQ(verify([](R &r) { r.results[0].emplace_back(); }),
            prefix +
                "expected a rule with 2 dimensions for result #0, got 3\n");
  EXPECT_EQ(verify([](R &r) { r.operands[0][1].clear(); }),
            prefix + "expected factors of dim 1 of operand #0 to multiply to "
                     "3, got 1\n");
  EXPECT_EQ(verify([](R &r) { r.results[0][1].push_back(r.addFactor(5)); }),
            prefix + "expected factors of dim 1 of result #0 to multiply to "
                     "4, got 20\n");
  EXPECT_EQ(verify([](R &r) { r.results[0][1].push_back(r.addFactor(1)); }),
            "");
}

// Rules are kept once for all ops that have them.
TEST_F(Rules, AreEqualInAllTheySay) {
  graph::ShardingRuleHash hash;
  EXPECT_TRUE(rule == changed([](R &) {}));
  EXPECT_EQ(hash(rule), hash(changed([](R &) {})));
  auto differs = [&](auto change) { return !(rule == changed(change)); };
  EXPECT_TRUE(differs([](R &r) { r.factors[0].size = 7; }));
  EXPECT_TRUE(differs([](R &r) { r.factors[0].kind = FactorKind::Whole; }));
  EXPECT_TRUE(
      differs([](R &r) { r.factors[0].reduction = ReductionKind::max; }));
  EXPECT_TRUE(differs([](R &r) { r.addFactor(1); }));
  EXPECT_TRUE(differs([](R &r) { r.operands[0][0].clear(); }));
  EXPECT_TRUE(differs([](R &r) { r.results[0][0].clear(); }));
  EXPECT_TRUE(differs([](R &r) { r.carries.clear(); }));
  EXPECT_TRUE(differs([](R &r) { r.carries[0].kind = ReductionKind::max; }));
  EXPECT_TRUE(differs([](R &r) { r.carries[0].groups.clear(); }));
  EXPECT_TRUE(differs([](R &r) { r.addends = {0}; }));
  EXPECT_TRUE(differs([](R &r) { r.distributed = {0}; }));
}

TEST_F(Rules, HaveAShortText) {
  EXPECT_EQ(rule.str(),
            "([a, c],[c, b])->([a, b]) {a=2, b=4, c=3 reduced sum}");
  EXPECT_EQ(changed([](R &r) {
              r.factors[0].kind = FactorKind::Whole;
              r.factors[1].kind = FactorKind::Permuted;
              r.results[0][0].push_back(1);
            }).str(),
            "([a, c],[c, b])->([ab, b]) "
            "{a=2 whole, b=4 permuted, c=3 reduced sum}");
}

// A dim without factors is written as 1; letters go round with a number.
TEST_F(Rules, NamesOfManyFactors) {
  ShardingRule many;
  for (int factor = 0; factor < 53; ++factor)
    many.addFactor(factor + 1);
  many.operands.push_back(graph::TensorFactors{{0}, {}, {25}});
  many.results.push_back(graph::TensorFactors{{26, 27}, {51, 52}});
  EXPECT_EQ(StringRef(many.str()).split(" {").first,
            "([a, 1, z])->([a1b1, z1a2])");
  EXPECT_NE(many.str().find("z=26, a1=27, b1=28, "), std::string::npos);
}

TEST_F(Rules, ValuesWithoutDimsHaveNoFactors) {
  mlir::OwningOpRef<ModuleOp> other = context.parse(R"(
    func.func @f(%x: tensor<2x3xf32>) {
      %0 = builtin.unrealized_conversion_cast %x : tensor<2x3xf32> to i32
      return
    })");
  ASSERT_TRUE(other) << context.takeMessages();
  Operation *cast = &getFunction(*other).front().front();
  ShardingRule none = ShardingRule::forOp(cast);
  EXPECT_EQ(none.str(), "([1, 1])->([]) {}");
  none.operands[0][0].push_back(none.addFactor(2));
  none.operands[0][1].push_back(none.addFactor(3));
  EXPECT_TRUE(succeeded(graph::verifyRule(cast, none)));
  none.results[0].emplace_back();
  EXPECT_TRUE(failed(graph::verifyRule(cast, none)));
  EXPECT_EQ(context.takeMessages(),
            "'builtin.unrealized_conversion_cast' op expected a rule with 0 "
            "dimensions for result #0, got 1\n");
}

TEST_F(Rules, OfElementwiseOpsShareDims) {
  mlir::OwningOpRef<ModuleOp> other = context.parse(R"(
    func.func @f(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    })");
  ASSERT_TRUE(other) << context.takeMessages();
  ShardingRule pointwise =
      ShardingRule::elementwise(&getFunction(*other).front().front());
  EXPECT_EQ(pointwise.str(), "([],[a, b],[a, b])->([a, b]) {a=2, b=3}");
}
} // namespace
