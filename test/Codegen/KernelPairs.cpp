//===- KernelPairs.cpp - Each kernel of a program on both targets ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llmc-kernel-pairs <program.mlir>: forms the kernels of a program before phase
// 7a for processors and for GPUs, runs each on the same random memory, the ones
// as functions and the others, which may be several launches, thread by thread
// (LaneRunner.h), and compares all bits of what they make. Prints
//
//   64 kernels are 71 launches on a GPU, 64 with the same bits
//
// and fails where bits differ, a thread does wrong, or programs are not alike.
// Kernels in place of a library's call (CallForm.h) are not compared.
//
// Test: test/Codegen/example-kernels.test
//===----------------------------------------------------------------------===//

#include "LaneRunner.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <fstream>
#include <memory>
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

  bool form(mlir::MLIRContext &context, const char *file,
            const codegen::CodeTarget &target);
  bool write(const codegen::CodeTarget &target, StringRef path);
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
  if (failed(codegen::compileDeviceKernels(
          module, target, manifest, {nullptr, codegen::KernelEffort::quick})))
    return false;
  std::ofstream(path.str(), std::ios::binary) << manifest.images[0].data;
  return true;
}

bool Kernels::form(mlir::MLIRContext &context, const char *file,
                   const codegen::CodeTarget &target) {
  program = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!program)
    return false;
  mlir::PassManager passes(&context);
  buildKernelsPipeline(passes, target.name);
  if (failed(passes.run(*program)))
    return false;
  module = program->lookupSymbol<mlir::ModuleOp>("kernels");
  llvm::SmallString<128> path;
  if (!module || llvm::sys::fs::createTemporaryFile("kernels", "so", path))
    return false;
  if (write(target, path))
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  return library;
}

/// Random elements; integers are small and not negative.
static std::vector<char> draw(mlir::Type type, std::mt19937 &random) {
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int> whole(0, 1);
  auto tensorType = mlir::cast<mlir::RankedTensorType>(type);
  HostTensor tensor(tensorType);
  bool isFloat = mlir::isa<mlir::FloatType>(tensorType.getElementType());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (isFloat)
      tensor.setFloat(i, real(random));
    else
      tensor.setInt(i, whole(random));
  return {tensor.bytes(), tensor.bytes() + tensor.getNumBytes()};
}

namespace {
/// Memory of values; a result that is tied has its operand's.
struct Memory {
  llvm::DenseMap<mlir::Value, std::shared_ptr<std::vector<char>>> buffers;

  void add(mlir::Value value, std::vector<char> bytes) {
    buffers[value] = std::make_shared<std::vector<char>>(std::move(bytes));
  }
  /// The pointers and scalars of a launch. What it makes is drawn.
  void pass(dist::LaunchOp launch, dist::KernelOp kernel, std::mt19937 &random);

  std::vector<void *> pointers;
  std::vector<int64_t> scalars;
};

/// A launch for processors, and those for GPUs that compute the same.
class Pair {
public:
  Pair(dist::LaunchOp launch, ArrayRef<dist::LaunchOp> stages)
      : launch(launch), stages(stages.begin(), stages.end()) {}

  /// Draws the operands; `known` says which of the processor's values one of
  /// the GPU's is.
  void draw(const llvm::DenseMap<mlir::Value, mlir::Value> &known,
            std::mt19937 &random);
  bool run(Kernels &processor, Kernels &gpu, LaneRunner &lanes);

private:
  void runOnProcessor(Kernels &kernels);
  bool runOnLanes(Kernels &kernels, dist::LaunchOp stage, LaneRunner &lanes);

  dist::LaunchOp launch;
  std::vector<dist::LaunchOp> stages;
  Memory one, other;
  std::mt19937 results{2};
};
} // namespace

