//===- Passes.h - Phase 7a: kernels of the programs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_KERNELS_PASSES_H
#define LLMC_TRANSFORMS_KERNELS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Kernels/Passes.h.inc"

/// Phase 7a: graph ops in, `dist.launch` and `dist.contract` out; kernels are
/// written for `target`, or for what the program names.
void buildKernelsPipeline(mlir::OpPassManager &pm, StringRef target = "");

} // namespace llmc

#endif // LLMC_TRANSFORMS_KERNELS_PASSES_H
