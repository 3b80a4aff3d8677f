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

} // namespace
