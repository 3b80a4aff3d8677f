//===- KernelObjectTest.cpp - Manifest, determinism, errors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelObject.h"
#include "KernelRunner.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {

const char *const text = R"(
  func.func @f(%x: tensor<4x20xf32>, %m: tensor<4x20xi1>) -> (tensor<4x20xf32>, tensor<4xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.negate %x : tensor<4x20xf32>
    %1 = stablehlo.select %m, %x, %0 : tensor<4x20xi1>, tensor<4x20xf32>
    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32>
    return %1, %2 : tensor<4x20xf32>, tensor<4xf32>
  })";

TEST(KernelObject, ManifestSaysWhatTheKernelTouches) {
  KernelRunner runner(text);
  ASSERT_TRUE(runner.isReady()) << runner.takeMessages();
  ASSERT_EQ(runner.getManifest().kernels.size(), 1u);
  const rt::plan::KernelInfo &kernel = runner.getManifest().kernels[0];
  EXPECT_EQ(kernel.rows, 4);
  EXPECT_EQ(kernel.scratchBytes, 0);
  ASSERT_EQ(kernel.arguments.size(), 4u);
  EXPECT_EQ(kernel.arguments[0].extentBytes, 320);
  EXPECT_EQ(kernel.arguments[1].dtype, rt::DType::i1);
  EXPECT_EQ(kernel.arguments[1].extentBytes, 80);
  EXPECT_EQ(kernel.arguments[1].access, rt::plan::Access::read);
  EXPECT_EQ(kernel.arguments[3].extentBytes, 16);
  EXPECT_EQ(kernel.arguments[3].access, rt::plan::Access::write);
}

TEST(KernelObject, SameKernelsSameBytes) {
  std::string objects[2];
  for (std::string &object : objects) {
    GraphContext context;
    context.get()->loadDialect<dist::DistDialect>();
    auto module = context.parse(text);
    mlir::PassManager passes(context.get());
    buildKernelsPipeline(passes);
    ASSERT_TRUE(succeeded(passes.run(*module)));
    auto made =
        codegen::compileKernels(module->lookupSymbol<ModuleOp>("kernels"));
    ASSERT_TRUE(succeeded(made));
    object = *made;
  }
  EXPECT_EQ(objects[0], objects[1]);
}

TEST(KernelObject, UnknownFunctionIsAnError) {
  GraphContext context;
  context.get()->loadDialect<mlir::func::FuncDialect>();
  auto module = context.parse(R"(
  func.func private @elsewhere(memref<4xf32>)
  func.func private @k.0(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>)
      attributes {llmc.kernel, llmc.access = ["write"], llmc.types = [f32], llmc.rows = 1 : i64, llmc.scratch = 0 : i64} {
    call @elsewhere(%a) : (memref<4xf32>) -> ()
    return
  })");
  ASSERT_TRUE(module) << context.takeMessages();
  auto object = codegen::compileKernels(*module);
  ASSERT_TRUE(succeeded(object)) << context.takeMessages();
  EXPECT_TRUE(failed(
      codegen::linkKernels(*module, *object, testing::TempDir() + "k.so")));
  EXPECT_THAT(context.takeMessages(), HasSubstr("got a call of 'elsewhere'"));
}

} // namespace