void Memory::pass(dist::LaunchOp launch, dist::KernelOp kernel,
                  std::mt19937 &random) {
  pointers.clear();
  scalars.clear();
  llvm::SmallDenseSet<int64_t> tied;
  for (auto [result, operand] : launch.getTiedPairs()) {
    tied.insert(result);
    buffers[launch.getResult(result)] = buffers[launch.getInputs()[operand]];
  }
  std::vector<mlir::Value> values(launch.getInputs().begin(),
                                  launch.getInputs().end());
  for (auto [number, result] : llvm::enumerate(launch.getResults()))
    if (!tied.contains(number)) {
      add(result, draw(result.getType(), random));
      values.push_back(result);
    }
  for (auto [value, argument] : llvm::zip(values, kernel.getArgumentRange()))
    if (argument.isScalar())
      scalars.push_back(0);
    else
      pointers.push_back(buffers[value]->data());
}

void Pair::draw(const llvm::DenseMap<mlir::Value, mlir::Value> &known,
                std::mt19937 &random) {
  for (mlir::Value operand : launch.getInputs())
    if (!one.buffers.count(operand))
      one.add(operand, ::draw(operand.getType(), random));
  for (dist::LaunchOp stage : stages)
    for (mlir::Value operand : stage.getInputs())
      if (auto it = known.find(operand); it != known.end())
        if (auto made = one.buffers.find(it->second);
            made != one.buffers.end() && !other.buffers.count(operand))
          other.add(operand, *made->second);
}

static dist::KernelOp findKernel(Kernels &kernels, dist::LaunchOp launch) {
  return kernels.module.lookupSymbol<dist::KernelOp>(
      launch.getKernel().getLeafReference());
}

void Pair::runOnProcessor(Kernels &kernels) {
  dist::KernelOp kernel = findKernel(kernels, launch);
  one.pass(launch, kernel, results);
  std::vector<char> scratch(kernel.getScratch() + 64);
  auto start = reinterpret_cast<uintptr_t>(scratch.data());
  auto function = reinterpret_cast<LlmcKernelFn>(
      dlsym(kernels.library, kernel.getSymName().str().c_str()));
  function(one.pointers.data(), one.scalars.data(), 0, kernel.getRows(),
           scratch.data() + (64 - start % 64) % 64);
}

bool Pair::runOnLanes(Kernels &kernels, dist::LaunchOp stage,
                      LaneRunner &lanes) {
  dist::KernelOp kernel = findKernel(kernels, stage);
  other.pass(stage, kernel, results);
  int64_t begin = 0, end = kernel.getRows();
  void *none = nullptr;
  std::vector<void *> parameters;
  for (void *&pointer : other.pointers)
    parameters.push_back(&pointer);
  for (int64_t &scalar : other.scalars)
    parameters.push_back(&scalar);
  parameters.insert(parameters.end(), {&begin, &end, &none});
  const rt::plan::KernelInfo *info =
      kernels.manifest.find(kernel.getSymName().str());
  auto function =
      reinterpret_cast<LlmcLaneFn>(dlsym(kernels.library, info->name.c_str()));
  if (lanes.launch(function, *info, parameters.data()))
    return true;
  llvm::outs() << info->name << ": " << lanes.error() << "\n";
  return false;
}

bool Pair::run(Kernels &processor, Kernels &gpu, LaneRunner &lanes) {
  runOnProcessor(processor);
  for (dist::LaunchOp stage : stages)
    if (!runOnLanes(gpu, stage, lanes))
      return false;
  for (auto [left, right] :
       llvm::zip(launch.getResults(), stages.back().getResults()))
    if (*one.buffers[left] != *other.buffers[right]) {
      llvm::outs() << stages.back().getKernel() << ": other bits than "
                   << launch.getKernel() << "\n";
      return false;
    }
  return true;
}

