//===- Pipeline.cpp - The order of phase 6 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Activations/Passes.h"

using namespace llmc;

void llmc::buildMemoryPipeline(mlir::OpPassManager &manager) {
  // Recomputation decides what crosses between programs, so it comes first.
  manager.addPass(createRecomputePass());
  manager.addPass(createTrimActivationsPass());
  manager.addPass(createOutlineProgramsPass());
  manager.addPass(createVerifyMemoryPass());
}
