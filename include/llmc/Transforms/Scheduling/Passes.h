//===- Passes.h - Passes of the group Pipeline ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 5: which device runs what in which slot of time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_SCHEDULING_PASSES_H
#define LLMC_TRANSFORMS_SCHEDULING_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Scheduling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Scheduling/Passes.h.inc"

/// Phase 5: the table.
void buildSchedulePipeline(mlir::OpPassManager &manager);

} // namespace llmc

#endif // LLMC_TRANSFORMS_SCHEDULING_PASSES_H
