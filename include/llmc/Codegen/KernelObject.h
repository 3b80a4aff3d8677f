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

#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Support/LLVM.h"
#include <string>

namespace llmc::codegen {

/// What kernels are compiled for: the processor of this machine.
inline constexpr llvm::StringLiteral kTarget = "cpu";

/// What the manifest says of the kernels in `kernels`, in order.
FailureOr<rt::plan::Manifest> getManifest(ModuleOp kernels);

/// The kernels as LLVM dialect, in a module of their own. On failure an error
/// has been emitted.
FailureOr<mlir::OwningOpRef<ModuleOp>> lowerKernels(ModuleOp kernels);

/// Machine code of all kernels, as a relocatable object. The same kernels on
/// the same processor give the same bytes.
FailureOr<std::string> compileKernels(ModuleOp kernels);

/// Links `object` to a shared object at `path`; errors go to `kernels`.
LogicalResult linkKernels(ModuleOp kernels, StringRef object, StringRef path);

} // namespace llmc::codegen

#endif // LLMC_CODEGEN_KERNELOBJECT_H
