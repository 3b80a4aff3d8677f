//===- Pipeline.cpp - The order of phase 4 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Partition/Passes.h"

using namespace llmc;

void llmc::buildPartitionPipeline(mlir::OpPassManager &manager) {
  manager.addPass(createLocalizePass());
  manager.addPass(createMergePartsPass());
  manager.addPass(createCutSegmentsPass());
  manager.addPass(createVerifyLocalPass());
}
