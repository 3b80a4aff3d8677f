//===- Models.h - What the ops of sdy answer --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See lib/Dialect/Sdy/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_SDY_MODELS_MODELS_H
#define LLMC_DIALECT_SDY_MODELS_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace llmc::sdy {

/// Attaches what annotations do to parts of complex numbers, when the dialect
/// is loaded; the import asks for no more, and replaces the ops.
void registerModels(mlir::DialectRegistry &registry);

} // namespace llmc::sdy

#endif // LLMC_DIALECT_SDY_MODELS_MODELS_H
