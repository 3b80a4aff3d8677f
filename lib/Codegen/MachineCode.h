//===- MachineCode.h - Machine code of a kernel -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MachineCode.cpp. These may run on several threads at once, once the
// translations to LLVM IR are registered.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_MACHINECODE_H
#define LLMC_LIB_CODEGEN_MACHINECODE_H

#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Support/LLVM.h"
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace llmc::codegen {

/// Codes of all kernels, in order, by `makeKernelObject` or `makeDeviceCode`.
FailureOr<KernelObjects> compileCodes(ModuleOp kernels,
                                      const CodeTarget &target,
                                      const KernelBuild &build);

/// The object of one kernel, whose code `code` has in the LLVM dialect. On
/// failure an error has been emitted at `kernel`.
FailureOr<std::string> makeKernelObject(dist::KernelOp kernel, ModuleOp code,
                                        KernelEffort effort);

/// Code of one kernel of a GPU, likewise: text of PTX, or for
/// `CodeTarget::isOnLanes` an object with a function of LaneAbi.h.
FailureOr<std::string> makeDeviceCode(dist::KernelOp kernel, ModuleOp code,
                                      const CodeTarget &target,
                                      KernelEffort effort);

/// O3 without the loop and straight-line vectorizers, since kernels are vector
/// code already (LoopWidening.h); for `quick` only values in registers and
/// equal ones computed once.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              KernelEffort effort);
/// Machine code of `module` for this machine; none, with an error at `op`, if
/// LLVM has none.
FailureOr<std::string> emitObject(Operation *op, llvm::Module &module,
                                  KernelEffort effort);

/// The code of a kernel in `module`, which was translated from it; on failure
/// an error has been emitted.
FailureOr<llvm::Function *> findCode(dist::KernelOp kernel,
                                     llvm::Module *module);

/// The object with the manifest of `kernels`.
FailureOr<std::string> makeManifestObject(ModuleOp kernels,
                                          const rt::plan::Manifest &manifest);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_MACHINECODE_H
