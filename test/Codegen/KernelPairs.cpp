//===- KernelPairs.cpp - Each kernel of a program on both targets ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llmc-kernel-pairs <program.mlir> [<object>]: forms the kernels of a program
// before phase 7a for processors and for GPUs, runs each on the same random
// memory, the ones as functions and the others thread by thread (LaneRunner.h),
// and compares all bits of what they write. Prints
//
//   64 of 64 kernels with the same arguments, 64 with the same bits
//
// and fails where bits differ or a thread does wrong. `object` is where the
// processor's kernels are left, for llmc-kernel-bits.
//
// Test: test/Codegen/example-kernels.test
//===----------------------------------------------------------------------===//

#include "LaneRunner.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <random>

using namespace llmc;
using llmc::test::LaneRunner;

namespace {
/// The kernels of a program for one target.
struct Kernels {
  mlir::OwningOpRef<mlir::ModuleOp> program;
  mlir::ModuleOp module;
  rt::plan::Manifest manifest;
  void *library = nullptr;

  /// Its object stays where it has a name.
  bool form(mlir::MLIRContext &context, const char *file,
            const codegen::CodeTarget &target, const char *object = nullptr);
  bool write(const codegen::CodeTarget &target, StringRef path);
  std::vector<dist::KernelOp> list() {
    auto range = module.getOps<dist::KernelOp>();
    return {range.begin(), range.end()};
  }
};
} // namespace

bool Kernels::write(const codegen::CodeTarget &target, StringRef path) {
  auto made = codegen::getManifest(module);
  if (failed(made))
    return false;
  manifest = *made;
  if (!target.isDevice()) {
    auto objects = codegen::compileKernels(module);
    return succeeded(objects) &&
           succeeded(codegen::linkKernels(module, *objects, path));
  }
  if (failed(codegen::compileDeviceKernels(module, target, manifest)))
    return false;
  std::ofstream(path.str(), std::ios::binary) << manifest.images[0].data;
  return true;
}

bool Kernels::form(mlir::MLIRContext &context, const char *file,
                   const codegen::CodeTarget &target, const char *object) {
  program = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!program)
    return false;
  mlir::PassManager passes(&context);
  buildKernelsPipeline(passes, target.name);
  if (failed(passes.run(*program)))
    return false;
  module = program->lookupSymbol<mlir::ModuleOp>("kernels");
  llvm::SmallString<128> path(object ? object : "");
  if (!module ||
      (!object && llvm::sys::fs::createTemporaryFile("kernels", "so", path)))
    return false;
  if (write(target, path))
    library =
        dlopen(llvm::sys::path::is_absolute(path) ? path.c_str()
                                                  : ("./" + path).str().c_str(),
               RTLD_NOW | RTLD_LOCAL);
  if (!object)
    llvm::sys::fs::remove(path);
  return library;
}

/// Random memory of each argument; integers are small and not negative.
static std::vector<std::vector<char>> draw(dist::KernelOp kernel,
                                           std::mt19937 &random) {
  std::vector<std::vector<char>> memory;
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int> whole(0, 1);
  for (dist::ArgumentAttr argument : kernel.getArgumentRange()) {
    if (argument.isScalar())
      continue;
    HostTensor tensor(mlir::cast<mlir::RankedTensorType>(argument.getType()));
    bool isFloat = mlir::isa<mlir::FloatType>(
        mlir::cast<mlir::RankedTensorType>(argument.getType())
            .getElementType());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (isFloat)
        tensor.setFloat(i, real(random));
      else
        tensor.setInt(i, whole(random));
    memory.emplace_back(tensor.bytes(), tensor.bytes() + tensor.getNumBytes());
  }
  return memory;
}

namespace {
/// A call of either kernel on its own copy of memory.
struct Call {
  Call(dist::KernelOp kernel, std::vector<std::vector<char>> drawn)
      : memory(std::move(drawn)) {
    for (std::vector<char> &bytes : memory)
      pointers.push_back(bytes.data());
    for (dist::ArgumentAttr argument : kernel.getArgumentRange())
      if (argument.isScalar())
        scalars.push_back(0);
    end = kernel.getRows();
  }

  void onProcessor(void *function, int64_t scratchBytes) {
    std::vector<char> scratch(scratchBytes + 64);
    auto start = reinterpret_cast<uintptr_t>(scratch.data());
    reinterpret_cast<LlmcKernelFn>(function)(
        pointers.data(), scalars.data(), 0, end,
        scratch.data() + (64 - start % 64) % 64);
  }
  bool onLanes(void *function, const rt::plan::KernelInfo &info,
               LaneRunner &lanes) {
    std::vector<void *> parameters;
    for (void *&pointer : pointers)
      parameters.push_back(&pointer);
    for (int64_t &scalar : scalars)
      parameters.push_back(&scalar);
    for (void *last : {static_cast<void *>(&begin), static_cast<void *>(&end),
                       static_cast<void *>(&none)})
      parameters.push_back(last);
    return lanes.launch(reinterpret_cast<LlmcLaneFn>(function), info,
                        parameters.data());
  }

  std::vector<std::vector<char>> memory;
  std::vector<void *> pointers;
  std::vector<int64_t> scalars;
  int64_t begin = 0, end = 0;
  void *none = nullptr;
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    llvm::errs() << "usage: llmc-kernel-pairs <program.mlir> [<object>]\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  Kernels processor, gpu;
  if (!processor.form(context, argv[1], {}, argc > 2 ? argv[2] : nullptr) ||
      !gpu.form(context, argv[1], {"cuda", "fibers"}))
    return 1;
  std::vector<dist::KernelOp> left = processor.list(), right = gpu.list();
  size_t same = 0, equal = 0;
  std::mt19937 random(1);
  LaneRunner lanes(1);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].getArguments() != right[i].getArguments())
      continue;
    ++same;
    auto memory = draw(left[i], random);
    Call one(left[i], memory), other(right[i], memory);
    one.onProcessor(
        dlsym(processor.library, left[i].getSymName().str().c_str()),
        left[i].getScratch());
    const rt::plan::KernelInfo *info =
        gpu.manifest.find(right[i].getSymName().str());
    if (!other.onLanes(dlsym(gpu.library, info->name.c_str()), *info, lanes))
      llvm::outs() << info->name << ": " << lanes.error() << "\n";
    else if (one.memory == other.memory)
      ++equal;
    else
      llvm::outs() << info->name << ": other bits than " << left[i].getSymName()
                   << "\n";
  }
  llvm::outs() << same << " of " << std::max(left.size(), right.size())
               << " kernels with the same arguments, " << equal
               << " with the same bits\n";
  return equal == same ? 0 : 1;
}
