//===- Verification.h - Checks that verifiers share -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sharding against its mesh and its type.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_SDY_IR_VERIFICATION_H
#define LLMC_LIB_DIALECT_SDY_IR_VERIFICATION_H

#include "llmc/Dialect/Sdy/IR/Sdy.h"

namespace llmc::sdy {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The mesh is there; an entry for each dimension; axes of the mesh, no part of
/// one twice.
llvm::LogicalResult verifySharding(EmitError emitError, mlir::Operation *op,
                                   TensorShardingAttr sharding,
                                   mlir::Type type);

} // namespace llmc::sdy

#endif // LLMC_LIB_DIALECT_SDY_IR_VERIFICATION_H
