//===- Pipeline.cpp - The order of phases 2 and 3 -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Sharding/Passes.h"

using namespace llmc;

void llmc::buildLayoutPipeline(mlir::OpPassManager &manager) {
  // Pins follow from chunks, so chunks come first.
  manager.addPass(createAssignChunksPass());
  manager.addPass(createReadCarriedPass());
  manager.addPass(createCloneConesPass());
  manager.addPass(createGroupSumsPass());
  manager.addPass(createPropagateLayoutsPass());
  manager.addPass(createVerifyLayoutsPass());
}

void llmc::buildMaterializePipeline(mlir::OpPassManager &manager) {
  // Before ops are distributed: what it leaves to them is no group's.
  manager.addPass(createPlaceGroupsPass());
  // Placement reads the side table; types are written once, after it.
  manager.addPass(createDistributeOpsPass());
  manager.addPass(createPlaceReductionsPass());
  manager.addPass(createMaterializePass());
  // From here to localize only our passes may run: shape functions of others
  // copy encodings wrongly.
  manager.addPass(createExpandReshardsPass());
  // Equal moves are seen when each is one op.
  manager.addPass(createMergeMovesPass());
  // What is left of them, and runs alike in all microbatches, runs once.
  manager.addPass(createPrepareStepPass());
  manager.addPass(createReportCostsPass());
  manager.addPass(createVerifyMaterializedPass());
}
