//===- Pipeline.cpp - The order of phases 7b and 8 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Ordering/Passes.h"

using namespace llmc;

void llmc::buildOrderPipeline(mlir::OpPassManager &manager,
                              const MakeFramesPassOptions &options) {
  // What crosses between programs has its buffer before any of them is written:
  // a program's instructions name buffers, those of others too.
  manager.addPass(createMakeFramesPass(options));
  // The order of a program is its own business, by dependencies and memory.
  manager.addPass(createOrderProgramsPass());
  // What programs do to buffers is known, and nothing waits yet.
  manager.addPass(createBucketCollectivesPass());
  // Programs are complete: a wait is between instructions of any two of them.
  manager.addPass(createAddWaitsPass());
}

void llmc::buildPlacesPipeline(mlir::OpPassManager &manager) {
  // Signals and waits say which lifetimes are ordered.
  manager.addPass(createAssignPlacesPass());
  // Which waits are superfluous is only known from the places; these stay
  // right, since what is dropped keeps no bytes apart.
  manager.addPass(createPruneWaitsPass());
  manager.addPass(createVerifyPlanPass());
}
