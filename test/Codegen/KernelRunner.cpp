//===- KernelRunner.cpp - Runs a graph function by its kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <dlfcn.h>

using namespace mlir;

namespace llmc::test {

std::string withType(std::string text, const std::string &type) {
  size_t at = 0;
  while ((at = text.find("T>", at)) != std::string::npos)
    text.replace(at, 1, type);
  return text;
}

std::string formKernels(StringRef text) {
  GraphContext context;
  context.get()->loadDialect<dist::DistDialect>();
  auto module = context.parse(text);
  PassManager passes(context.get());
  buildKernelsPipeline(passes);
  bool isTaken = module && succeeded(passes.run(*module));
  return isTaken ? std::string() : context.takeMessages();
}

KernelRunner::KernelRunner(StringRef text, uint64_t seed, RunOn runOn)
    : runOn(runOn), lanes(seed) {
  context.get()->loadDialect<dist::DistDialect>();
  module = context.parse(text);
  if (!module)
    return;
  func::FuncOp function = getFunction();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(drawArgument(function, i, seed + i));
  Interpreter interpreter;
  if (succeeded(interpreter.interpret(function, arguments, expected)))
    prepare();
}

KernelRunner::~KernelRunner() {
  if (library)
    dlclose(library);
}

/// Writes the shared object with the kernels' functions.
bool KernelRunner::compile(ModuleOp kernels, StringRef path) {
  if (runOn == RunOn::Processor) {
    FailureOr<codegen::KernelObjects> object = codegen::compileKernels(kernels);
    return succeeded(object) &&
           succeeded(codegen::linkKernels(kernels, *object, path));
  }
  FailureOr<rt::plan::Manifest> made = codegen::getManifest(kernels);
  if (failed(made) || failed(codegen::compileDeviceKernels(
                          kernels, {"cuda", "fibers"}, *made,
                          {nullptr, codegen::KernelEffort::quick})))
    return false;
  manifest = std::move(*made);
  return rt::writeFileAtomically(path.str(), manifest.images[0].data).ok();
}

bool KernelRunner::prepare() {
  PassManager passes(context.get());
  buildKernelsPipeline(passes, runOn == RunOn::Lanes ? "cuda" : "cpu");
  if (failed(passes.run(*module)))
    return false;
  auto kernels = module->lookupSymbol<ModuleOp>("kernels");
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("kernels", "so", path))
    return false;
  if (compile(kernels, path))
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  if (!library || runOn == RunOn::Lanes)
    return library;
  auto read = rt::plan::parseManifest(dlsym(library, LLMC_MANIFEST_SYMBOL));
  if (!read)
    return false;
  manifest = std::move(*read);
  return true;
}

static void *align(char *memory) {
  return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(memory) + 63) /
                                  64 * 64);
}

void KernelRunner::repeat() {
  for (Call &call : calls)
    call.function(call.pointers.data(), nullptr, 0, call.info->rows,
                  align(scratchMemory.data()));
}

int64_t KernelRunner::getBytes() const {
  int64_t bytes = 0;
  for (const Call &call : calls)
    for (const rt::plan::KernelArgument &argument : call.info->arguments)
      bytes += argument.extentBytes *
               (argument.access == rt::plan::Access::readWrite ? 2 : 1);
  return bytes;
}

bool KernelRunner::launch(Operation *op, int slices) {
  auto launch = cast<dist::LaunchOp>(op);
  std::string name = launch.getKernel().getLeafReference().str();
  auto kernel = reinterpret_cast<LlmcKernelFn>(dlsym(library, name.c_str()));
  const rt::plan::KernelInfo *info = manifest.find(name);
  if (!kernel || !info)
    return false;
  SmallVector<void *> pointers;
  SmallVector<HostTensor> made(op->getNumResults());
  SmallVector<HostTensor> operands;
  llvm::DenseMap<int64_t, int64_t> tied;
  for (auto [result, operand] : launch.getTiedPairs())
    tied[operand] = result;
  for (auto [number, operand] : llvm::enumerate(launch.getInputs())) {
    operands.push_back(values.lookup(operand));
    auto it = tied.find(number);
    if (it == tied.end()) {
      pointers.push_back(const_cast<char *>(operands.back().bytes()));
      continue;
    }
    made[it->second] = operands.back();
    pointers.push_back(made[it->second].mutableBytes());
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    if (made[number])
      continue;
    made[number] = HostTensor(cast<RankedTensorType>(result.getType()));
    pointers.push_back(made[number].mutableBytes());
  }
  for (auto [result, tensor] : llvm::zip(op->getResults(), made))
    values[result] = tensor;
  ++launches;
  if (runOn == RunOn::Lanes)
    return launchLanes(name, *info, pointers);
  if (scratchMemory.size() < size_t(info->scratchBytes + 64))
    scratchMemory.resize(info->scratchBytes + 64);
  void *scratch = align(scratchMemory.data());
  for (int slice = 0; slice < slices; ++slice)
    kernel(pointers.data(), nullptr, info->rows * slice / slices,
           info->rows * (slice + 1) / slices, scratch);
  calls.push_back({kernel, info, pointers});
  return true;
}

