//===- Pipeline.cpp - The order of phase 5 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Scheduling/Passes.h"

using namespace llmc;

void llmc::buildSchedulePipeline(mlir::OpPassManager &manager) {
  manager.addPass(createSchedulePass());
  manager.addPass(createVerifyScheduledPass());
}
