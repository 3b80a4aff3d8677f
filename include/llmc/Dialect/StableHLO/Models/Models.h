//===- Models.h - The five answers of the stablehlo ops ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule, derivative, cost, kernel and evaluation of each op, attached as
// external models. A family of ops has one file in lib/Dialect/StableHLO/Models
// and one line here.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_MODELS_MODELS_H
#define LLMC_DIALECT_STABLEHLO_MODELS_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace llmc::stablehlo {

/// Attaches the answers of all ops when the dialect is loaded. Dialects that
/// kernels and derivatives create ops of are loaded with it.
void registerModels(mlir::DialectRegistry &registry);

void registerUnaryModels(mlir::DialectRegistry &registry);
void registerBinaryModels(mlir::DialectRegistry &registry);
void registerLogicModels(mlir::DialectRegistry &registry);
void registerBitsModels(mlir::DialectRegistry &registry);
void registerRoundingModels(mlir::DialectRegistry &registry);
void registerChoiceModels(mlir::DialectRegistry &registry);
void registerConvertModels(mlir::DialectRegistry &registry);
void registerConstantModels(mlir::DialectRegistry &registry);
void registerContractionModels(mlir::DialectRegistry &registry);
void registerReductionModels(mlir::DialectRegistry &registry);
void registerSlicingModels(mlir::DialectRegistry &registry);
void registerDynamicSlicingModels(mlir::DialectRegistry &registry);
void registerScatterModels(mlir::DialectRegistry &registry);
void registerGatherModels(mlir::DialectRegistry &registry);
void registerIndexLimits(mlir::DialectRegistry &registry);
void registerMovementModels(mlir::DialectRegistry &registry);
void registerKnownParts(mlir::DialectRegistry &registry);
void registerKnownSlices(mlir::DialectRegistry &registry);
void registerPairedRows(mlir::DialectRegistry &registry);
void registerCombinations(mlir::DialectRegistry &registry);
void registerLinearAlgebraModels(mlir::DialectRegistry &registry);
void registerLoopModels(mlir::DialectRegistry &registry);
void registerBranchModels(mlir::DialectRegistry &registry);
void registerCallModels(mlir::DialectRegistry &registry);
void registerWindowModels(mlir::DialectRegistry &registry);
void registerConvolutionModels(mlir::DialectRegistry &registry);
void registerRandomModels(mlir::DialectRegistry &registry);
void registerSortModels(mlir::DialectRegistry &registry);
void registerSelectAndScatterModels(mlir::DialectRegistry &registry);
void registerBatchNormModels(mlir::DialectRegistry &registry);
void registerOlderForms(mlir::DialectRegistry &registry);
void registerStaticForms(mlir::DialectRegistry &registry);
void registerTupleModels(mlir::DialectRegistry &registry);
void registerComplexElements(mlir::DialectRegistry &registry);
void registerComplexMovement(mlir::DialectRegistry &registry);
void registerComplexProducts(mlir::DialectRegistry &registry);
void registerComplexRegions(mlir::DialectRegistry &registry);
void registerFourierTransforms(mlir::DialectRegistry &registry);
void registerBatchedConvolution(mlir::DialectRegistry &registry);
void registerBatchedMovement(mlir::DialectRegistry &registry);
void registerBatchedIndexing(mlir::DialectRegistry &registry);
void registerSummedContractions(mlir::DialectRegistry &registry);
void registerCollectiveModels(mlir::DialectRegistry &registry);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_MODELS_MODELS_H
