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

namespace llmc::dist {

/// With the architecture, as the command line has it; "cpu" where the program
/// says nothing.
StringRef getTarget(mlir::ModuleOp program);
/// Without it, as plans and kernels name it: "cuda".
StringRef getTargetName(mlir::ModuleOp program);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_PROGRAMTARGET_H
