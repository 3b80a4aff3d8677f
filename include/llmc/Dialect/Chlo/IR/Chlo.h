//===- Chlo.h - The chlo dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, attributes and ops of our implementation of chlo.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_CHLO_IR_CHLO_H
#define LLMC_DIALECT_CHLO_IR_CHLO_H

#include "llmc/Support/GraphTensor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmc::chlo {
/// What a dimension with groups is to the product.
enum class RaggedKind { Free, Contracted, Batching };
} // namespace llmc::chlo

#include "llmc/Dialect/Chlo/IR/ChloDialect.h.inc"
#include "llmc/Dialect/Chlo/IR/ChloEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloAttributes.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloOps.h.inc"

#endif // LLMC_DIALECT_CHLO_IR_CHLO_H
