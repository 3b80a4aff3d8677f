//===- KernelObjectTest.cpp - Manifest, determinism, errors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelObject.h"
#include "KernelRunner.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

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
  EXPECT_EQ(kernel.arguments[3].alignment, 4u);
  EXPECT_EQ(kernel.arguments[1].alignment, 1u);
  EXPECT_EQ(kernel.target, "cpu");
  EXPECT_EQ(kernel.rowsPerBlock, 1);
  EXPECT_EQ(kernel.threadsPerBlock, 1u);
  EXPECT_EQ(kernel.sharedBytes, 0u);
  ASSERT_EQ(kernel.codes.size(), 1u);
  EXPECT_EQ(kernel.codes[0].symbol, kernel.name);
  EXPECT_EQ(kernel.name.substr(0, 2), "k_");
}

TEST(KernelObject, LaunchShapeOfAnotherTarget) {
  GraphContext context;
  context.get()->loadDialect<dist::DistDialect, mlir::func::FuncDialect>();
  auto module = context.parse(R"(
  dist.kernel @k_0(read tensor<4xf64>, write tensor<4xi8>) for "gpu"
    rows(9) launch <rows = 4, threads = 128, shared = 1024, align = 4> by @k_0_gpu
  func.func private @k_0_gpu(memref<4xf64>, memref<4xi8>, index, index, memref<0xi8>)
  )");
  ASSERT_TRUE(module) << context.takeMessages();
  auto manifest = codegen::getManifest(*module);
  ASSERT_TRUE(succeeded(manifest)) << context.takeMessages();
  const rt::plan::KernelInfo &kernel = manifest->kernels[0];
  EXPECT_EQ(kernel.target, "gpu");
  EXPECT_EQ(kernel.rowsPerBlock, 4);
  EXPECT_EQ(kernel.threadsPerBlock, 128u);
  EXPECT_EQ(kernel.sharedBytes, 1024u);
  EXPECT_EQ(kernel.arguments[0].alignment, 8u);
  EXPECT_EQ(kernel.arguments[1].alignment, 4u);
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

TEST(KernelObject, CoordinatesAreBoundedScalars) {
  GraphContext context;
  context.get()
      ->loadDialect<dist::DistDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::arith::ArithDialect>();
  auto module = context.parse(R"(
  dist.kernel @k_0(scalar i32 below 4, write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%c: index, %a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) {
    %v = arith.constant 1.0 : f32
    memref.store %v, %a[%c] : memref<4xf32>
    return
  })");
  ASSERT_TRUE(module) << context.takeMessages();
  auto manifest = codegen::getManifest(*module);
  ASSERT_TRUE(succeeded(manifest)) << context.takeMessages();
  ASSERT_EQ(manifest->kernels[0].arguments.size(), 1u);
  ASSERT_EQ(manifest->kernels[0].scalars.size(), 1u);
  EXPECT_EQ(manifest->kernels[0].scalars[0].low, 0);
  EXPECT_EQ(manifest->kernels[0].scalars[0].high, 3);
  EXPECT_TRUE(succeeded(codegen::compileKernels(*module)));
}

/// The C library's functions that the kernels of `op` on `type` call.
std::set<std::string> callsOf(const std::string &op, const std::string &type) {
  GraphContext context;
  context.get()->loadDialect<dist::DistDialect>();
  bool isBinary = op == "power" || op == "remainder";
  std::string name = op.find('.') == op.npos ? "stablehlo." + op : op;
  std::string tensor = "tensor<35x" + type + ">";
  auto module = context.parse("func.func @f(%x: " + tensor + ", %y: " + tensor +
                              ") -> " + tensor + " {\n%0 = " + name + " %x" +
                              (isBinary ? ", %y" : "") +
                              (op == name ? " : " + tensor + " -> " : " : ") +
                              tensor + "\nreturn %0 : " + tensor + "\n}");
  EXPECT_TRUE(module) << context.takeMessages();
  mlir::PassManager passes(context.get());
  buildKernelsPipeline(passes);
  EXPECT_TRUE(succeeded(passes.run(*module))) << context.takeMessages();
  auto lowered =
      codegen::lowerKernels(module->lookupSymbol<ModuleOp>("kernels"));
  std::set<std::string> calls;
  (*lowered)->walk([&](mlir::LLVM::LLVMFuncOp function) {
    if (function.isExternal())
      calls.insert(function.getName().str());
  });
  return calls;
}

// f32 has polynomials of our own for what models do all day: the same bits on
// every machine, in vectors. The rest is a call in f64, rounded once.
TEST(KernelObject, CallsOfTheLibrary) {
  using Calls = std::set<std::string>;
  struct Row {
    const char *op;
    Calls single, wide;
  };
  for (const Row &row : {Row{"exponential", {}, {"exp"}},
                         {"log", {}, {"log"}},
                         {"tanh", {}, {"tanh"}},
                         {"chlo.erf", {}, {"erf"}},
                         {"logistic", {}, {"exp"}},
                         {"rsqrt", {}, {}},
                         {"sqrt", {}, {}},
                         {"sine", {"sin"}, {"sin"}},
                         {"cosine", {"cos"}, {"cos"}},
                         {"exponential_minus_one", {"expm1"}, {"expm1"}},
                         {"log_plus_one", {"log1p"}, {"log1p"}},
                         {"cbrt", {"cbrt"}, {"cbrt"}},
                         {"chlo.erfc", {"erfc"}, {"erfc"}},
                         {"power", {"pow"}, {"pow"}},
                         {"remainder", {"fmod"}, {"fmod"}}}) {
    EXPECT_EQ(callsOf(row.op, "f32"), row.single) << row.op;
    EXPECT_EQ(callsOf(row.op, "bf16"), row.single) << row.op;
    EXPECT_EQ(callsOf(row.op, "f64"), row.wide) << row.op;
  }
}

// A kernel of types that no plan has, or without code, is an error; so is a
// folder that cannot be written to.
TEST(KernelObject, MalformedKernelsAreErrors) {
  auto kernelOf = [](const std::string &type, const std::string &body) {
    return "dist.kernel @k_0(write tensor<4x" + type +
           ">) for \"cpu\" by @k_0_cpu\n"
           "func.func private @k_0_cpu(memref<4x" +
           type + ">, index, index, memref<0xi8>)\n" + body;
  };
  GraphContext context;
  context.get()->loadDialect<dist::DistDialect, mlir::func::FuncDialect>();
  auto strange = context.parse(kernelOf("f8E4M3FN", ""));
  ASSERT_TRUE(strange) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::getManifest(*strange)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected elements of a type of the plan, got"));
  auto declared = context.parse(kernelOf("f32", ""));
  ASSERT_TRUE(declared) << context.takeMessages();
  EXPECT_TRUE(succeeded(codegen::getManifest(*declared)));
  EXPECT_TRUE(failed(codegen::compileKernels(*declared)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected the code of the kernel, got a declaration of "
                        "'k_0_cpu'"));

  auto module = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return })");
  ASSERT_TRUE(module) << context.takeMessages();
  auto object = codegen::compileKernels(*module);
  ASSERT_TRUE(succeeded(object)) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::linkKernels(*module, *object, "/none/k.so")));
  EXPECT_THAT(context.takeMessages(), HasSubstr("expected to write '/none/"));
  EXPECT_TRUE(failed(codegen::linkKernels(*module, "no object",
                                          testing::TempDir() + "no.so")));
  EXPECT_THAT(context.takeMessages(), HasSubstr("a readable object file"));
}

TEST(KernelObject, UnknownFunctionIsAnError) {
  GraphContext context;
  context.get()->loadDialect<mlir::func::FuncDialect>();
  auto module = context.parse(R"(
  func.func private @elsewhere(memref<4xf32>)
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) {
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
