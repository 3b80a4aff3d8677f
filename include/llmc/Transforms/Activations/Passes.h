//===- Passes.h - Passes of the group Memory --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 6: what is kept, what is computed again, and the programs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_ACTIVATIONS_PASSES_H
#define LLMC_TRANSFORMS_ACTIVATIONS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Activations/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Activations/Passes.h.inc"

/// Phase 6: save or recompute, then one function for each (chunk, phase).
void buildMemoryPipeline(mlir::OpPassManager &manager);

} // namespace llmc

#endif // LLMC_TRANSFORMS_ACTIVATIONS_PASSES_H