/// The launches from `next` on, up to the one that makes what `launch` does.
static std::vector<dist::LaunchOp> takeStages(dist::LaunchOp launch,
                                              mlir::Block::iterator &next,
                                              mlir::Block::iterator end) {
  std::vector<dist::LaunchOp> stages;
  while (next != end && mlir::isa<dist::LaunchOp>(*next)) {
    stages.push_back(mlir::cast<dist::LaunchOp>(*next++));
    if (stages.back().getResultTypes() == launch.getResultTypes())
      return stages;
  }
  return {};
}

/// What the launches from `next` on make that take the place of `call`, of
/// which processors have a library; empty where they do not.
static std::vector<mlir::Value> takeCall(mlir::Operation *call,
                                         mlir::Block::iterator &next,
                                         mlir::Block::iterator end) {
  std::vector<mlir::Value> made;
  size_t wanted = call->getNumResults();
  while (next != end && mlir::isa<dist::LaunchOp>(*next)) {
    llvm::append_range(made, (next++)->getResults());
    if (made.size() < wanted)
      continue;
    mlir::ValueRange last = llvm::ArrayRef(made).take_back(wanted);
    if (last.getTypes() == call->getResultTypes())
      return {made.end() - wanted, made.end()};
  }
  return {};
}

namespace {
/// Walks the functions of both programs side by side.
class Comparison {
public:
  Comparison(Kernels &processor, Kernels &gpu)
      : processor(processor), gpu(gpu) {}

  /// False where the programs are not alike.
  bool compare(mlir::Block &left, mlir::Block &right);

  size_t kernels = 0, equal = 0, launches = 0;

private:
  void match(mlir::ValueRange left, mlir::ValueRange right) {
    for (auto [mine, others] : llvm::zip(left, right))
      known[others] = mine;
  }

  Kernels &processor, &gpu;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  llvm::DenseSet<mlir::Attribute> seen;
  std::mt19937 random{1};
  LaneRunner lanes{1};
};
} // namespace

bool Comparison::compare(mlir::Block &left, mlir::Block &right) {
  match(left.getArguments(), right.getArguments());
  auto next = right.begin();
  for (mlir::Operation &op : left) {
    auto launch = mlir::dyn_cast<dist::LaunchOp>(op);
    if (!launch) {
      bool isCall = mlir::isa<graph::LibraryCallOpInterface>(op) &&
                    next != right.end() && mlir::isa<dist::LaunchOp>(*next);
      if (isCall) {
        std::vector<mlir::Value> made = takeCall(&op, next, right.end());
        if (made.empty())
          return false;
        match(op.getResults(), made);
        continue;
      }
      if (next == right.end() || next->getName() != op.getName())
        return false;
      match(op.getResults(), next->getResults());
      ++next;
      continue;
    }
    std::vector<dist::LaunchOp> stages = takeStages(launch, next, right.end());
    if (stages.empty())
      return false;
    match(launch.getResults(), stages.back().getResults());
    if (!seen.insert(launch.getKernel()).second)
      continue;
    ++kernels;
    launches += stages.size();
    Pair pair(launch, stages);
    pair.draw(known, random);
    equal += pair.run(processor, gpu, lanes);
  }
  return next == right.end();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: llmc-kernel-pairs <program.mlir>\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  Kernels processor, gpu;
  if (!processor.form(context, argv[1], {}) ||
      !gpu.form(context, argv[1], {"cuda", "fibers"}))
    return 1;
  Comparison comparison(processor, gpu);
  for (auto left : processor.program->getOps<mlir::func::FuncOp>()) {
    auto right =
        gpu.program->lookupSymbol<mlir::func::FuncOp>(left.getSymName());
    if (!right || left.isExternal())
      continue;
    if (!comparison.compare(left.front(), right.front())) {
      llvm::errs() << "expected the same launches in '" << left.getSymName()
                   << "' of both targets\n";
      return 1;
    }
  }
  llvm::outs() << comparison.kernels << " kernels are " << comparison.launches
               << " launches on a GPU, " << comparison.equal
               << " with the same bits\n";
  return comparison.equal == comparison.kernels ? 0 : 1;
}
