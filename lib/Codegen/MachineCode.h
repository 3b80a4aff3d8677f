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

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Support/LLVM.h"
#include <string>

namespace llmc::codegen {

/// The object of one kernel, whose code `code` has in the LLVM dialect. On
/// failure an error has been emitted at `kernel`.
FailureOr<std::string> makeKernelObject(dist::KernelOp kernel, ModuleOp code);

/// The object with the manifest of `kernels`.
FailureOr<std::string> makeManifestObject(ModuleOp kernels,
                                          const rt::plan::Manifest &manifest);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_MACHINECODE_H
