//===- Models.h - Answers of the dist ops of graphs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See lib/Dialect/Dist/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_MODELS_MODELS_H
#define LLMC_DIALECT_DIST_MODELS_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace llmc::dist {

/// Attaches the answers of all ops when the dialect is loaded.
void registerModels(mlir::DialectRegistry &registry);

void registerLayoutModels(mlir::DialectRegistry &registry);
void registerCollectiveModels(mlir::DialectRegistry &registry);
void registerLoopModels(mlir::DialectRegistry &registry);
void registerBatchedLoopModels(mlir::DialectRegistry &registry);
void registerRouteModels(mlir::DialectRegistry &registry);
void registerSendRowsModels(mlir::DialectRegistry &registry);
void registerLibraryCallModels(mlir::DialectRegistry &registry);
void registerArgsortCallModels(mlir::DialectRegistry &registry);
void registerAttendCallModels(mlir::DialectRegistry &registry);
void registerContractGroupsCallModels(mlir::DialectRegistry &registry);
void registerConvolveCallModels(mlir::DialectRegistry &registry);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_MODELS_MODELS_H
