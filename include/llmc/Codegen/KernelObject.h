//===- KernelObject.h - Kernels as a shared object --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the module `@kernels` (`dist.kernel` with functions on flat memrefs,
// made by llmc-form-kernels) for the CPU of this machine, and links the shared
// object that a plan's kernels live in. The object exports one function of type
// LlmcKernelFn (KernelAbi.h) for each kernel, and the manifest.
//
//   pointers of a launch: the operands in order, then the results that are not
//   tied to an operand, in order
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_CODEGEN_KERNELOBJECT_H
#define LLMC_CODEGEN_KERNELOBJECT_H

#include "llmc/Codegen/KernelCache.h"
#include "llmc/Codegen/KernelEffort.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace llmc::codegen {

/// What kernels are compiled for, as the command line has it: "cpu", the
/// processor of this machine; "cuda:sm_80", "cuda:sm_90"; or "cuda:fibers",
/// kernels of a GPU as code of this processor (LaneAbi.h), for tests. "+cudnn"
/// after a GPU leaves convolutions to cuDNN, which is nothing to kernels.
struct CodeTarget {
  /// As plans and kernels name it.
  std::string name = "cpu";
  /// After the colon.
  std::string architecture;

  bool isDevice() const { return name != "cpu"; }
  bool isOnLanes() const { return architecture == "fibers"; }
  /// Error `usage`, with the targets that there are.
  static rt::Result<CodeTarget> parse(StringRef text);
};

/// How kernels are compiled, beside what for.
struct KernelBuild {
  /// What it has is taken from it, and the rest is added; null for none.
  const KernelCache *cache = nullptr;
  KernelEffort effort = KernelEffort::full;
};

/// What the manifest says of the kernels in `kernels`, in order.
FailureOr<rt::plan::Manifest> getManifest(ModuleOp kernels);

/// The code of the kernels as LLVM dialect, in a module of its own: of all of
/// them, or of the symbols for which `isWanted` holds. On failure an error has
/// been emitted.
FailureOr<mlir::OwningOpRef<ModuleOp>>
lowerKernels(ModuleOp kernels,
             llvm::function_ref<bool(StringRef)> isWanted = {},
             const CodeTarget &target = {});

/// Relocatable objects: one for each kernel, in order, then the manifest.
using KernelObjects = std::vector<std::string>;

/// Machine code of all kernels, by the threads of their context. The same
/// kernels on the same processor give the same bytes.
FailureOr<KernelObjects> compileKernels(ModuleOp kernels,
                                        const KernelBuild &build = {});

/// The same for a GPU: the code goes into images of `manifest`, which the one
/// object holds. Error 15 (mismatch) at a kernel that calls a function that
/// the device has not.
FailureOr<KernelObjects> compileDeviceKernels(ModuleOp kernels,
                                              const CodeTarget &target,
                                              rt::plan::Manifest &manifest,
                                              const KernelBuild &build = {});

/// Links `objects` to a shared object at `path`; errors go to `kernels`.
LogicalResult linkKernels(ModuleOp kernels, ArrayRef<std::string> objects,
                          StringRef path);

} // namespace llmc::codegen

#endif // LLMC_CODEGEN_KERNELOBJECT_H
