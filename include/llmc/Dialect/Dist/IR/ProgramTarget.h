//===- ProgramTarget.h - What a program is compiled for ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.execution seed(1) threads(1) target("cuda:sm_90")
//
// Test: test/Transforms/Kernels/gpu-library.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_PROGRAMTARGET_H
#define LLMC_DIALECT_DIST_IR_PROGRAMTARGET_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace llmc::dist {

/// With the architecture, as the command line has it; "cpu" where the program
/// says nothing.
StringRef getTarget(mlir::ModuleOp program);
/// Without it, as plans and kernels name it: "cuda".
StringRef getTargetName(mlir::ModuleOp program);
/// With the libraries that the user asked for, as rt::hasLibrary names it:
/// "cuda+cudnn" of "cuda:sm_90+cudnn".
std::string getTargetLibraries(mlir::ModuleOp program);

/// Whether collectives of a target add up floats of less than 32 bits in f32.
/// NCCL adds up in the elements' own type.
bool addsUpWide(StringRef targetName);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_PROGRAMTARGET_H
