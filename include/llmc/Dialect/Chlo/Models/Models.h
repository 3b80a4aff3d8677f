//===- Models.h - The five answers of the chlo ops --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See lib/Dialect/Chlo/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_CHLO_MODELS_MODELS_H
#define LLMC_DIALECT_CHLO_MODELS_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace llmc::chlo {

/// Attaches the answers of all ops when the dialect is loaded. The stablehlo
/// dialect, in which derivatives are written, is loaded with it.
void registerModels(mlir::DialectRegistry &registry);

void registerAngleModels(mlir::DialectRegistry &registry);
void registerBesselModels(mlir::DialectRegistry &registry);
void registerBitsModels(mlir::DialectRegistry &registry);
void registerComplexModels(mlir::DialectRegistry &registry);
void registerGammaModels(mlir::DialectRegistry &registry);
void registerInverseModels(mlir::DialectRegistry &registry);
void registerRaggedDotModels(mlir::DialectRegistry &registry);
void registerTopKModels(mlir::DialectRegistry &registry);

} // namespace llmc::chlo

#endif // LLMC_DIALECT_CHLO_MODELS_MODELS_H
