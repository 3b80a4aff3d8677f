//===- KernelCode.cpp - The code that kernels become ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llmc-kernel-code <target> <program.mlir>: compiles the module @kernels of a
// program after phase 7a for a target as `llmc compile --target` takes it, and
// prints the code of each image.
//
// Test: test/Codegen/ptx.test
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace llmc;

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: llmc-kernel-code <target> <program.mlir>\n";
    return 2;
  }
  auto target = codegen::CodeTarget::parse(argv[1]);
  if (!target.ok() || !target->isDevice()) {
    llvm::errs() << "expected a target of devices, got '" << argv[1] << "'\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto program = mlir::parseSourceFile<mlir::ModuleOp>(argv[2], &context);
  if (!program)
    return 1;
  auto kernels = program->lookupSymbol<mlir::ModuleOp>("kernels");
  if (!kernels) {
    llvm::errs() << argv[2] << ": expected a module @kernels, got none\n";
    return 1;
  }
  auto manifest = codegen::getManifest(kernels);
  if (failed(manifest) ||
      failed(codegen::compileDeviceKernels(kernels, *target, *manifest)))
    return 1;
  for (const rt::plan::KernelImage &image : manifest->images)
    llvm::outs() << image.data;
  return 0;
}
