//===- SignatureTest.cpp - The ports of a function ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using dist::PortAttr;
using dist::PortKind;
using mlir::FlatSymbolRefAttr;

namespace {
constexpr const char *kProgram = R"(
  dist.mesh @mesh = <"d"=2>
  dist.state @w : tensor<4xf32> {role = parameter}
  dist.buffer @w.local of @w : tensor<2xf32> holds [#dist.box<@w, <@mesh, [{"d"}]>, [0]>]
  func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", data = <"data">>},
      %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<4xf32> {dist.port = #dist.port<parameter @v>},
      %n: tensor<f32>) -> (tensor<4xf32> {dist.port = #dist.port<gradient @v>}, tensor<f32> {dist.port = #dist.port<output "a", metric = "a$">}) {
    return %x, %n : tensor<4xf32>, tensor<f32>
  })";

struct Program {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(kProgram);
  mlir::func::FuncOp function =
      module ? getFunction(*module) : mlir::func::FuncOp();

  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(context.get(), name);
  }
};

TEST(Signature, FindsPortsByKindAndSymbol) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  dist::Signature signature(program.function);
  EXPECT_EQ(signature.findArgument(PortKind::Input), 0u);
  EXPECT_EQ(signature.findArgument(PortKind::Parameter), 1u);
  EXPECT_EQ(signature.findArgument(PortKind::Parameter, program.symbol("v")),
            2u);
  EXPECT_EQ(signature.findArgument(PortKind::Gradient, program.symbol("v")),
            std::nullopt);
  EXPECT_EQ(signature.findResult(PortKind::Gradient, program.symbol("v")), 0u);
  EXPECT_EQ(signature.findResult(PortKind::Gradient, program.symbol("w")),
            std::nullopt);
  EXPECT_EQ(signature.findResult(PortKind::Loss), std::nullopt);
}

TEST(Signature, ReadsWhatAPortSays) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  dist::Signature signature(program.function);
  PortAttr input = signature.arguments[0], state = signature.arguments[1];
  PortAttr gradient = signature.results[0], output = signature.results[1];
  EXPECT_FALSE(signature.arguments[3]);
  EXPECT_EQ(dist::getInput(input), "x");
  EXPECT_EQ(dist::getState(state), program.symbol("w"));
  EXPECT_FALSE(dist::getState(gradient));
  EXPECT_EQ(dist::getGradientOf(gradient), program.symbol("v"));
  EXPECT_EQ(dist::getStateOrGradientOf(gradient), program.symbol("v"));
  EXPECT_EQ(dist::getMetric(output), "a$");
  EXPECT_TRUE(dist::isSum(gradient));
  EXPECT_FALSE(dist::isScalarSum(gradient));
  // A null port says nothing.
  EXPECT_FALSE(dist::isSum({}) || dist::isPort({}, PortKind::Input) ||
               dist::getState({}) || dist::getMetric({}) ||
               dist::getLayout(PortAttr()));
}

TEST(Signature, AllViewsOfAValueAreInOneSlot) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  PortAttr input = dist::getArgumentPort(program.function, 0);
  auto layout = dist::LayoutAttr::getReplicated(program.symbol("mesh"), 1);
  PortAttr placed = input.withLayout(layout);
  EXPECT_NE(placed, input);
  EXPECT_EQ(placed.getSlot(), input.getSlot());
  EXPECT_TRUE(placed.isInSlot(input));
  PortAttr gradient = dist::getResultPort(program.function, 0);
  EXPECT_NE(gradient.asReduced().getSlot(), gradient.getSlot());
  EXPECT_FALSE(gradient.asReduced().isInSlot(gradient));
}

TEST(Signature, WritesAllPortsAtOnce) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  dist::Signature signature(program.function);
  auto layout = dist::LayoutAttr::getReplicated(program.symbol("mesh"), 1);
  signature.setLayouts({layout, {}, layout, {}}, {layout, {}});
  std::swap(signature.arguments[0], signature.arguments[3]);
  signature.write(program.function);
  EXPECT_FALSE(dist::getArgumentPort(program.function, 0));
  EXPECT_EQ(dist::getInput(dist::getArgumentPort(program.function, 3)), "x");
  EXPECT_EQ(dist::getLayout(dist::getArgumentPort(program.function, 2)),
            layout);
  EXPECT_FALSE(dist::getLayout(dist::getArgumentPort(program.function, 1)));
  EXPECT_EQ(dist::getLayout(dist::getResultPort(program.function, 0)), layout);
  EXPECT_TRUE(succeeded(mlir::verify(*program.module)));
}

TEST(Signature, LeavesOtherAttributesWhereTheyAre) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  mlir::func::FuncOp function = program.function;
  auto unit = mlir::UnitAttr::get(program.context.get());
  function.setArgAttr(3, "other.mark", unit);
  function.setResultAttr(0, "other.mark", unit);
  dist::Signature signature(function);
  PortAttr port = signature.results[0];
  signature.results[0] = {};
  signature.write(function);
  EXPECT_FALSE(dist::getResultPort(function, 0));
  EXPECT_EQ(function.getResultAttr(0, "other.mark"), unit);
  EXPECT_EQ(function.getArgAttr(3, "other.mark"), unit);
  EXPECT_EQ(function.getArgAttrDict(0).size(), 1u);
  EXPECT_EQ(function.getResultAttrDict(1).size(), 1u);
  signature.results[0] = port;
  signature.write(function);
  EXPECT_EQ(dist::getResultPort(function, 0), port);
  EXPECT_EQ(function.getResultAttrDict(0).size(), 2u);
}

TEST(StateBuffers, AreFoundByTheirState) {
  Program program;
  ASSERT_TRUE(program.module) << program.context.takeMessages();
  dist::StateBuffers buffers(*program.module);
  dist::BufferOp found = buffers.lookup(program.symbol("w").getAttr());
  ASSERT_TRUE(found);
  EXPECT_EQ(found.getSymName(), "w.local");
  EXPECT_FALSE(buffers.lookup(program.symbol("v").getAttr()));
  EXPECT_FALSE(
      dist::StateBuffers(nullptr).lookup(program.symbol("w").getAttr()));
}
} // namespace
