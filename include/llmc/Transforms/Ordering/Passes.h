//===- Passes.h - Passes of phases 7b and 8 ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From programs of launches to a plan: frames, order, waits, then places.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_ORDERING_PASSES_H
#define LLMC_TRANSFORMS_ORDERING_PASSES_H

#include "llmc/Support/LLVM.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Ordering/Passes.h.inc"

/// Phase 7b.
void buildOrderPipeline(mlir::OpPassManager &manager,
                        const MakeFramesPassOptions &options = {});
/// Phase 8 in the IR; Target/Plan writes the file.
void buildPlacesPipeline(mlir::OpPassManager &manager);

} // namespace llmc

#endif // LLMC_TRANSFORMS_ORDERING_PASSES_H
