//===- Pipeline.cpp - The order of phase 1 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

void llmc::buildTrainingPipeline(mlir::OpPassManager &pm) {
  // Types change first, so that everything made below has the final ones.
  pm.addPass(createWidenPass());
  // On the ops as printed: what is raised is no longer what was marked.
  pm.addPass(createCheckRulesPass());
  // As printed too: a loss that is raised clamps its classes.
  pm.addPass(createBoundInputsPass());
  // From here on, an op's operands are all that it reads.
  pm.addPass(createCloseRegionsPass());
  // Raising expects reductions that start from their neutral element.
  pm.addPass(createNormalizePass());
  pm.addPass(createRaisePass());
  pm.addPass(createHoistInvariantsPass());
  // A loop lies on one stage.
  pm.addPass(createSplitLoopsPass());
  // On the forward graph: a derivative op takes the block of its forward op.
  // Before any merging of equal ops, which would break layers apart.
  pm.addPass(createFindBlocksPass());
  pm.addPass(createSplitContractionsPass());
  // A text that is a step has its derivative and its update already.
  pm.addPass(createSplitStepPass());
  pm.addPass(createSumLossPass());
  pm.addPass(createDifferentiatePass());
  pm.addPass(createBuildUpdatePass());
  pm.addPass(createSplitStatesPass());
  // Stacks that lie in several blocks are read and put together by parts now.
  pm.addPass(createPairLoopsPass());
  // On all of the derivative, before types of eight bits are chosen.
  pm.addPass(createCountFlopsPass());
  // On the derivative, which is that of the wide graph; loops that are paired
  // by now read each other's values themselves.
  pm.addPass(createNarrowPass());
  // Merges within a block and phase only: the marks tell ops apart.
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createVerifyTrainingPass());
}

void llmc::registerTrainingPipeline() {
  mlir::PassPipelineRegistration<>(
      "llmc-training", "phase 1: from a loss to a training step",
      [](mlir::OpPassManager &pm) { buildTrainingPipeline(pm); });
}