bool KernelRunner::launchLanes(const std::string &name,
                               const rt::plan::KernelInfo &info,
                               ArrayRef<void *> pointers) {
  auto kernel = reinterpret_cast<LlmcLaneFn>(dlsym(library, name.c_str()));
  SmallVector<void *> values(pointers);
  int64_t begin = 0, end = info.rows;
  void *scratch = nullptr;
  SmallVector<void *> parameters;
  for (void *&pointer : values)
    parameters.push_back(&pointer);
  parameters.push_back(&begin);
  parameters.push_back(&end);
  parameters.push_back(&scratch);
  return lanes.launch(kernel, info, parameters.data());
}

/// The result by plain loops, in double or 64-bit integers.
void KernelRunner::contract(Operation *op) {
  auto contraction = cast<dist::ContractOp>(op);
  HostTensor lhs = values.lookup(contraction.getLhs());
  HostTensor rhs = values.lookup(contraction.getRhs());
  HostTensor result(contraction.getResult().getType());
  if (contraction.getAccumulator())
    result = values.lookup(contraction.getAccumulator());
  HostTensor bias;
  if (contraction.getBias())
    bias = values.lookup(contraction.getBias());
  SmallVector<int64_t> sums;
  for (int64_t dim : contraction.getLhsContracting())
    sums.push_back(lhs.getShape()[dim]);
  auto isListed = [](ArrayRef<int64_t> dims, int64_t dim) {
    return llvm::is_contained(dims, dim);
  };
  SmallVector<int64_t> index(result.getRank(), 0);
  int64_t at = 0;
  do {
    SmallVector<int64_t> l(lhs.getRank()), r(rhs.getRank());
    size_t next = 0;
    for (auto [left, right] :
         llvm::zip(contraction.getLhsBatch(), contraction.getRhsBatch()))
      l[left] = r[right] = index[next++];
    for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
      if (!isListed(contraction.getLhsBatch(), dim) &&
          !isListed(contraction.getLhsContracting(), dim))
        l[dim] = index[next++];
    for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
      if (!isListed(contraction.getRhsBatch(), dim) &&
          !isListed(contraction.getRhsContracting(), dim))
        r[dim] = index[next++];
    double sum = contraction.getAccumulator() ? result.getFloat(at) : 0;
    if (bias) // Of the last dims.
      sum += bias.getFloat(at % bias.getNumElements());
    SmallVector<int64_t> k(sums.size(), 0);
    do {
      for (auto [i, position] : llvm::enumerate(k)) {
        l[contraction.getLhsContracting()[i]] = position;
        r[contraction.getRhsContracting()[i]] = position;
      }
      auto flat = [](const HostTensor &tensor, ArrayRef<int64_t> indices) {
        int64_t position = 0;
        for (auto [i, stride] : llvm::zip(indices, tensor.getStrides()))
          position += i * stride;
        return tensor.getFloat(position);
      };
      sum += flat(lhs, l) * flat(rhs, r);
    } while (nextIndex(k, sums));
    result.setFloat(at++, sum);
  } while (nextIndex(index, result.getShape()));
  values[contraction.getResult()] = result;
}

bool KernelRunner::run(int slices) {
  results.clear();
  values.clear();
  calls.clear();
  if (!library)
    return false;
  Block &block = getFunction().front();
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    values[argument] = tensor;
  for (Operation &op : block.without_terminator()) {
    if (isa<dist::LaunchOp>(op)) {
      if (!launch(&op, slices))
        return false;
    } else if (isa<dist::ContractOp>(op)) {
      contract(&op);
    } else if (auto alias = dyn_cast<graph::KernelOpInterface>(op)) {
      HostTensor made(cast<RankedTensorType>(op.getResult(0).getType()));
      HostTensor from =
          values.lookup(op.getOperand(alias.getAliasedOperand(0)));
      std::copy(from.bytes(), from.bytes() + from.getNumBytes(),
                made.mutableBytes());
      values[op.getResult(0)] = made;
    } else {
      return false;
    }
  }
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(values.lookup(result));
  return true;
}

double KernelRunner::getError() const {
  double worst = 0;
  for (auto [mine, reference] : llvm::zip_equal(results, expected)) {
    for (int64_t i = 0; i < reference.getNumElements(); ++i) {
      double a = mine.getFloat(i), b = reference.getFloat(i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      double error = std::abs(a - b) / std::max(1.0, std::abs(b));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

} // namespace llmc::test
