//===- Passes.h - Passes of the group Sharding ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases 2 and 3: layouts are decided, then written into types.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_SHARDING_PASSES_H
#define LLMC_TRANSFORMS_SHARDING_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Sharding/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Sharding/Passes.h.inc"

/// Phase 2: chunks and layouts as attributes.
void buildLayoutPipeline(mlir::OpPassManager &manager);
/// Phase 3: layouts as encodings, data movement as collectives.
void buildMaterializePipeline(mlir::OpPassManager &manager);

} // namespace llmc

#endif // LLMC_TRANSFORMS_SHARDING_PASSES_H
