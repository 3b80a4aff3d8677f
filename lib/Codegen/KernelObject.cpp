//===- KernelObject.cpp - Objects of all kernels --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cache does not have is lowered together, then cut into one module a
// kernel, with what its function refers to; these become objects in parallel.
//
//   @kernels: k_1, k_2, k_3 (cached)  ->  lowered: k_1_cpu, k_2_cpu, @llmc_fmod
//     ->  [k_1_cpu] -> k_1.o    [k_2_cpu, @llmc_fmod] -> k_2.o
//
// Test: test/Codegen/KernelObjectTest.cpp, test/Codegen/KernelCacheTest.cpp
//
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelObject.h"
#include "MachineCode.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace llmc::codegen {

namespace {
/// A kernel on its way to an object.
struct Job {
  dist::KernelOp kernel;
  /// The name in the cache; empty without one.
  std::string key;
  OwningOpRef<ModuleOp> code;
};
} // namespace

/// The symbol `name` and all that it refers to, directly or not.
static llvm::SetVector<Operation *> collectCode(SymbolTable &symbols,
                                                StringRef name) {
  llvm::SetVector<Operation *> needed;
  if (Operation *op = symbols.lookup(name))
    needed.insert(op);
  for (unsigned i = 0; i < needed.size(); ++i)
    if (auto uses = SymbolTable::getSymbolUses(needed[i]))
      for (const SymbolTable::SymbolUse &use : *uses)
        if (Operation *op =
                symbols.lookup(use.getSymbolRef().getRootReference()))
          needed.insert(op);
  return needed;
}

/// A kernel's name and code as text, without locations.
static std::string printCode(dist::KernelOp kernel,
                             const llvm::SetVector<Operation *> &code) {
  std::string text = kernel.getSymName().str() + "\n";
  llvm::raw_string_ostream stream(text);
  for (Operation *op : code)
    op->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

/// Fills `objects` from the cache, and gives the kernels that it lacks.
static std::vector<Job> findMissing(ModuleOp kernels, const CodeTarget &target,
                                    const KernelBuild &build,
                                    KernelObjects &objects) {
  SymbolTable symbols(kernels);
  std::vector<Job> jobs;
  for (auto kernel : kernels.getOps<dist::KernelOp>()) {
    Job job{kernel, {}, {}};
    std::optional<std::string> found;
    if (build.cache) {
      StringRef effort = build.effort == KernelEffort::quick ? " quick " : "";
      job.key = build.cache->getKey(
          target.architecture + effort.str() +
          printCode(kernel, collectCode(symbols, kernel.getCode())));
      found = build.cache->find(job.key);
    }
    objects.push_back(found.value_or(""));
    if (!found)
      jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Lowers the code of `jobs`, and gives each its own.
static LogicalResult lowerMissing(ModuleOp kernels, const CodeTarget &target,
                                  std::vector<Job> &jobs) {
  SymbolTable symbols(kernels);
  llvm::StringSet<> wanted;
  for (Job &job : jobs)
    for (Operation *op : collectCode(symbols, job.kernel.getCode()))
      wanted.insert(SymbolTable::getSymbolName(op).getValue());
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerKernels(
      kernels, [&](StringRef symbol) { return wanted.contains(symbol); },
      target);
  if (failed(lowered))
    return failure();
  SymbolTable table(**lowered);
  for (Job &job : jobs) {
    job.code = ModuleOp::create(job.kernel.getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(job.code->getBody());
    for (Operation *op : collectCode(table, job.kernel.getCode()))
      builder.clone(*op);
  }
  return success();
}

static LogicalResult compileMissing(ModuleOp kernels, const CodeTarget &target,
                                    KernelEffort effort, std::vector<Job> &jobs,
                                    MutableArrayRef<std::string> made) {
  if (jobs.empty())
    return success();
  if (failed(lowerMissing(kernels, target, jobs)))
    return failure();
  MLIRContext &context = *kernels.getContext();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  return failableParallelForEachN(&context, 0, jobs.size(), [&](size_t i) {
    FailureOr<std::string> object =
        target.isDevice()
            ? makeDeviceCode(jobs[i].kernel, *jobs[i].code, target, effort)
            : makeKernelObject(jobs[i].kernel, *jobs[i].code, effort);
    jobs[i].code = nullptr;
    if (succeeded(object))
      made[i] = std::move(*object);
    return success(succeeded(object));
  });
}

static LogicalResult storeObjects(ModuleOp kernels, const KernelCache &cache,
                                  ArrayRef<Job> jobs,
                                  ArrayRef<std::string> made) {
  for (auto [job, object] : llvm::zip(jobs, made))
    if (rt::Status status = cache.store(job.key, object); !status)
      return emitRefusal(kernels, status.kind()) << status.message();
  if (!jobs.empty())
    cache.trimAtTimes();
  return success();
}

rt::Result<KernelEffort> parseKernelEffort(StringRef text) {
  if (text == "full")
    return KernelEffort::full;
  if (text == "quick")
    return KernelEffort::quick;
  return rt::makeError(
      rt::ErrorKind::usage,
      "--kernel-effort (or LLMC_KERNEL_EFFORT): expected full or quick, got '" +
          text.str() + "'");
}

FailureOr<KernelObjects> compileCodes(ModuleOp kernels,
                                      const CodeTarget &target,
                                      const KernelBuild &build) {
  if (failed(verifyStoredElements(kernels)))
    return failure();
  KernelObjects objects;
  std::vector<Job> jobs = findMissing(kernels, target, build, objects);
  KernelObjects made(jobs.size());
  if (failed(compileMissing(kernels, target, build.effort, jobs, made)) ||
      (build.cache && failed(storeObjects(kernels, *build.cache, jobs, made))))
    return failure();
  size_t next = 0;
  for (std::string &object : objects)
    if (object.empty())
      object = std::move(made[next++]);
  return objects;
}

FailureOr<KernelObjects> compileKernels(ModuleOp kernels,
                                        const KernelBuild &build) {
  FailureOr<KernelObjects> objects = compileCodes(kernels, {}, build);
  FailureOr<rt::plan::Manifest> manifest = failure();
  if (succeeded(objects))
    manifest = getManifest(kernels);
  if (failed(manifest))
    return failure();
  FailureOr<std::string> last = makeManifestObject(kernels, *manifest);
  if (failed(last))
    return failure();
  objects->push_back(std::move(*last));
  return objects;
}

} // namespace llmc::codegen
