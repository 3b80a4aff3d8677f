//===- EqualOpsTest.cpp - Which ops could be one --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Transforms/Partition/EqualOps.h"
#include "GraphContext.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
/// The ops of a function of x, y (4 floats), m (2x4 floats) and i (4 integers).
struct Ops {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  SmallVector<Operation *> ops;

  explicit Ops(StringRef body)
      : module(context.parse(("func.func @f(%x: tensor<4xf32>, %y: "
                              "tensor<4xf32>, %m: tensor<2x4xf32>, %i: "
                              "tensor<4xi32>) {\n" +
                              body + "\nreturn\n}")
                                 .str())) {
    EXPECT_TRUE(module) << context.takeMessages();
    if (module)
      for (Operation &op : getFunction(*module).front().without_terminator())
        ops.push_back(&op);
  }
};

bool areEqualOps(StringRef body) {
  Ops ops(body);
  EXPECT_EQ(ops.ops.size(), 2u);
  bool forth = areEqual(ops.ops[0], ops.ops[1]);
  EXPECT_EQ(forth, areEqual(ops.ops[1], ops.ops[0]));
  EXPECT_FALSE(areEqual(ops.ops[0], ops.ops[0])) << "one op is no two";
  return forth;
}

TEST(EqualOps, ApplyTheSameToOtherOperands) {
  EXPECT_TRUE(areEqualOps(R"(%a = stablehlo.tanh %x : tensor<4xf32>
      %b = stablehlo.tanh %y : tensor<4xf32>)"));
  // Sizes may differ, element types may not.
  EXPECT_TRUE(areEqualOps(R"(%a = stablehlo.abs %x : tensor<4xf32>
      %b = stablehlo.abs %m : tensor<2x4xf32>)"));
  EXPECT_FALSE(areEqualOps(R"(%a = stablehlo.abs %x : tensor<4xf32>
      %b = stablehlo.abs %i : tensor<4xi32>)"));
  EXPECT_FALSE(areEqualOps(R"(%a = stablehlo.tanh %x : tensor<4xf32>
      %b = stablehlo.sine %x : tensor<4xf32>)"));
}

TEST(EqualOps, HaveEqualNumbersOfValues) {
  EXPECT_FALSE(
      areEqualOps(R"(%a = "other.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %b = "other.op"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"));
  EXPECT_FALSE(
      areEqualOps(R"(%a = "other.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %b:2 = "other.op"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>))"));
}

// Names are the places where ops stand, all else says what they do.
TEST(EqualOps, HaveEqualAttributesButForNames) {
  EXPECT_FALSE(areEqualOps(
      R"(%a = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32>
      %b = stablehlo.slice %x [1:3] : (tensor<4xf32>) -> tensor<2xf32>)"));
  EXPECT_FALSE(areEqualOps(
      R"(%a = stablehlo.tanh %x {dist.at = array<i64: 0>} : tensor<4xf32>
      %b = stablehlo.tanh %y : tensor<4xf32>)"));
  EXPECT_TRUE(
      areEqualOps(R"(%a = stablehlo.tanh %x {dist.name = "a"} : tensor<4xf32>
      %b = stablehlo.tanh %y {dist.name = "b"} : tensor<4xf32>)"));
  EXPECT_TRUE(areEqualOps(
      R"(%a = "other.op"(%x) {symbol = "a"} : (tensor<4xf32>) -> tensor<4xf32>
      %b = "other.op"(%y) : (tensor<4xf32>) -> tensor<4xf32>)"));
}

TEST(EqualOps, HaveEqualRegions) {
  auto reduce = [](const char *first, const char *second) {
    auto one = [](const char *op) {
      return std::string(R"("other.op"() ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.)") +
             op + R"( %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : () -> ()
      )";
    };
    return areEqualOps(one(first) + one(second));
  };
  EXPECT_TRUE(reduce("add", "add"));
  EXPECT_FALSE(reduce("add", "multiply"));
}

TEST(ApartOps, NeedNothingOfEachOther) {
  Ops chain(R"(%a = stablehlo.tanh %x : tensor<4xf32>
      %b = stablehlo.tanh %y : tensor<4xf32>
      %c = stablehlo.abs %a : tensor<4xf32>
      %d = stablehlo.tanh %c : tensor<4xf32>)");
  auto apart = [&](ArrayRef<int> numbers) {
    SmallVector<Operation *> ops;
    for (int number : numbers)
      ops.push_back(chain.ops[number]);
    return areApart(ops);
  };
  EXPECT_TRUE(apart({}));
  EXPECT_TRUE(apart({3}));
  EXPECT_TRUE(apart({0, 1}));
  EXPECT_TRUE(apart({1, 2}));
  EXPECT_TRUE(apart({1, 3}));
  EXPECT_FALSE(apart({0, 2}));
  EXPECT_FALSE(apart({2, 0}));
  // By way of another op.
  EXPECT_FALSE(apart({0, 3}));
  EXPECT_FALSE(apart({1, 0, 3}));
}

TEST(ApartOps, StandInOneBlock) {
  Ops ops(R"("other.op"() ({
      %z = stablehlo.constant dense<0.0> : tensor<f32>
    }) : () -> ()
    %a = stablehlo.tanh %x : tensor<4xf32>)");
  Operation *inner = &ops.ops[0]->getRegion(0).front().front();
  EXPECT_FALSE(areApart({inner, ops.ops[1]}));
  EXPECT_TRUE(areApart({ops.ops[0], ops.ops[1]}));
}
} // namespace
