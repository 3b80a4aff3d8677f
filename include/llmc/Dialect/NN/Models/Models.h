//===- Models.h - The five answers of the nn ops ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See lib/Dialect/NN/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_MODELS_MODELS_H
#define LLMC_DIALECT_NN_MODELS_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace llmc::nn {

/// Attaches the answers of all ops when the dialect is loaded. The stablehlo
/// dialect, in which the ops are decomposed, is loaded with it.
void registerModels(mlir::DialectRegistry &registry);

void registerArgsortModels(mlir::DialectRegistry &registry);
void registerAttentionModels(mlir::DialectRegistry &registry);
void registerBatchNormModels(mlir::DialectRegistry &registry);
void registerCrossEntropyModels(mlir::DialectRegistry &registry);
void registerGroupedDotModels(mlir::DialectRegistry &registry);
void registerGroupedDotMembers(mlir::DialectRegistry &registry);
void registerLogSumExpModels(mlir::DialectRegistry &registry);
void registerNormModels(mlir::DialectRegistry &registry);
void registerActivationModels(mlir::DialectRegistry &registry);
void registerQuantizeModels(mlir::DialectRegistry &registry);
void registerRotaryModels(mlir::DialectRegistry &registry);
void registerSoftmaxModels(mlir::DialectRegistry &registry);

} // namespace llmc::nn

#endif // LLMC_DIALECT_NN_MODELS_MODELS_H
