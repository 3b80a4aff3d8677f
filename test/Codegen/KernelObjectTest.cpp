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
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
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
  codegen::KernelObjects objects[2];
  for (codegen::KernelObjects &object : objects) {
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

// No function is the library's: the same bits on every machine.
TEST(KernelObject, FunctionsAreCode) {
  for (const char *op :
       {"exponential", "log", "tanh", "chlo.erf", "logistic", "rsqrt", "sqrt",
        "sine", "cosine", "exponential_minus_one", "log_plus_one", "cbrt",
        "chlo.erfc", "power", "remainder"})
    for (const char *type : {"f32", "bf16", "f64"})
      EXPECT_EQ(callsOf(op, type), std::set<std::string>()) << op << type;
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
  auto strange = context.parse(kernelOf("f4E2M1FN", ""));
  ASSERT_TRUE(strange) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::getManifest(*strange)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected elements of a type of the plan, got"));
  EXPECT_TRUE(failed(codegen::compileKernels(*strange)));
  EXPECT_EQ(context.takeMessages(),
            "'func.func' op expected 'function_type' of f64, f32, bf16, f16, "
            "floats of 8 bits, i1 or integers of 4, 8, 16, 32 or 64 bits, got "
            "'(memref<4xf4E2M1FN>, "
            "index, index, memref<0xi8>) -> ()', which is not supported\n");
  auto declared = context.parse(kernelOf("f32", ""));
  ASSERT_TRUE(declared) << context.takeMessages();
  EXPECT_TRUE(succeeded(codegen::getManifest(*declared)));
  EXPECT_TRUE(failed(codegen::compileKernels(*declared)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected the code of the kernel, got a declaration of "
                        "'k_0_cpu'"));

  // The second argument of the second kernel.
  auto second = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return }
  dist.kernel @k_1(write tensor<4xf32>, write tensor<4xf4E2M1FN>) for "cpu" by @k_1_cpu
  func.func private @k_1_cpu(memref<4xf32>, memref<4xf4E2M1FN>, index, index, memref<0xi8>))");
  ASSERT_TRUE(second) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::getManifest(*second)));
  EXPECT_EQ(context.takeMessages(), "'dist.kernel' op expected elements of a "
                                    "type of the plan, got 'f4E2M1FN'\n");
  // The code of the second kernel alone.
  second = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return }
  dist.kernel @k_1(write tensor<4xf32>) for "cpu" by @k_1_cpu
  func.func private @k_1_cpu(memref<4xf32>, index, index, memref<0xi8>))");
  ASSERT_TRUE(second) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::compileKernels(*second)));
  EXPECT_EQ(
      context.takeMessages(),
      "expected the code of the kernel, got a declaration of 'k_1_cpu'\n");

  auto module = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return })");
  ASSERT_TRUE(module) << context.takeMessages();
  auto object = codegen::compileKernels(*module);
  ASSERT_TRUE(succeeded(object)) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::linkKernels(*module, *object, "/none/k.so")));
  EXPECT_THAT(context.takeMessages(), HasSubstr("expected to write '/none/"));
  EXPECT_TRUE(failed(codegen::linkKernels(*module, std::string("no object"),
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

// Compilers make calls of these out of loops.
TEST(KernelObject, CopiesOfMemoryAreKnown) {
  for (const char *name : {"memcpy", "memmove", "memset", "memcmp"}) {
    GraphContext context;
    context.get()->loadDialect<mlir::func::FuncDialect>();
    std::string callee = name;
    auto module = context.parse(
        "func.func private @" + callee +
        "(memref<4xf32>)\ndist.kernel @k_0(write tensor<4xf32>) for \"cpu\" "
        "by @k_0_cpu\nfunc.func private @k_0_cpu(%a: memref<4xf32>, %b: index, "
        "%e: index, %s: memref<0xi8>) {\ncall @" +
        callee + "(%a) : (memref<4xf32>) -> ()\nreturn\n}");
    ASSERT_TRUE(module) << context.takeMessages();
    auto object = codegen::compileKernels(*module);
    ASSERT_TRUE(succeeded(object)) << context.takeMessages();
    bool isKnown = succeeded(
        codegen::linkKernels(*module, *object, testing::TempDir() + "k_m.so"));
    EXPECT_EQ(isKnown, callee != "memcmp") << name;
    EXPECT_EQ(context.takeMessages(),
              isKnown ? ""
                      : "expected kernels that need only the C library's "
                        "moves of memory, got a call of 'memcmp'\n");
  }
}

struct Linking : testing::Test {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  codegen::KernelObjects object;

  void SetUp() override {
    context.get()->loadDialect<dist::DistDialect, mlir::func::FuncDialect>();
    module = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) { return })");
    ASSERT_TRUE(module) << context.takeMessages();
    auto made = codegen::compileKernels(*module);
    ASSERT_TRUE(succeeded(made)) << context.takeMessages();
    object = *made;
  }
};

// Nothing is left of an attempt that fails.
TEST_F(Linking, FolderInTheWayIsAnError) {
  std::string path = testing::TempDir() + "k_folder.so";
  llvm::sys::fs::create_directory(path);
  EXPECT_TRUE(failed(codegen::linkKernels(*module, object, path)));
  EXPECT_EQ(context.takeMessages(), "'builtin.module' op expected to write '" +
                                        path + "', got: Is a directory\n");
  for (const char *rest : {".a", ".part", ".log"})
    EXPECT_FALSE(llvm::sys::fs::exists(path + rest)) << rest;
  llvm::sys::fs::remove(path);
}

// An object of another system's format is readable, but not for the linker.
TEST_F(Linking, SaysWhatTheLinkerSays) {
  std::string coff(20, '\0'), path = testing::TempDir() + "k_coff.so";
  coff[0] = 0x64;
  coff[1] = static_cast<char>(0x86);
  EXPECT_TRUE(failed(codegen::linkKernels(*module, coff, path)));
  std::string message = context.takeMessages();
  EXPECT_THAT(message, HasSubstr("' to link '" + path + "', got status 1: "));
  EXPECT_THAT(message, HasSubstr("not an ELF file"));
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}

TEST_F(Linking, LooksForTheLinkerBesideLLVM) {
  std::string path = testing::TempDir() + "k_path.so";
  const char *before = getenv("PATH");
  std::string old = before ? before : "";
  setenv("PATH", "/none", /*overwrite=*/1);
  bool ok = succeeded(codegen::linkKernels(*module, object, path));
  setenv("PATH", old.c_str(), /*overwrite=*/1);
  EXPECT_EQ(ok, llvm::sys::fs::can_execute("/usr/lib/llvm-22/bin/ld.lld"));
  EXPECT_EQ(context.takeMessages(),
            ok ? ""
               : "'builtin.module' op expected the linker 'ld.lld-22' in PATH, "
                 "got none; it comes "
                 "with the package lld-22\n");
  llvm::sys::fs::remove(path);
}

// Functions of integers are computed as they are.
TEST(KernelObject, MathematicsOfIntegers) {
  for (const char *type : {"i8", "i32"}) {
    GraphContext context;
    context.get()
        ->loadDialect<dist::DistDialect, mlir::func::FuncDialect,
                      mlir::memref::MemRefDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
    std::string element = type, memory = "memref<4x" + element + ">";
    auto module = context.parse(
        "dist.kernel @k_0(readwrite tensor<4x" + element +
        ">) for \"cpu\" by @k_0_cpu\nfunc.func private @k_0_cpu(%a: " + memory +
        ", %b: index, %e: index, %s: memref<0xi8>) {\n%v = memref.load %a[%b]"
        " : " +
        memory + "\n%w = math.ctpop %v : " + element +
        "\nmemref.store %w, %a[%b] : " + memory + "\nreturn\n}");
    ASSERT_TRUE(module) << context.takeMessages();
    EXPECT_TRUE(succeeded(codegen::compileKernels(*module)))
        << type << ": " << context.takeMessages();
  }
}

TEST(KernelObject, CodeThatHasNoLowerFormIsAnError) {
  GraphContext context;
  context.get()
      ->loadDialect<dist::DistDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::arith::ArithDialect>();
  auto module = context.parse(R"(
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) {
    %v = stablehlo.constant dense<1.0> : tensor<f32>
    %w = builtin.unrealized_conversion_cast %v : tensor<f32> to f32
    memref.store %w, %a[%b] : memref<4xf32>
    return
  })");
  ASSERT_TRUE(module) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::compileKernels(*module)));
  std::string end = "\nexpected LLVM IR of the kernel, got none\n";
  EXPECT_THAT(context.takeMessages(), testing::EndsWith(end));
  // Nor is there LLVM code of memory that has no number.
  module = context.parse(R"(
  func.func private @f(memref<4xf32, "elsewhere">)
  dist.kernel @k_0(write tensor<4xf32>) for "cpu" by @k_0_cpu
  func.func private @k_0_cpu(%a: memref<4xf32>, %b: index, %e: index, %s: memref<0xi8>) {
    %m = memref.alloca() : memref<4xf32, "elsewhere">
    call @f(%m) : (memref<4xf32, "elsewhere">) -> ()
    return
  })");
  ASSERT_TRUE(module) << context.takeMessages();
  EXPECT_TRUE(failed(codegen::compileKernels(*module)));
  EXPECT_THAT(context.takeMessages(), testing::EndsWith(end));
}

} // namespace
