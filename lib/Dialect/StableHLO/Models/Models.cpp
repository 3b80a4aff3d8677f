//===- Models.cpp - The five answers of the stablehlo ops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of families. Kernels are written in arith, math and scf, so these
// dialects are loaded with the answers: passes create their ops without naming
// them as dependent dialects.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace llmc;

void stablehlo::registerModels(DialectRegistry &registry) {
  registry.insert<StableHLODialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect>();
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    context->loadDialect<arith::ArithDialect, math::MathDialect,
                         scf::SCFDialect>();
  });
  registerUnaryModels(registry);
  registerBinaryModels(registry);
  registerLogicModels(registry);
  registerBitsModels(registry);
  registerRoundingModels(registry);
  registerChoiceModels(registry);
  registerConvertModels(registry);
  registerConstantModels(registry);
  registerContractionModels(registry);
  registerReductionModels(registry);
  registerSlicingModels(registry);
  registerDynamicSlicingModels(registry);
  registerScatterModels(registry);
  registerGatherModels(registry);
  registerIndexLimits(registry);
  registerMovementModels(registry);
  registerKnownParts(registry);
  registerKnownSlices(registry);
  registerPairedRows(registry);
  registerCombinations(registry);
  registerLinearAlgebraModels(registry);
  registerLoopModels(registry);
  registerBranchModels(registry);
  registerCallModels(registry);
  registerWindowModels(registry);
  registerConvolutionModels(registry);
  registerRandomModels(registry);
  registerSortModels(registry);
  registerSelectAndScatterModels(registry);
  registerBatchNormModels(registry);
  registerOlderForms(registry);
  registerStaticForms(registry);
  registerTupleModels(registry);
  registerComplexElements(registry);
  registerComplexMovement(registry);
  registerComplexProducts(registry);
  registerComplexRegions(registry);
  registerFourierTransforms(registry);
  registerBatchedConvolution(registry);
  registerBatchedMovement(registry);
  registerBatchedIndexing(registry);
  registerSummedContractions(registry);
  registerCollectiveModels(registry);
}
