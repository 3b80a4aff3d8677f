//===- ElementPathsTest.cpp - From which values, place by place -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/ElementPaths.h"
#include "GraphContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

namespace {

// The nearest way counts; a transpose and a sum keep no places.
TEST(ElementPaths, SourcesHaveTheirDistance) {
  GraphContext context;
  OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %p = stablehlo.tanh %a : tensor<2x2xf32>
      %q = stablehlo.tanh %p : tensor<2x2xf32>
      %r = stablehlo.add %q, %t : tensor<2x2xf32>
      %s = stablehlo.multiply %r, %p : tensor<2x2xf32>
      return %s : tensor<2x2xf32>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  func::FuncOp function = getFunction(*module);
  Value result = function.front().getTerminator()->getOperand(0);
  auto sources = findElementSources(result);
  SmallVector<Value> values;
  for (Operation &op : function.front().without_terminator())
    values.push_back(op.getResult(0));
  auto t = values[0], p = values[1], q = values[2], r = values[3];
  ASSERT_EQ(sources.size(), 6u);
  EXPECT_EQ(sources.lookup(result), 0u);
  EXPECT_EQ(sources.lookup(r), 1u);
  EXPECT_EQ(sources.lookup(p), 1u);
  EXPECT_EQ(sources.lookup(q), 2u);
  EXPECT_EQ(sources.lookup(t), 2u);
  EXPECT_EQ(sources.lookup(function.getArgument(0)), 2u);
  EXPECT_FALSE(sources.contains(function.getArgument(1)));
}

// What depends on a value by way of an earlier trip: %c on %a, which is added
// to it, and %k on %c, which it is after the trip. Nothing else does on %b.
TEST(ElementPaths, CarriedValuesDependOnEarlierTrips) {
  GraphContext context;
  OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %k = dist.enter carry %b of <"l", trips = 4> number(0) : tensor<2xf32> -> tensor<2xf32>
      %n = stablehlo.negate %k : tensor<2xf32>
      %c = dist.enter carry %b of <"l", trips = 4> number(1) : tensor<2xf32> -> tensor<2xf32>
      %t = stablehlo.add %c, %a : tensor<2xf32>
      %o:2 = stablehlo.optimization_barrier %b, %t : tensor<2xf32>, tensor<2xf32>
      %fk = dist.next %k, %c : tensor<2xf32>
      %fc = dist.next %c, %o#1 : tensor<2xf32>
      return %n, %o#0 : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  func::FuncOp function = getFunction(*module);
  llvm::SetVector<Value> values;
  values.insert(function.getArgument(0));
  addDependents(function.front(), values);
  Operation *terminator = function.front().getTerminator();
  EXPECT_TRUE(values.contains(terminator->getOperand(0)));
  EXPECT_FALSE(values.contains(terminator->getOperand(1)));
  EXPECT_EQ(values.size(), 8u);
  auto passed = cast<OpResult>(terminator->getOperand(1));
  EXPECT_EQ(getForwarded(passed)->get(), function.getArgument(1));
  EXPECT_EQ(getForwarded(cast<OpResult>(terminator->getOperand(0))), nullptr);
}

// All that a conditional loop has in a trip depends on its condition.
TEST(ElementPaths, ConditionalLoopsDependOnTheirCondition) {
  GraphContext context;
  OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%a: tensor<i1>, %on: tensor<i1>, %b: tensor<2xf32>) -> tensor<2xf32> {
      %g = dist.enter carry %on of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
      %k = dist.enter carry %b of <"l", conditional = true> number(1) : tensor<2xf32> -> tensor<2xf32>
      %h = stablehlo.and %g, %a : tensor<i1>
      %n = stablehlo.negate %k : tensor<2xf32>
      %fg = dist.next %g, %h : tensor<i1>
      %fk = dist.next %k, %n : tensor<2xf32>
      %r = dist.leave last %fk of <"l", conditional = true> : tensor<2xf32> -> tensor<2xf32>
      return %r : tensor<2xf32>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  func::FuncOp function = getFunction(*module);
  llvm::SetVector<Value> values;
  values.insert(function.getArgument(0));
  addDependents(function.front(), values);
  EXPECT_TRUE(values.contains(function.front().getTerminator()->getOperand(0)));
}

} // namespace
