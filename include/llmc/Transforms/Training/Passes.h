//===- Passes.h - Phase 1: from a loss to a training step -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_PASSES_H
#define LLMC_TRANSFORMS_TRAINING_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Training/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Training/Passes.h.inc"

/// Phase 1: forward functions and recipes in, `dist.step` and entries out.
void buildTrainingPipeline(mlir::OpPassManager &pm);

/// The pipeline's name on the command line is `llmc-training`.
void registerTrainingPipeline();

} // namespace llmc

#endif // LLMC_TRANSFORMS_TRAINING_PASSES_H
