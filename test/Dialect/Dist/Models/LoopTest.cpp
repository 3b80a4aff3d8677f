//===- LoopTest.cpp - Answers of enter, next and leave --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "RuleHarness.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace llmc;
using namespace llmc::test;

namespace {

/// The rules of the ops of a function, one after the other.
std::string printRules(StringRef text) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(text);
  if (!module)
    return context.takeMessages();
  std::string rules;
  for (mlir::Operation &op : getFunction(*module).front().without_terminator())
    rules +=
        cast<graph::ShardingRuleOpInterface>(op).getShardingRule().str() + "\n";
  return rules;
}

TEST(Loop, RowsAreWholeAlongTheTrips) {
  EXPECT_EQ(printRules(R"(
    func.func @f(%W: tensor<3x4x5xf64>) -> tensor<3x4x5xf64> {
      %w = dist.enter row %W of <"l", trips = 3> : tensor<3x4x5xf64> -> tensor<4x5xf64>
      %s = dist.leave stack %w of <"l", trips = 3> : tensor<4x5xf64> -> tensor<3x4x5xf64>
      return %s : tensor<3x4x5xf64>
    })"),
            "([a, b, c])->([b, c]) {a=3 whole, b=4, c=5}\n"
            "([b, c])->([a, b, c]) {a=3 whole, b=4, c=5}\n");
}

TEST(Loop, CarriedValuesLieAlike) {
  std::string rules = printRules(R"(
    func.func @f(%v: tensor<4x5xf64>) -> tensor<4x5xf64> {
      %x = dist.enter carry %v of <"l", trips = 3> number(0) : tensor<4x5xf64> -> tensor<4x5xf64>
      %f = dist.next %x, %x : tensor<4x5xf64>
      %r = dist.leave last %f of <"l", trips = 3> : tensor<4x5xf64> -> tensor<4x5xf64>
      return %r : tensor<4x5xf64>
    })");
  EXPECT_EQ(rules, "([a, b])->([a, b]) {a=4, b=5}\n"
                   "([a, b],[a, b])->([a, b]) {a=4, b=5}\n"
                   "([a, b])->([a, b]) {a=4, b=5}\n");
}

/// Whether a sum that nobody has added up passes the op at `index`.
bool passesSums(StringRef text, unsigned index) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(text);
  auto op = std::next(getFunction(*module).front().begin(), index);
  graph::ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(*op).getShardingRule();
  return llvm::any_of(rule.carries, [](const graph::Linearity &linear) {
    return linear.kind == ReductionKind::sum;
  });
}

TEST(Loop, SumsPassWhatIsNotCarried) {
  const char *text = R"(
    func.func @f(%W: tensor<3xf64>, %v: tensor<f64>) -> (tensor<f64>, tensor<3xf64>, tensor<f64>) {
      %w = dist.enter row %W of <"l", trips = 3> : tensor<3xf64> -> tensor<f64>
      %c = dist.enter same %v of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      %x = dist.enter carry %v of <"l", trips = 3> number(0) : tensor<f64> -> tensor<f64>
      %f = dist.next %x, %w : tensor<f64>
      %r = dist.leave last %f of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      %s = dist.leave stack %w of <"l", trips = 3> : tensor<f64> -> tensor<3xf64>
      %t = dist.leave sum %c of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      return %r, %s, %t : tensor<f64>, tensor<3xf64>, tensor<f64>
    })";
  std::vector<bool> passes;
  for (unsigned i = 0; i < 7; ++i)
    passes.push_back(passesSums(text, i));
  EXPECT_EQ(passes,
            std::vector<bool>({true, true, false, false, false, true, true}));
}

} // namespace
